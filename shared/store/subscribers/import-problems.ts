// The rows of an import that were rejected, or of which something could not be taken.
import type { StoreReader } from "../context.ts";
import { fromJson } from "../json-text.ts";
import type { Key } from "../model.ts";
import { type Rejected, RejectedRows } from "./import-items.ts";

export type ProblemKind = "rejected" | "warnings";

/** In the order of the file, at most `max`. */
export async function problemRows(store: StoreReader, id: string, kind: ProblemKind, max: number): Promise<Rejected[]> {
  const found: Rejected[] = [];
  let after: Key | undefined;
  do {
    const page = await store.query(RejectedRows, { job: id }, { after });
    for (const { rows, warnings } of page.items) {
      const stored = kind === "rejected" ? rows : warnings;
      if (stored !== undefined) found.push(...fromJson(stored));
    }
    after = page.next;
  } while (after && found.length < max);
  return found.slice(0, max);
}
