// Authored things whose names may repeat: an entity row, and a compact row that holds its status
// (docs/decisions/0021#page-lists).

import { offsetOf, type PageQuery } from "../http/paging.ts";
import type { StoreReader } from "../resources.ts";
import { getEntities } from "./catalogue.ts";
import { type Kind, keys } from "./keys.ts";
import type { Item } from "./model.ts";
import { allItems } from "./pages.ts";
import type { TransactItem } from "./table.ts";

/** Entities read in one range for each that is wanted, rather than one by one. */
const MAX_SPREAD = 2;

/** The compact row of an entity: it goes into the transaction that makes or moves the entity. */
export const statusIndexWrite = (
  { tenant }: Pick<StoreReader, "tenant">,
  kind: Kind,
  id: string,
  status: string,
): TransactItem => ({
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
  const all = (await listed(store, kind)).map((row, place) => ({ id: row.sk, status: row.status, place }));
  const rows = all.filter((row) => status === undefined || row.status === status);
  const { from, to } = offsetOf(page);
  const chosen = rows.slice(from, to);
  const span = chosen.length > 0 ? chosen.at(-1)!.place - chosen[0]!.place + 1 : 0;
  const ids = chosen.map(({ id }) => id);
  const items = await getEntities(store, kind, ids, { asRange: span <= MAX_SPREAD * chosen.length });
  return { items, total: rows.length };
}

/** Every compact row of a kind, newest first: ids are UUIDv7, so their order is the order of creation. */
const listed = (store: StoreReader, kind: Kind): Promise<Item[]> =>
  allItems(store, { pk: keys.listed(store.tenant, kind, "").pk, newestFirst: true, eventual: true });
