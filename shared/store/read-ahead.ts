// Rows that the parts of one request need, read together before them.
import type { Store } from "./context.ts";
import { type AnyItem, fullKey, prefixOf, type Ref, rowOf } from "./item.ts";
import type { Item } from "./model.ts";

/**
 * Reads these rows in one request. @returns the store, which answers reads of them by key with what was read: for a part
 * of a request that reads each of them before it writes it.
 */
export async function readAhead(store: Store, refs: readonly Ref<AnyItem<"workspace">>[]): Promise<Store> {
  const nameOf = (item: AnyItem<"workspace">, key: unknown) =>
    JSON.stringify(fullKey(item, key, prefixOf(store.tenant)));
  const rows: readonly (Item | undefined)[] = await store.getEach(refs);
  const readRows = new Map(refs.map(({ item, key }, i) => [nameOf(item, key), rows[i]]));
  const getAll: Store["getAll"] = async (item, keys, options) => {
    const names = keys.map((key) => nameOf(item, key));
    if (!names.every((name) => readRows.has(name))) return store.getAll(item, keys, options);
    return names.map((name) => {
      const row = readRows.get(name);
      return row && rowOf(item, row);
    });
  };
  const get: Store["get"] = async (item, key, options) =>
    readRows.has(nameOf(item, key)) ? (await getAll(item, [key]))[0] : store.get(item, key, options);
  return { ...store, get, getAll };
}
