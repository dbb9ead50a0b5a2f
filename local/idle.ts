// When the work of a service is at rest: what its invocations still wait for, and how long they are waited for.
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Runner, runner, type ServiceClock } from "./clock.ts";
import type { LambdaHost, Run } from "./lambda.ts";
import type { Mapping } from "./mapping.ts";
import type { createChangeSignal } from "./signals.ts";

/** Real time after which it is asked again without a change. */
const LOOK_AGAIN_MS = 250;
const QUIET_TURNS = 3;

export const waitsForTime = (run: Run): boolean => run.asleep > 0 && run.outside === 0;

/** When the first of these invocations wakes up. */
export const sleepOf = (clock: ServiceClock, runs: readonly Run[]): number | undefined => {
  const among = new Set<Runner | undefined>(runs);
  return clock.nextTimer((sleeper) => among.has(sleeper));
};

/** Waits until this process is idle: in-process calls take no real time. */
export async function quiet(changes: ReturnType<typeof createChangeSignal>): Promise<void> {
  let seen = -1;
  for (let still = 0; still < QUIET_TURNS; still++) {
    await nextTurn();
    if (changes.version() !== seen) still = 0;
    seen = changes.version();
  }
}

/** How often a wait for runs is looked at, in real milliseconds. A longer pause is the machine's, which did something else. */
export const LOOK = 25;

/**
 * Milliseconds left to wait for a run without progress, by how long it is waited for `otherwise`. Only those count in which
 * this process had nothing to do: on a busy machine a worker takes long.
 */
export function createPatience(clock: ServiceClock): (run: Run, otherwise: number) => number {
  const waits = new WeakMap<Run, { changes: number; waited: number; idle: number }>();

  /** What it asked of something real may last as long as its own limit: it sleeps until that, or is ended by Lambda. */
  const patienceFor = (run: Run, otherwise: number): number => {
    if (run.outside === 0 || run.streaming) return otherwise;
    return run.asleep > 0 ? (sleepOf(clock, [run]) ?? clock.now()) - clock.now() : run.limit;
  };

  return (run, otherwise) => {
    const { idle } = performance.eventLoopUtilization();
    let wait = waits.get(run);
    if (wait?.changes !== run.changes) wait = { changes: run.changes, waited: 0, idle };
    wait.waited += Math.min(idle - wait.idle, LOOK);
    wait.idle = idle;
    waits.set(run, wait);
    return patienceFor(run, otherwise) - wait.waited;
  };
}

interface RestDeps {
  changes: ReturnType<typeof createChangeSignal>;
  host: Pick<LambdaHost, "runs">;
  mappings(): readonly Mapping[];
  /** How many rounds of mappings are in progress, with those of the invocations that rest. */
  rounds(): number;
}

/** Tells an invocation when it is the only one that works: then everything that follows from its work has been done. */
export function createRest({ changes, host, mappings, rounds }: RestDeps): () => Promise<void> {
  const resting = new Set<Runner | undefined>();
  const isQuiet = () =>
    rounds() <= resting.size &&
    !mappings().some((mapping) => mapping.runnable()) &&
    host.runs().every((run) => run.streaming || resting.has(run) || waitsForTime(run));

  return async () => {
    const own = runner.getStore();
    resting.add(own);
    own?.changed();
    try {
      for (await quiet(changes); !isQuiet(); await quiet(changes)) {
        await changes.waitForChange(LOOK_AGAIN_MS);
        // It waits for others, and is not stuck itself.
        own?.changed();
      }
    } finally {
      resting.delete(own);
      own?.changed();
    }
  };
}
