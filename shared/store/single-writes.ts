// Writes of single rows, some at a time.
import { throwFailures } from "../kernel/failures.ts";
import { chunksOf } from "../rules/chunks.ts";

const CONCURRENT_WRITES = 25;

/** Writes each of these, some at a time. An error is thrown only after every write has ended. */
export async function writeEach<T, R>(items: readonly T[], write: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const batch of chunksOf(items, CONCURRENT_WRITES)) {
    const ended = await Promise.allSettled(batch.map(write));
    throwFailures(ended);
    results.push(...ended.flatMap((result) => (result.status === "fulfilled" ? [result.value] : [])));
  }
  return results;
}
