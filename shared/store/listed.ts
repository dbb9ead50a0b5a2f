// Authored things without a unique name, listed by page: one row each, and a compact entry that says its state, so
// that a filtered page with its total costs a query of the entries (docs/decisions/0021#page-lists).

import { ApiError } from "../http/errors.ts";
import { offsetOf, type PageQuery } from "../http/paging.ts";
import type { Store, StoreReader } from "../resources.ts";
import { getEntities, MAX_ENTRIES } from "./catalogue.ts";
import { absent, all, type Condition, present } from "./conditions.ts";
import type { Change } from "./expressions.ts";
import { type Kind, keys } from "./keys.ts";
import type { Item } from "./model.ts";
import { allItems } from "./pages.ts";
import { onConditionFailed, onTransactionCanceled } from "./refusals.ts";
import type { TransactItem } from "./table.ts";

interface Entry {
  id: string;
  state: string;
}

/** Puts a thing and its entry, with the steps `extraItems`, in one transaction. @throws 429 beyond 10,000 of a kind. */
export async function createListed(
  store: Store,
  kind: Kind,
  id: string,
  state: string,
  entity: Record<string, Item[string]>,
): Promise<Item> {
  if ((await listStates(store, kind)).length >= MAX_ENTRIES)
    throw new ApiError("QUOTA_EXCEEDED", `A workspace holds at most ${MAX_ENTRIES} of these.`);
  const item: Item = { ...keys.entity(store.tenant, kind, id), ...entity, id };
  await store.transact([{ put: item, when: absent() }, { put: { ...keys.entry(store.tenant, kind, id), state } }]);
  return item;
}

/** The steps that change a thing and, where it comes to another state, its entry. */
export const listedWrites = (
  store: Pick<Store, "tenant">,
  kind: Kind,
  id: string,
  change: Change,
  { state, when }: { state?: string | undefined; when?: Condition | undefined } = {},
): TransactItem[] => [
  { update: keys.entity(store.tenant, kind, id), change, when: when ? all(present(), when) : present() },
  ...(state === undefined ? [] : [{ update: keys.entry(store.tenant, kind, id), change: { set: { state } } }]),
];

/**
 * Changes a thing that is there and meets `when`, with the steps `extraItems`, which must not be refused by themselves.
 * @returns it after the change; or as it is (undefined: there is none) where the change was refused.
 */
export async function changeListed(
  store: Store,
  kind: Kind,
  id: string,
  change: Change,
  options: { state?: string | undefined; when?: Condition | undefined; extraItems?: readonly TransactItem[] } = {},
): Promise<{ item: Item } | { current: Item | undefined }> {
  const writes = [...listedWrites(store, kind, id, change, options), ...(options.extraItems ?? [])];
  const key = keys.entity(store.tenant, kind, id);
  const when = options.when ? all(present(), options.when) : present();
  if (writes.length === 1)
    return store.update(key, change, when).then(
      (item) => ({ item }),
      onConditionFailed((current) => ({ current })),
    );
  const refusal = await store.transact(writes).then(
    () => undefined,
    onTransactionCanceled(([own]) => ({ current: own?.old })),
  );
  if (refusal) return refusal;
  const item = await store.get(key);
  return item ? { item } : { current: undefined };
}

/** @returns false if there is no such thing. */
export function removeListed(store: Store, kind: Kind, id: string): Promise<boolean> {
  return store
    .transact([
      { remove: keys.entity(store.tenant, kind, id), when: present() },
      { remove: keys.entry(store.tenant, kind, id) },
    ])
    .then(
      () => true,
      onTransactionCanceled(() => false),
    );
}

/** A page of whole things, newest first, and how many there are of the wanted state. */
export async function listPage(
  store: StoreReader,
  kind: Kind,
  { state, ...page }: PageQuery & { state?: string | undefined },
): Promise<{ items: Item[]; total: number }> {
  const entries = await listStates(store, kind);
  const wanted = state === undefined ? entries : entries.filter((entry) => entry.state === state);
  const { from, to } = offsetOf(page);
  const ids = wanted.slice(from, to).map(({ id }) => id);
  return { items: await getEntities(store, kind, ids, { asRange: state === undefined }), total: wanted.length };
}

/** Ids are UUIDv7: their order is the order of creation. */
async function listStates(store: StoreReader, kind: Kind): Promise<Entry[]> {
  const rows = await allItems(store, { pk: keys.entries(store.tenant, kind), newestFirst: true });
  return rows.map(({ sk, state }) => ({ id: sk, state: String(state) }));
}
