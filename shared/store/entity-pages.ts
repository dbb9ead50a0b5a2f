// Pages of entities by a cursor.
import type { StoreReader } from "./context.ts";
import { type AnyEntity, keyOf, type RowOf } from "./item.ts";

export interface EntityRange {
  /** The id after which the page begins. */
  after: string | undefined;
  limit: number;
}

export interface EntityPage<T> {
  items: T[];
  /** The id after which the next page begins; absent on the last page. */
  next: string | undefined;
}

/**
 * A page of entities, newest first, as `read` returns them. It ends early where `accepts` refuses one: it must accept
 * the first.
 */
export async function entityPage<D extends AnyEntity, T>(
  store: StoreReader,
  paged: D,
  { after, limit }: EntityRange,
  { read, accepts = () => true }: { read: (row: RowOf<D>) => T; accepts?: (item: T) => boolean },
): Promise<EntityPage<T>> {
  const entity: AnyEntity = paged;
  const items: T[] = [];
  let last = after;
  let position = after === undefined ? undefined : keyOf(entity, store.tenant, { id: after });
  do {
    const page = await store.query(entity, {}, { newestFirst: true, limit: limit - items.length, after: position });
    for (const row of page.items) {
      const item = read(row);
      if (!accepts(item)) return { items, next: last };
      items.push(item);
      last = row.sk;
    }
    position = page.next;
  } while (position && items.length < limit);
  return { items, next: position?.sk };
}
