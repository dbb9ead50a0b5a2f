// Moves service time and runs due work: settle, advance, and the background pump of a ticking clock
// (docs/decisions/0021#service-clock).
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { MINUTE, SECOND } from "../shared/kernel/clock.ts";
import type { DynamoDb, Sqs } from "./aws/index.ts";
import type { Runner, ServiceClock } from "./clock.ts";
import { createPatience, createRest, LOOK, quiet, sleepOf, waitsForTime } from "./idle.ts";
import type { LambdaHost, Run } from "./lambda.ts";
import type { Log } from "./mapping.ts";
import type { Mappings } from "./mappings.ts";
import { createChangeSignal } from "./signals.ts";

interface FiringOptions {
  /** `false` skips recurring schedules. */
  recurring?: boolean;
  /** Each recurring schedule fires once, however often it was due. */
  collapse?: boolean;
}

interface TimeDeps {
  clock: ServiceClock;
  host: LambdaHost;
  mappings: Pick<Mappings, "all">;
  scheduler: {
    next(which?: FiringOptions): number | undefined;
    /** Delivers what is due by `now`. */
    fireDue(now: number, which?: FiringOptions): Promise<number>;
    onSave(listener: () => void): void;
  };
  sqs: Pick<Sqs, "onSend" | "nextVisible">;
  dynamodb: Pick<DynamoDb, "onWrite" | "expire">;
  log: Log;
  /** Also notified from elsewhere, on every change. */
  changes?: ReturnType<typeof createChangeSignal>;
  /**
   * The longest real time for which a ticking clock stands still during a settle, in milliseconds: under load a settle
   * may not end.
   */
  stillMs?: number;
}

export interface Time {
  /** Runs all work that is due now, until idle. @param signal ends it early */
  settle(signal?: AbortSignal): Promise<void>;
  /**
   * Moves time to `to` and runs the work that is due in between, in the order of time. Recurring schedules fire once at
   * the end; with `recurring: false` they wait for a later call. @returns the new time.
   */
  advance(to: number, which?: Pick<FiringOptions, "recurring">): Promise<number>;
  /** For an invocation: resolves when no other invocation works and no work is ready. */
  rest(): Promise<void>;
  /** Runs a request, after an advance in progress. */
  enter<T>(work: () => Promise<T>): Promise<T>;
  /** Starts the background pump of a ticking clock. */
  start(): void;
  stop(): Promise<void>;
}

/** Milliseconds without work that a move waits for an invocation that neither sleeps nor has asked something real. */
const GRACE = 250;
/** Real time after which a settle fails because of an invocation without progress. */
const STUCK = 60_000;
const STILL = 5_000;
/** Streams poll every second: one jump reaches all of them, whatever their phase. */
const STREAM_SLACK = SECOND;
/** How many changes or grace periods a stop waits for rounds that are still in progress. */
const STOP_ROUNDS = 20;

export function createTime(deps: TimeDeps): Time {
  const { clock, host, scheduler, sqs, dynamodb, log } = deps;
  const { changes = createChangeSignal(), stillMs = STILL } = deps;
  const patienceLeft = createPatience(clock);
  let rounds = 0;
  let turn: Promise<unknown> = Promise.resolve();
  let moving: Promise<unknown> | undefined;
  let background: Promise<void> | undefined;
  let stopping = false;
  let nudging = false;
  let expireAt = 0;

  sqs.onSend(changes.notify);
  scheduler.onSave(changes.notify);
  dynamodb.onWrite(changes.notify);
  host.onChange((run) => {
    changes.notify();
    if (!clock.ticking && run.asleep > 0 && isNudged(run)) nudge();
  });

  const mappings = () => deps.mappings.all();
  const buffered = () => host.runs().filter((run) => !run.streaming);
  /** Short sleeps of these runs end at once. Without a background pump, those of a worker end when time is moved. */
  const isNudged = (run: Run) =>
    !run.streaming && (background !== undefined || !mappings().some((mapping) => mapping.function === run.function));

  /** Settle and advance run one after another, and the background pump between them. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = turn.then(work);
    turn = result.catch(() => undefined);
    return result;
  };

  const heldStill = async <T>(work: () => Promise<T>, atMost?: number): Promise<T> => {
    clock.hold(true);
    const released = atMost === undefined ? undefined : setTimeout(() => clock.hold(false), atMost);
    try {
      return await work();
    } finally {
      clearTimeout(released);
      clock.hold(false);
      changes.notify();
    }
  };

  const fireDue = async (which: FiringOptions) => {
    const next = scheduler.next(which);
    if (next !== undefined && next <= clock.now()) await scheduler.fireDue(clock.now(), which);
  };

  const startRunnable = () => {
    for (const mapping of mappings()) {
      while (mapping.runnable()) {
        rounds++;
        mapping
          .pump()
          .catch((error: unknown) => log("A mapping failed.", { mapping: mapping.name, error: String(error) }))
          .finally(() => {
            rounds--;
            changes.notify();
          });
      }
    }
  };

  /** Runs the work of this time, until idle or until all runs in progress wait for a later time. */
  const drain = async (watched: () => Run[], otherwise: () => number, which: FiringOptions, signal?: AbortSignal) => {
    for (;;) {
      signal?.throwIfAborted();
      await fireDue(which);
      startRunnable();
      await quiet(changes);
      if (mappings().some((mapping) => mapping.runnable())) continue;
      const busy = watched();
      if (busy.length === 0 && rounds === 0) return;
      const isHopeful = (run: Run) => !waitsForTime(run) && patienceLeft(run, otherwise()) > 0;
      const hopeful = busy.filter(isHopeful).length;
      if (busy.length > 0 && hopeful === 0) return;
      await changes.waitForChange(hopeful > 0 ? LOOK : GRACE);
    }
  };

  const settle = async (signal?: AbortSignal) => {
    signal?.addEventListener("abort", changes.notify, { once: true });
    await inTurn(() =>
      heldStill(async () => {
        const otherwise = () => (sleepOf(clock, buffered()) === undefined ? STUCK : GRACE);
        for (;;) {
          await drain(buffered, otherwise, { collapse: true }, signal);
          const busy = buffered();
          if (busy.length === 0) return;
          const resumeAt = sleepOf(clock, busy);
          if (resumeAt === undefined)
            throw new Error(`Still waiting for ${busy.map((run) => run.function).join(", ")}.`);
          clock.jumpTo(resumeAt);
        }
      }, stillMs),
    );
  };

  const nextDue = (): number | undefined => {
    const streaming = new Set<Runner | undefined>(host.runs().filter((run) => run.streaming));
    const nextStreamPoll = clock.nextTimer((sleeper) => streaming.has(sleeper));
    return earliest([
      sqs.nextVisible(),
      scheduler.next({ recurring: false }),
      ...mappings().map((mapping) => mapping.nextAt()),
      clock.nextTimer((sleeper) => !streaming.has(sleeper)),
      nextStreamPoll === undefined ? undefined : nextStreamPoll + STREAM_SLACK,
    ]);
  };

  /** Drains and jumps until no work is left that is due by `to`; the clock may be earlier then. */
  const follow = async (to: number, which: FiringOptions) => {
    for (;;) {
      await drain(host.runs, () => GRACE, which);
      const next = nextDue();
      if (next === undefined || next > to) return;
      clock.jumpTo(next);
    }
  };

  const advance = (to: number, { recurring = true }: Pick<FiringOptions, "recurring"> = {}): Promise<number> => {
    const result = inTurn(() =>
      heldStill(async () => {
        if (to <= clock.now()) return clock.now();
        await follow(to, { recurring: false });
        clock.jumpTo(to);
        dynamodb.expire();
        await follow(to, { collapse: true, recurring });
        return clock.now();
      }),
    );
    const done = result
      .catch(() => undefined)
      .then(() => {
        if (moving === done) moving = undefined;
      });
    moving = done;
    return result;
  };

  /** A request must not wait forever while time stands still, so its short sleeps end at once. */
  const nudge = () => {
    if (nudging) return;
    nudging = true;
    inTurn(async () => {
      nudging = false;
      for (;;) {
        await quiet(changes);
        const busy = host.runs().filter(isNudged);
        const resumeAt = sleepOf(clock, busy);
        if (resumeAt === undefined) return;
        const rests = (run: Run) => waitsForTime(run) || patienceLeft(run, GRACE) <= 0;
        if (busy.every(rests)) clock.jumpTo(resumeAt);
        else await changes.waitForChange(LOOK);
      }
    }).catch((error: unknown) => log("A sleeping request could not be resumed.", { error: String(error) }));
  };

  const backgroundStep = async () => {
    if (clock.now() >= expireAt) {
      expireAt = clock.now() + MINUTE;
      dynamodb.expire();
    }
    await fireDue({ collapse: true });
    startRunnable();
    await nextTurn();
    const next = earliest([sqs.nextVisible(), scheduler.next(), expireAt, ...mappings().map((m) => m.nextAt())]);
    return mappings().some((mapping) => mapping.runnable()) ? 0 : Math.max(1, (next ?? expireAt) - clock.now());
  };

  const runInBackground = async () => {
    while (!stopping) {
      const before = changes.version();
      const pause = await inTurn(backgroundStep).catch(async (error: unknown) => {
        log("The background pump failed and continues.", { error: String(error) });
        await delay(SECOND);
        return 0;
      });
      if (pause > 0 && changes.version() === before) await changes.waitForChange(Math.min(pause, MINUTE));
    }
  };

  return {
    settle,
    advance,
    rest: createRest({ changes, host, mappings, rounds: () => rounds }),
    enter: async (work) => {
      while (moving) await moving;
      return work();
    },
    start: () => {
      stopping = false;
      background ??= runInBackground();
    },
    stop: async () => {
      stopping = true;
      changes.notify();
      await background;
      background = undefined;
      for (let left = STOP_ROUNDS; rounds > 0 && left > 0; left--) await changes.waitForChange(GRACE);
    },
  };
}

function earliest(times: (number | undefined)[]): number | undefined {
  const found = times.filter((time) => time !== undefined);
  return found.length > 0 ? Math.min(...found) : undefined;
}
