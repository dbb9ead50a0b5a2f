// The rows of an import that were rejected, or of which something could not be taken.
import type { StoreReader } from "../context.ts";
import { fromJson } from "../json-text.ts";
import type { Key } from "../model.ts";
import { pagesOf } from "../table.ts";
import { MAX_CELL_CHARACTERS, type RejectedRow, RejectedRows } from "./import-items.ts";

/** The limits of a row, and of the rows of a batch: these are kept together in one item, which has at most 400 KB. */
const MAX_ROW_BYTES = 131_072;
export const MAX_KEPT_BYTES = 196_608;

/** The kept part of a row's cells: the first characters of each, and the first cells of a very wide row. */
export function keptCells(cells: readonly string[]): string[] {
  const kept: string[] = [];
  let left = MAX_ROW_BYTES;
  for (const cell of cells) {
    const text = cell.slice(0, MAX_CELL_CHARACTERS);
    left -= bytesOf(text);
    if (left < 0) break;
    kept.push(text);
  }
  return kept;
}

/** How many bytes a row takes where it is kept. */
export const keptBytes = (cells: readonly string[]): number =>
  keptCells(cells).reduce((sum, text) => sum + bytesOf(text), 0);

/** As JSON, with a comma. */
const bytesOf = (text: string): number => Buffer.byteLength(JSON.stringify(text)) + 1;

export type ProblemKind = "rejected" | "warnings";

/** In the order of the file, at most `max`. */
export async function problemRows(
  store: StoreReader,
  id: string,
  kind: ProblemKind,
  max: number,
): Promise<RejectedRow[]> {
  const found: RejectedRow[] = [];
  for await (const { items } of pagesOf((after?: Key) => store.query(RejectedRows, { job: id }, { after }))) {
    for (const { rows, warnings } of items) {
      const stored = kind === "rejected" ? rows : warnings;
      if (stored !== undefined) found.push(...fromJson(stored));
    }
    if (found.length >= max) break;
  }
  return found.slice(0, max);
}
