// Erased subscribers and their events: the rows stay and lead to nobody (EXP-11, D-EXPORTDEL).
import { MINUTE, timestamp } from "../../clock.ts";
import type { Store } from "../../resources.ts";
import { is } from "../conditions.ts";
import { keys } from "../keys.ts";
import type { Key } from "../model.ts";
import { onConditionFailed } from "../refusals.ts";
import { aliasesOf } from "../subscribers/aliases.ts";
import { type Actor, historyOf, withoutActor } from "./events.ts";

/** An anonymous id is somebody else's again by then; what was under way at the tombstone has been received. */
const UNDER_WAY_MS = MINUTE;

/**
 * Takes a subscriber's and its anonymous ids' names off their events, then unlinks the ids: the device may become
 * somebody else's. The second pass does it again for what was still under way, and forgets which ids they were.
 * @returns how many rows changed.
 */
export async function eraseEvents(
  store: Store,
  subscriber: string,
  { erasedAt, eraseProperties, isLast }: { erasedAt: number; eraseProperties: boolean; isLast: boolean },
): Promise<number> {
  const until = timestamp(erasedAt + UNDER_WAY_MS);
  let changed = await unname(store, { subscriber }, "~", eraseProperties);
  for (const anonymous of await aliasesOf(store, subscriber)) {
    changed += await unname(store, { anonymous }, until, eraseProperties);
    await store
      .remove(keys.alias(store.tenant, anonymous), is("subscriber", subscriber))
      .catch(onConditionFailed(() => undefined));
    if (isLast) await store.remove(keys.aliasOfSubscriber(store.tenant, subscriber, anonymous));
  }
  return changed;
}

async function unname(store: Store, actor: Actor, until: string, eraseProperties: boolean): Promise<number> {
  let changed = 0;
  let after: Key | undefined;
  do {
    const page = await store.query({ pk: historyOf(store.tenant, actor), index: "i2", after });
    const rows = page.items.filter((row) => String(row.received_at) <= until);
    await store.writeAll(rows.map((row) => ({ put: withoutActor(row, eraseProperties) })));
    changed += rows.length;
    after = page.next;
  } while (after);
  return changed;
}
