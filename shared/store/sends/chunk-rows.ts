// Rows of the chunks of a range, by the number of the chunk: each chunk has a partition of its own (docs/decisions/0084).
import type { StoreReader } from "../../resources.ts";
import type { RowOf } from "../item.ts";
import { ClaimItem, SkippedIds } from "./audience-items.ts";
import { getRange } from "./ranges.ts";

/** Chunks whose rows are read at once. */
const WINDOW = 250;

interface Part {
  job: string;
  range: string;
}

const chunkKeys = (part: Part, from: number, to: number) =>
  Array.from({ length: Math.max(0, to - from) }, (_, i) => ({ ...part, n: from + i }));

/** The claims of the chunks of a range from `from` up to `to`, by the number of the chunk; of those that have one. */
export async function claimsIn(
  store: StoreReader,
  part: Part,
  { from, to, eventual = false }: { from: number; to: number; eventual?: boolean },
): Promise<Map<number, RowOf<typeof ClaimItem>>> {
  const rows = await store.getAll(ClaimItem, chunkKeys(part, from, to), { eventual });
  return new Map(rows.flatMap((row, i) => (row ? [[from + i, row] as const] : [])));
}

/** All claims of a range, some at a time. */
export async function* claimsOf(store: StoreReader, part: Part): AsyncGenerator<Map<number, RowOf<typeof ClaimItem>>> {
  for await (const window of windowsOf(store, part)) yield await claimsIn(store, part, window);
}

/** All skipped ids of a range by reason, chunk by chunk, some chunks at a time. */
export async function* skippedIn(store: StoreReader, part: Part): AsyncGenerator<RowOf<typeof SkippedIds>[]> {
  for await (const { from, to } of windowsOf(store, part)) {
    const rows = await store.getAll(SkippedIds, chunkKeys(part, from, to));
    yield rows.filter((row) => row !== undefined);
  }
}

async function* windowsOf(store: StoreReader, { job, range }: Part): AsyncGenerator<{ from: number; to: number }> {
  const { chunks } = await getRange(store, job, range);
  for (let from = 0; from < chunks; from += WINDOW) yield { from, to: Math.min(chunks, from + WINDOW) };
}
