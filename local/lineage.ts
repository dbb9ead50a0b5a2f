// Lambda's recursive loop detection: which functions a chain of messages has passed, in the trace header of each message.
import type { Runner } from "./clock.ts";

/** How often each function was invoked in a chain. */
export type Lineage = ReadonlyMap<string, number>;

/**
 * A function that a chain has invoked this often is not invoked again by it. The documentation of AWS says about 16
 * times.
 */
const MAX_HOPS = 16;

/** Code that runs in a chain: an invocation of the Lambda host. */
interface TracedRunner extends Runner {
  readonly lineage: Lineage;
}

const isTraced = (runner: Runner | undefined): runner is TracedRunner => runner !== undefined && "lineage" in runner;

/** The `X-Amzn-Trace-Id` that the SDK of a function sends along; undefined outside of a function. */
export const traceOf = (runner: Runner | undefined): string | undefined =>
  isTraced(runner) ? `Lineage=${[...runner.lineage].map(([name, hops]) => `${name}:${hops}`).join("|")}` : undefined;

/** The lineage in the trace headers of messages that are received together: for each function, the longest chain. */
export function lineageIn(traces: readonly (string | undefined)[]): Lineage {
  const hops = new Map<string, number>();
  for (const trace of traces) {
    const [, lineage = ""] = /(?:^|;)Lineage=([^;]*)/.exec(trace ?? "") ?? [];
    for (const [, name = "", count] of lineage.matchAll(/([\w-]+):(\d+)/g))
      hops.set(name, Math.max(hops.get(name) ?? 0, Number(count)));
  }
  return hops;
}

/** The lineage of an invocation. */
export const extended = (lineage: Lineage, name: string): Lineage =>
  new Map([...lineage, [name, (lineage.get(name) ?? 0) + 1]]);

export const isLoop = (lineage: Lineage, name: string): boolean => (lineage.get(name) ?? 0) >= MAX_HOPS;
