// The register of erasures that are under way: an export reads it instead of the profile of every subscriber that it
// names (docs/decisions/0066).
import { HOUR, SECOND } from "../../kernel/clock.ts";
import { absent, all, any, atMost, below, present } from "../conditions.ts";
import type { Store, StoreReader } from "../context.ts";
import { actorText } from "../events/actors.ts";
import type { Actor } from "../events/items.ts";
import { type ConditionOf, keyOf, type RowOf, rowOf } from "../item.ts";
import { onConditionFailed } from "../refusals.ts";
import { SHARDS } from "../shards.ts";
import { ErasingActor, ErasingMark } from "./erasing-items.ts";
import { Profile } from "./items.ts";

/** Rows of the register that are read at once. Where there are more, each actor is looked up by its key. */
const MAX_READ = 256;
/** Rows outlive the last pass: the index that an export reads may be behind by then. */
const KEPT_SECONDS = HOUR / SECOND;
/** Profiles that are looked at by one part of the recount. */
const FILL_PAGE = 1_000;

/** How an erasure shows in exports. */
export type Erasing = Pick<RowOf<typeof ErasingActor>, "erase_properties" | "until">;

/**
 * Those of these actors that are being erased, by `actorText`, strongly consistent. Read it after the rows that are to be
 * hidden.
 * @returns with `isWhole: false` where erasures of an earlier release may be missing
 */
export async function erasingAmong(
  store: StoreReader,
  actors: readonly Actor[],
): Promise<{ erasing: ReadonlyMap<string, Erasing>; isWhole: boolean }> {
  const { items, next } = await store.queryRows(ErasingActor, {}, { limit: MAX_READ });
  const found = new Map(items.map((row) => [row.sk, rowOf(ErasingActor, row)]));
  const isWhole = items.some(({ sk }) => sk === ErasingMark.sk?.({}));
  const keys = actors.map((actor) => ({ actor: actorText(actor) }));
  const rows = next
    ? await store.getAll(ErasingActor, keys)
    : keys.map((key) => found.get(ErasingActor.sk?.(key) ?? ""));
  return { erasing: new Map(actors.flatMap((actor, i) => (rows[i] ? [[actorText(actor), rows[i]]] : []))), isWhole };
}

/** Notes that an erasure is under way, if it is not noted yet. Its last pass sets when the row expires. */
export async function noteErasing(
  store: Store,
  actor: Actor,
  { eraseProperties, until, isLast }: { eraseProperties: boolean; until?: string; isLast: boolean },
): Promise<void> {
  const row = {
    erase_properties: eraseProperties || undefined,
    until,
    expires: isLast ? Math.ceil(store.clock.now() / SECOND) + KEPT_SECONDS : undefined,
  };
  await store
    .put(ErasingActor, { actor: actorText(actor) }, row, isOlder(until, isLast))
    .catch(onConditionFailed(() => undefined));
}

/** An anonymous id may be noted for its next subscriber, with a later time. */
function isOlder(until: string | undefined, isLast: boolean): ConditionOf<typeof ErasingActor> {
  if (until === undefined) return isLast ? any(absent(), present()) : absent();
  return any(absent(), isLast ? atMost("until", until) : below("until", until));
}

/** Of a new workspace: no erasure is under way. */
export const openErasing = (store: Store): Promise<void> => store.put(ErasingMark, {}, {});

/**
 * Notes the erasures that are under way in a page of the subscribers, once for each workspace: those that an earlier
 * release began.
 * @param after the subscriber at which the former page ended
 */
export async function fillErasing(
  store: Store,
  after: string | undefined,
): Promise<{ repaired: number; after?: string | undefined }> {
  if (after === undefined && (await store.get(ErasingMark, {}))) return { repaired: 0 };
  const shard = after === undefined ? "0" : after.charAt(0);
  const page = await store.query(
    Profile,
    { id: shard },
    {
      limit: FILL_PAGE,
      filter: all(present("erased_at"), present("created_at"), absent("traces_gone_at")),
      ...(after !== undefined && after.length > 1 && { after: keyOf(Profile, store.tenant, { id: after }) }),
    },
  );
  for (const { id, erase_properties } of page.items)
    await noteErasing(store, { subscriber: id }, { eraseProperties: erase_properties === true, isLast: false });
  const next = page.next?.sk ?? SHARDS[SHARDS.indexOf(shard) + 1];
  if (next === undefined) await openErasing(store);
  return { repaired: 0, after: next };
}
