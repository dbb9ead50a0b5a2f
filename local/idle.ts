// When the work of a service is at rest: what its invocations still wait for, and how long they are waited for.
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Runner, runner, type ServiceClock } from "./clock.ts";
import type { LambdaHost, Run } from "./lambda.ts";
import type { Mapping } from "./mapping.ts";
import type { createChangeSignal } from "./signals.ts";

/** Real time after which idleness is checked again without a change, in milliseconds. */
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

/**
 * How often a wait for runs is checked, in real milliseconds. After a longer pause the machine was busy with something
 * else.
 */
export const LOOK = 25;

/**
 * Milliseconds left to wait for a run without progress; `otherwise` is the limit of a run that waits for nothing real.
 * Only idle time of this process counts, because a worker takes long on a busy machine.
 */
export function createPatience(clock: ServiceClock): (run: Run, otherwise: number) => number {
  const waits = new WeakMap<Run, { changes: number; waited: number; idle: number }>();

  /** A request to something real may last as long as its own limit: the run sleeps until then, or Lambda ends it. */
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

/** Tells an invocation when it is the only one that works: then everything that its work caused is done. */
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
        // The wait for others counts as progress, so that the invocation is not taken for stuck.
        own?.changed();
      }
    } finally {
      resting.delete(own);
      own?.changed();
    }
  };
}
