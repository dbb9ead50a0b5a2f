// Names seen in attributes and events, for the rule editor: one item each, written only for a name not seen before.
import type { Store, StoreReader } from "../../resources.ts";
import { absent, any } from "../conditions.ts";
import { keys } from "../keys.ts";
import type { Item } from "../model.ts";
import { recent } from "../recent.ts";
import { onConditionFailed } from "../refusals.ts";
import { chunksOf } from "../table.ts";

export type Named = "attributes" | "events";

/** SEG-11, SEG-12: as many as are ever returned; names beyond are not kept. */
const MAX_NAMES: Record<Named, number> = { attributes: 500, events: 200 };
/** A condition may have 4 KB. */
const NAMES_PER_WRITE = 50;
const TENANTS_REMEMBERED = 1_000;

const NAME = "k:";

/** The names kept of a workspace, in order. */
export async function namesOf(store: StoreReader, kind: Named): Promise<string[]> {
  const item = await store.get(keys.names(store.tenant, kind), { eventual: true });
  return [...namesIn(item)].sort();
}

const namesIn = (item: Item | undefined): Set<string> =>
  new Set(
    Object.keys(item ?? {})
      .filter((name) => name.startsWith(NAME))
      .map((name) => name.slice(NAME.length)),
  );

/** One per environment: learns names, without any request for those it knows. */
export function nameLearner() {
  const cache = recent<Set<string>>(TENANTS_REMEMBERED);

  return async (
    store: Pick<Store, "tenant" | "get" | "update">,
    kind: Named,
    names: Iterable<string>,
  ): Promise<void> => {
    const key = keys.names(store.tenant, kind);
    const place = `${kind} ${store.tenant}`;
    const isUnseen = (name: string) => !cache.get(place)?.has(name);
    const isFull = () => (cache.get(place)?.size ?? 0) >= MAX_NAMES[kind];
    const wanted = [...new Set(names)];
    if (isFull() || !wanted.some(isUnseen)) return;
    if (!cache.get(place)) cache.set(place, namesIn(await store.get(key)));
    for (const batch of chunksOf(wanted.filter(isUnseen), NAMES_PER_WRITE)) {
      if (isFull()) return;
      const attributes = batch.slice(0, MAX_NAMES[kind] - cache.get(place)!.size).map((name) => NAME + name);
      const initial = Object.fromEntries(attributes.map((name) => [name, 1]));
      const item = await store
        .update(key, { initial }, any(...attributes.map((name) => absent(name))))
        .catch(onConditionFailed((old) => old));
      cache.set(place, namesIn(item));
    }
  };
}
