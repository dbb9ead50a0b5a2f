// Authored things with a unique name: an entity row and a compact entry that holds the name (decision 10).
import { timeOfUuid } from "../clock.ts";
import type { Store, StoreReader } from "../resources.ts";
import { absent, is, present } from "./conditions.ts";
import type { Change } from "./expressions.ts";
import { type Kind, keys } from "./keys.ts";
import type { Item } from "./model.ts";
import { refusedSteps } from "./refusals.ts";

export const MOST_ENTRIES = 10_000;

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
      refusedSteps(([entry]) => entry?.old?.id === id),
    );
}

export type Renamed = "done" | "missing" | "taken";

/** Changes an entity and moves its entry to the new name in one transaction. */
export async function renameNamed(
  store: Store,
  kind: Kind,
  id: string,
  from: string,
  to: string,
  change: Change,
): Promise<Renamed> {
  const steps = await store
    .transact([
      { remove: keys.entry(store.tenant, kind, from), when: is("id", id) },
      { put: { ...keys.entry(store.tenant, kind, to), id }, when: absent() },
      {
        update: keys.entity(store.tenant, kind, id),
        change: { ...change, set: { ...change.set, name: to } },
        when: present(),
      },
    ])
    .then(
      () => undefined,
      refusedSteps((refusals) => refusals),
    );
  if (!steps) return "done";
  const [, taken, missing] = steps;
  if (missing) return "missing";
  return taken ? "taken" : "missing";
}

/** Removes an entity and its entry. @returns false if there is no such entity. */
export async function removeNamed(store: Store, kind: Kind, id: string): Promise<boolean> {
  const entity = await store.get(keys.entity(store.tenant, kind, id));
  if (!entity) return false;
  return store
    .transact([
      { remove: keys.entity(store.tenant, kind, id), when: present() },
      { remove: keys.entry(store.tenant, kind, String(entity.name)) },
    ])
    .then(
      () => true,
      refusedSteps(() => false),
    );
}

/** Every entry of a kind, newest first: ids are UUIDv7, so their order is the order of creation. */
export async function listEntries(store: StoreReader, kind: Kind): Promise<Entry[]> {
  const entries: Entry[] = [];
  let after: Awaited<ReturnType<StoreReader["query"]>>["next"];
  do {
    const page = await store.query({ pk: keys.entries(store.tenant, kind), after, eventual: true });
    for (const { id, sk } of page.items) entries.push({ id: String(id), name: sk });
    after = page.next;
  } while (after);
  return entries.sort((a, b) => timeOfUuid(b.id) - timeOfUuid(a.id) || (a.id < b.id ? 1 : -1));
}

/** A page of whole entities by their ids, in that order; one deleted meanwhile is left out. */
export async function getEntities(store: StoreReader, kind: Kind, ids: readonly string[]): Promise<Item[]> {
  const items = await store.getAll(ids.map((id) => keys.entity(store.tenant, kind, id)));
  return items.filter((item) => item !== undefined);
}
