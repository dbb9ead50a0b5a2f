// Ranges that are longer than one page.

import type { QueryRange } from "./expressions.ts";
import type { Item } from "./model.ts";
import type { Reader } from "./table.ts";

/** Every item of a range, however many pages they are: for ranges that have an end. */
export async function allItems(store: Pick<Reader, "query">, range: QueryRange): Promise<Item[]> {
  const items: Item[] = [];
  let { after } = range;
  do {
    const page = await store.query({ ...range, after });
    items.push(...page.items);
    after = page.next;
  } while (after);
  return items;
}
