// A time limit in service time, measured by the clock of the deps.
import type { Clock } from "./clock.ts";

/** One shared reason: creating one for each abort would cost a stack trace. */
const DONE = Symbol("done");

export async function withTimeLimit<T>(
  clock: Clock,
  ms: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const done = new AbortController();
  clock.sleep(ms, done.signal).then(() => {
    if (!done.signal.aborted) limit.abort();
  });
  try {
    return await work(limit.signal);
  } finally {
    done.abort(DONE);
  }
}

export const onAbort = <T>(signal: AbortSignal, value: T): Promise<T> =>
  new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(value), { once: true });
  });
