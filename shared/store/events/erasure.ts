// Erasure of a subscriber's events: the rows stay without their actor (EXP-11, D-EXPORTDEL).
import { MINUTE, timestamp } from "../../kernel/clock.ts";
import { is } from "../conditions.ts";
import type { Store } from "../context.ts";
import type { Key } from "../model.ts";
import { whereItHolds } from "../refusals.ts";
import { aliasesOf } from "../subscribers/aliases.ts";
import { noteErasing } from "../subscribers/erasing.ts";
import { Alias, SubscriberAlias } from "../subscribers/items.ts";
import { pagesOf } from "../table.ts";
import { actorText, anonymousActor, subscriberActor } from "./actors.ts";
import { blockKey } from "./block-keys.ts";
import { maskActor } from "./blocks.ts";
import { anonymousWrite } from "./events.ts";
import { HISTORY, idOfAlone } from "./history.ts";
import { type Actor, ActorEvents, EventItem } from "./items.ts";

/**
 * Events of an anonymous id that were received later than this after the tombstone belong to its next subscriber; the
 * requests of the erased one have ended by then.
 */
const IN_FLIGHT_MS = MINUTE;

/**
 * Removes the actor from the events of a subscriber and of its anonymous ids, then unlinks the ids: the device may
 * belong to another subscriber next. The second pass repeats it for events that were in flight, and forgets the ids. The
 * register of erasures hides from exports what is not changed yet.
 * @returns how many rows changed.
 */
export async function eraseEvents(
  store: Store,
  subscriber: string,
  { erasedAt, eraseProperties, isLast }: { erasedAt: number; eraseProperties: boolean; isLast: boolean },
): Promise<number> {
  const until = timestamp(erasedAt + IN_FLIGHT_MS);
  const aliases = await aliasesOf(store, subscriber);
  const identified = subscriberActor(subscriber);
  await noteErasing(store, identified, { eraseProperties, isLast: false });
  for (const anonymous of aliases)
    await noteErasing(store, anonymousActor(anonymous), { eraseProperties, until, isLast: false });

  let changed = await anonymizeEvents(store, identified, "~", eraseProperties);
  for (const anonymous of aliases) {
    changed += await anonymizeEvents(store, anonymousActor(anonymous), until, eraseProperties);
    await whereItHolds(store.remove(Alias, { anonymous }, is("subscriber", subscriber)));
    if (!isLast) continue;
    await noteErasing(store, anonymousActor(anonymous), { eraseProperties, until, isLast });
    await store.remove(SubscriberAlias, { subscriber, anonymous });
  }
  if (isLast) await noteErasing(store, identified, { eraseProperties, isLast });
  return changed;
}

/** The rows of the history lead to the blocks, and to the events that are stored alone. They go last. */
async function anonymizeEvents(store: Store, actor: Actor, until: string, eraseProperties: boolean): Promise<number> {
  let changed = 0;
  for await (const page of pagesOf((after?: Key) => store.query(ActorEvents, actor, { after, prefix: HISTORY }))) {
    const rows = page.items.filter(({ received_at }) => received_at <= until);
    for (const { block } of rows)
      if (block !== undefined) await maskActor(store, blockKey(block), actorText(actor), eraseProperties);
    const ids = rows.filter(({ block }) => block === undefined).map(({ sk }) => ({ id: idOfAlone(sk) }));
    const alone = (await store.getAll(EventItem, ids)).filter((row) => row !== undefined);
    await store.writeAll(alone.map((row) => anonymousWrite(row, eraseProperties)));
    await store.removeRows(rows.map(({ pk, sk }) => ({ pk, sk })));
    changed += rows.length;
  }
  return changed;
}
