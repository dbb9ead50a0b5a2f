// Authored things whose names may repeat: an entity row, and a compact row that holds its status (decision 10).
import { offsetOf, type PageQuery } from "../http/paging.ts";
import type { StoreReader } from "../resources.ts";
import { getEntities } from "./catalogue.ts";
import { type Kind, keys } from "./keys.ts";
import type { Item, Key } from "./model.ts";
import type { Step } from "./table.ts";

/** The compact row of an entity: it goes into the transaction that makes or moves the entity. */
export const rosterStep = ({ tenant }: Pick<StoreReader, "tenant">, kind: Kind, id: string, status: string): Step => ({
  put: { ...keys.listed(tenant, kind, id), status },
});

/** How many there are of a kind, whatever their status. */
export const countListed = async (store: StoreReader, kind: Kind): Promise<number> =>
  (await listed(store, kind)).length;

/** A page of whole entities, newest first, of one status or of all; `total` counts all pages. */
export async function listPage(
  store: StoreReader,
  kind: Kind,
  { status, ...page }: PageQuery & { status?: string | undefined },
): Promise<{ items: Item[]; total: number }> {
  const rows = (await listed(store, kind)).filter((row) => status === undefined || row.status === status);
  const { from, to } = offsetOf(page);
  const ids = rows.slice(from, to).map(({ sk }) => sk);
  const items = await getEntities(store, kind, ids, { adjoin: status === undefined });
  return { items, total: rows.length };
}

/** Every compact row of a kind, newest first: ids are UUIDv7, so their order is the order of creation. */
async function listed(store: StoreReader, kind: Kind): Promise<Item[]> {
  const rows: Item[] = [];
  let after: Key | undefined;
  do {
    const page = await store.query({ pk: keys.listed(store.tenant, kind, "").pk, newestFirst: true, after });
    rows.push(...page.items);
    after = page.next;
  } while (after);
  return rows;
}
