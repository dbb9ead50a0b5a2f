// The register of erasures that are under way: an export reads it instead of the profile of every subscriber that it
// names (docs/decisions/0066).
import { HOUR, SECOND, ttl } from "../../kernel/clock.ts";
import { absent, any, atMost, below, present } from "../conditions.ts";
import type { Store, StoreReader } from "../context.ts";
import { actorText } from "../events/actors.ts";
import type { Actor } from "../events/items.ts";
import { type ConditionOf, type RowOf, rowOf } from "../item.ts";
import { whereItHolds } from "../refusals.ts";
import { ErasingActor } from "./erasing-items.ts";

/** Rows of the register that are read at once. Where there are more, each actor is looked up by its key. */
const MAX_READ = 256;
/** Rows outlive the last pass: the index that an export reads may be behind by then. */
const KEPT_SECONDS = HOUR / SECOND;

/** How an erasure shows in exports. */
export type ErasureInExports = Pick<RowOf<typeof ErasingActor>, "erase_properties" | "until">;

/**
 * The actors that are being erased, by `actorText`, strongly consistent. Read it after the rows that are to be hidden.
 */
export async function erasingAmong(
  store: StoreReader,
  actors: readonly Actor[],
): Promise<ReadonlyMap<string, ErasureInExports>> {
  const { items, next } = await store.queryRows(ErasingActor, {}, { limit: MAX_READ });
  const found = new Map(items.map((row) => [row.sk, rowOf(ErasingActor, row)]));
  const keys = actors.map((actor) => ({ actor: actorText(actor) }));
  const rows = next
    ? await store.getAll(ErasingActor, keys)
    : keys.map((key) => found.get(ErasingActor.sk?.(key) ?? ""));
  return new Map(actors.flatMap((actor, i) => (rows[i] ? [[actorText(actor), rows[i]]] : [])));
}

/** Notes an erasure in progress, if it is not noted yet. Its last pass sets when the row expires. */
export async function noteErasing(
  store: Store,
  actor: Actor,
  { eraseProperties, until, isLast }: { eraseProperties: boolean; until?: string; isLast: boolean },
): Promise<void> {
  const row = {
    erase_properties: eraseProperties || undefined,
    until,
    expires: isLast ? ttl(store.clock.now()) + KEPT_SECONDS : undefined,
  };
  await whereItHolds(store.put(ErasingActor, { actor: actorText(actor) }, row, isOlder(until, isLast)));
}

/** An anonymous id may be noted for its next subscriber, with a later time. */
function isOlder(until: string | undefined, isLast: boolean): ConditionOf<typeof ErasingActor> {
  if (until === undefined) return isLast ? any(absent(), present()) : absent();
  return any(absent(), isLast ? atMost("until", until) : below("until", until));
}
