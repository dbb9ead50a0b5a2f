// Names seen in attributes and events, for the rule editor: one item each, written only for a name that is new.
import { chunksOf } from "../../rules/chunks.ts";
import { absent, any } from "../conditions.ts";
import type { Store, StoreReader } from "../context.ts";
import { familyOf } from "../families.ts";
import type { ChangeOf, RowOf } from "../item.ts";
import { recent } from "../recent.ts";
import { onConditionFailed } from "../refusals.ts";
import { SeenNames } from "./statistics-items.ts";

export type NamedKind = "attributes" | "events";

/** SEG-11, SEG-12: the most names that are returned; no more are kept. */
export const MAX_NAMES: Record<NamedKind, number> = { attributes: 500, events: 200 };
/** All names fit into one row, also those of paths, whose parts may be of any length. */
const MAX_NAME_LENGTH = 256;

/** Whether a name is kept once it was seen. A longer one is none that a person picks from a list. */
export const isKept = (name: string): boolean => name.length <= MAX_NAME_LENGTH;

/** A condition of DynamoDB is limited to 4 KB. */
const NAMES_PER_WRITE = 50;
const MAX_CACHED_TENANTS = 1_000;

/** The names kept of a workspace, in order. */
export async function namesOf(store: StoreReader, kind: NamedKind): Promise<string[]> {
  return [...namesIn(await store.get(SeenNames, { kind }, { eventual: true }))].sort();
}

const namesIn = (row: RowOf<typeof SeenNames> | undefined): ReadonlySet<string> =>
  new Set(row && familyOf(row, "k:").map(([name]) => name));

/** One per environment: learns names, without a request for those it has cached. */
export function nameLearner() {
  const cache = recent<ReadonlySet<string>>(MAX_CACHED_TENANTS);

  return async (
    store: Pick<Store, "tenant" | "get" | "change">,
    kind: NamedKind,
    names: Iterable<string>,
  ): Promise<void> => {
    const place = `${kind} ${store.tenant}`;
    const max = MAX_NAMES[kind];
    const wanted = new Set([...names].filter(isKept));
    let seen = cache.get(place);
    const unseenNames = () => [...wanted].filter((name) => !seen?.has(name));
    if ((seen && seen.size >= max) || unseenNames().length === 0) return;
    if (!seen) {
      seen = namesIn(await store.get(SeenNames, { kind }));
      cache.set(place, seen);
    }
    for (const batch of chunksOf(unseenNames(), NAMES_PER_WRITE)) {
      if (seen.size >= max) return;
      const initial: NonNullable<ChangeOf<typeof SeenNames>["initial"]> = {};
      const added = batch.slice(0, max - seen.size).map((name) => `k:${name}` as const);
      for (const name of added) initial[name] = 1;
      const row = await store
        .change(SeenNames, { kind }, { initial }, any(...added.map((name) => absent(name))))
        .catch(onConditionFailed(SeenNames, (old) => old));
      seen = namesIn(row);
      cache.set(place, seen);
    }
  };
}
