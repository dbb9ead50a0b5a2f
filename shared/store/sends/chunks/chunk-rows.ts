// Rows of the chunks of a range, by the number of the chunk: each chunk has a partition of its own (docs/decisions/0084).
import type { StoreReader } from "../../context.ts";
import type { RowOf } from "../../item.ts";
import { ClaimItem, RangeItem } from "../audience/audience-items.ts";

/** Chunks whose rows are read at once. */
const WINDOW = 250;

interface Part {
  job: string;
  range: string;
}

type ChunkKey = Part & { n: number };

/** Rows of the chunks from `from` up to `to`, of those that have one. */
async function rowsIn<R>(
  part: Part,
  { from, to }: { from: number; to: number },
  read: (keys: ChunkKey[]) => Promise<(R | undefined)[]>,
): Promise<Map<number, R>> {
  const rows = await read(Array.from({ length: Math.max(0, to - from) }, (_, i) => ({ ...part, n: from + i })));
  return new Map(rows.flatMap((row, i) => (row ? [[from + i, row] as const] : [])));
}

/** Rows of all chunks of a range, some at a time. */
async function* rowsOf<R>(store: StoreReader, part: Part, read: (keys: ChunkKey[]) => Promise<(R | undefined)[]>) {
  const { chunks = 0 } = (await store.get(RangeItem, part)) ?? {};
  for (let from = 0; from < chunks; from += WINDOW)
    yield rowsIn(part, { from, to: Math.min(chunks, from + WINDOW) }, read);
}

/** The claims of some chunks of a range. */
export const claimsIn = (
  store: StoreReader,
  part: Part,
  { eventual = false, ...window }: { from: number; to: number; eventual?: boolean },
): Promise<Map<number, RowOf<typeof ClaimItem>>> =>
  rowsIn(part, window, (keys) => store.getAll(ClaimItem, keys, { eventual }));

/** All claims of a range, some at a time. */
export const claimsOf = (store: StoreReader, part: Part) =>
  rowsOf(store, part, (keys) => store.getAll(ClaimItem, keys));
