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
import { actorsOf, actorText, anonymousActor, subscriberActor } from "./actors.ts";
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

/** The rows of one page: each may lead to a block that is read and written. */
const PAGE_ROWS = 100;

interface ErasedEvents {
  /** How many rows changed. */
  changed: number;
  /** Some rows are left for the next message. */
  isUnfinished: boolean;
}

/**
 * Removes the actor from the events of a subscriber and of its anonymous ids, then unlinks the ids, because the device
 * may belong to another subscriber next. The second pass repeats it for events that were in flight, and forgets the
 * ids. The register of erasures hides unchanged events from exports.
 */
export async function eraseEvents(
  store: Store,
  subscriber: string,
  {
    erasedAt,
    eraseProperties,
    isLast,
    isTimeUp,
  }: { erasedAt: number; eraseProperties: boolean; isLast: boolean; isTimeUp(): boolean },
): Promise<ErasedEvents> {
  const until = timestamp(erasedAt + IN_FLIGHT_MS);
  const aliases = await aliasesOf(store, subscriber);
  const identified = subscriberActor(subscriber);
  await noteErasing(store, identified, { eraseProperties, isLast: false });
  for (const anonymous of aliases)
    await noteErasing(store, anonymousActor(anonymous), { eraseProperties, until, isLast: false });

  let changed = 0;
  for (const actor of actorsOf(subscriber, aliases)) {
    const isVisitor = actor.kind === "anonymous";
    const anonymized = await anonymizeEvents(store, actor, isVisitor ? until : "~", { eraseProperties, isTimeUp });
    changed += anonymized.changed;
    if (anonymized.isUnfinished) return { changed, isUnfinished: true };
    if (!isVisitor) continue;
    await whereItHolds(store.remove(Alias, { anonymous: actor.id }, is("subscriber", subscriber)));
    if (!isLast) continue;
    await noteErasing(store, actor, { eraseProperties, until, isLast });
    await store.remove(SubscriberAlias, { subscriber, anonymous: actor.id });
  }
  if (isLast) await noteErasing(store, identified, { eraseProperties, isLast });
  return { changed, isUnfinished: false };
}

/**
 * Anonymizes the events that the history leads to: blocks, and events that are stored alone. The rows of the history
 * are removed last.
 */
async function anonymizeEvents(
  store: Store,
  actor: Actor,
  until: string,
  { eraseProperties, isTimeUp }: { eraseProperties: boolean; isTimeUp(): boolean },
): Promise<ErasedEvents> {
  let changed = 0;
  const range = { prefix: HISTORY, limit: PAGE_ROWS };
  for await (const page of pagesOf((after?: Key) => store.query(ActorEvents, actor, { ...range, after }))) {
    if (isTimeUp()) return { changed, isUnfinished: true };
    const rows = page.items.filter(({ received_at }) => received_at <= until);
    for (const { block } of rows)
      if (block !== undefined) await maskActor(store, blockKey(block), actorText(actor), eraseProperties);
    const ids = rows.filter(({ block }) => block === undefined).map(({ sk }) => ({ id: idOfAlone(sk) }));
    const alone = (await store.getAll(EventItem, ids)).filter((row) => row !== undefined);
    await store.writeAll(alone.map((row) => anonymousWrite(row, eraseProperties)));
    await store.removeRows(rows.map(({ pk, sk }) => ({ pk, sk })));
    changed += rows.length;
  }
  return { changed, isUnfinished: false };
}
