// The rows of an import that were rejected, or of which something could not be taken.
import type { StoreReader } from "../context.ts";
import { fromJson } from "../json-text.ts";
import type { Key } from "../model.ts";
import { pagesOf } from "../table.ts";
import { type Rejected, RejectedRows } from "./import-items.ts";

export type ProblemKind = "rejected" | "warnings";

/** In the order of the file, at most `max`. */
export async function problemRows(store: StoreReader, id: string, kind: ProblemKind, max: number): Promise<Rejected[]> {
  const found: Rejected[] = [];
  for await (const { items } of pagesOf((after?: Key) => store.query(RejectedRows, { job: id }, { after }))) {
    for (const { rows, warnings } of items) {
      const stored = kind === "rejected" ? rows : warnings;
      if (stored !== undefined) found.push(...fromJson(stored));
    }
    if (found.length >= max) break;
  }
  return found.slice(0, max);
}
