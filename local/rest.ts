// Tells an invocation when it is the only one that works: then everything that follows from its work has been done.

import { type Runner, runner } from "./clock.ts";
import type { LambdaHost, Run } from "./lambda.ts";
import type { Mapping } from "./mapping.ts";
import type { createChangeSignal } from "./signals.ts";

/** Real time after which it is asked again without a change. */
const LOOK_AGAIN_MS = 250;

interface RestDeps {
  changes: ReturnType<typeof createChangeSignal>;
  host: Pick<LambdaHost, "runs">;
  mappings(): readonly Mapping[];
  /** Waits until this process is idle. */
  quiet(): Promise<void>;
  /** How many rounds of mappings are in progress, with those of the invocations that rest. */
  rounds(): number;
  waitsForTime(run: Run): boolean;
}

export function createRest({ changes, host, mappings, quiet, rounds, waitsForTime }: RestDeps): () => Promise<void> {
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
      for (await quiet(); !isQuiet(); await quiet()) {
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
