// Authored things with a unique name: an entity row and a compact entry that holds the name
// (docs/decisions/0021#page-lists).

import { timeOfUuid } from "../clock.ts";
import { conflict } from "../http/errors.ts";
import type { Store, StoreReader } from "../resources.ts";
import { absent, all, type Condition, is, present } from "./conditions.ts";
import type { Change } from "./expressions.ts";
import { type Kind, keys } from "./keys.ts";
import type { Item } from "./model.ts";
import { allItems } from "./pages.ts";
import { onConditionFailed, onTransactionCanceled } from "./refusals.ts";
import type { TransactItem } from "./table.ts";

export const MAX_ENTRIES = 10_000;
/** How often a change is begun anew because somebody else came first. */
const MAX_ATTEMPTS = 10;

interface Entry {
  id: string;
  name: string;
}

/** Puts an entity and its entry in one transaction. @returns false if the name is taken. */
export function createNamed(
  store: Store,
  kind: Kind,
  name: string,
  id: string,
  entity: Record<string, Item[string]>,
): Promise<boolean> {
  return store
    .transact([
      { put: { ...keys.entry(store.tenant, kind, name), id }, when: absent() },
      { put: { ...keys.entity(store.tenant, kind, id), ...entity, id, name } },
    ])
    .then(
      () => true,
      onTransactionCanceled(([entry]) => entry?.old?.id === id),
    );
}

/**
 * Changes an entity and, where a new name is given, moves its entry to it in one transaction. A rename that came
 * between is taken as it is and the change goes on from there.
 * @returns the entity after the change; "missing" if there is none; "taken" if another one has the name.
 */
export async function changeNamed(
  store: Store,
  kind: Kind,
  id: string,
  change: Change,
  name?: string,
): Promise<Item | "missing" | "taken"> {
  const key = keys.entity(store.tenant, kind, id);
  const whole = name === undefined ? change : { ...change, set: { ...change.set, name } };
  for (let tries = 0; tries < MAX_ATTEMPTS; tries++) {
    const entity = name === undefined ? undefined : await store.get(key);
    if (name !== undefined && !entity) return "missing";
    const from = entity && String(entity.name);
    if (name === undefined || name === from)
      return store.update(key, whole, present()).catch(onConditionFailed(() => "missing" as const));
    const refusals = await store
      .transact([
        { remove: keys.entry(store.tenant, kind, from!), when: is("id", id) },
        { put: { ...keys.entry(store.tenant, kind, name), id }, when: absent() },
        { update: key, change: whole, when: present() },
      ])
      .then(
        () => undefined,
        onTransactionCanceled((steps) => steps),
      );
    if (!refusals) return (await store.get(key)) ?? "missing";
    const [moved, taken] = refusals;
    if (taken && !moved) return "taken";
  }
  throw busy();
}

/**
 * Removes an entity and its entry, whatever name it has by then, with further steps `extraItems`. `permit` looks at the
 * entity and throws, or says what must still be so when it goes. @returns false if there is no such entity.
 */
export async function removeNamed(
  store: Store,
  kind: Kind,
  id: string,
  { permit, extraItems = [] }: { permit?: (entity: Item) => Condition; extraItems?: readonly TransactItem[] } = {},
): Promise<boolean> {
  const key = keys.entity(store.tenant, kind, id);
  for (let tries = 0; tries < MAX_ATTEMPTS; tries++) {
    const entity = await store.get(key);
    if (!entity) return false;
    const when = permit ? all(present(), permit(entity)) : present();
    const isRemoved = await store
      .transact([
        { remove: key, when },
        { remove: keys.entry(store.tenant, kind, String(entity.name)), when: is("id", id) },
        ...extraItems,
      ])
      .then(
        () => true,
        onTransactionCanceled(() => false),
      );
    if (isRemoved) return true;
  }
  throw busy();
}

const busy = () => conflict("Somebody else is changing this at the moment. Try again.");

/** Every entry of a kind, newest first: ids are UUIDv7, so their order is the order of creation. */
export async function listEntries(store: StoreReader, kind: Kind): Promise<Entry[]> {
  const rows = await allItems(store, { pk: keys.entries(store.tenant, kind), eventual: true });
  const entries = rows.map(({ id, sk }) => ({ id: String(id), name: sk }));
  return entries.sort((a, b) => timeOfUuid(b.id) - timeOfUuid(a.id) || (a.id < b.id ? 1 : -1));
}

/**
 * A page of whole entities by their ids, newest first; one deleted meanwhile is left out. Ids that `asRange`, with no
 * other entity between them, are read by one query at a fraction of the price.
 */
export async function getEntities(
  store: StoreReader,
  kind: Kind,
  ids: readonly string[],
  { asRange }: { asRange: boolean },
): Promise<Item[]> {
  const [newest, oldest] = [ids[0], ids.at(-1)];
  if (newest === undefined || oldest === undefined) return [];
  if (!asRange) {
    const found = await store.getAll(
      ids.map((id) => keys.entity(store.tenant, kind, id)),
      { eventual: true },
    );
    return found.filter((item) => item !== undefined);
  }
  const wanted = new Set(ids);
  const range = { pk: keys.entities(store.tenant, kind), from: oldest, to: newest, newestFirst: true };
  return (await allItems(store, range)).filter(({ sk }) => wanted.has(sk));
}
