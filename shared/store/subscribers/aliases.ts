// Anonymous ids that belong to subscribers: two rows each. Histories are read under all ids of a subscriber.
import { timestamp } from "../../kernel/clock.ts";
import { absent } from "../conditions.ts";
import type { Store, StoreReader } from "../context.ts";
import { anonymousIdsOf } from "../events/actors.ts";
import type { Actor } from "../events/items.ts";
import { putItem } from "../item.ts";
import { failuresOf, oldRow } from "../refusals.ts";
import { Alias, Profile, SubscriberAlias } from "./items.ts";
import { isLiving } from "./subscribers.ts";

/**
 * Anonymous ids of one subscriber. Its events are read under each of them, for every event that a rule needs: without a
 * limit anybody with the publishable key could make that arbitrarily expensive (docs/decisions/0139).
 */
export const MAX_ALIASES = 200;

interface Link {
  /** Whether the anonymous id is this subscriber's after the call (AMB-26). */
  linked: boolean;
  /** Whether this call gave it to the subscriber, with its events. */
  isNew: boolean;
}

/**
 * IDN-2: gives an anonymous id to a subscriber, with all its past and future events; the first link wins, and one beyond
 * `MAX_ALIASES` is not made.
 * @returns undefined if there is no such subscriber.
 */
export async function linkAlias(store: Store, anonymous: string, subscriber: string): Promise<Link | undefined> {
  // Not a condition of the transaction, which costs 2 units for each KB of the profile. The second pass of an erasure
  // removes ids that are linked in the meantime.
  const [profile, count] = await Promise.all([
    store.get(Profile, { id: subscriber }),
    store.count(SubscriberAlias, { subscriber }, { eventual: true }),
  ]);
  if (!profile || !isLiving(profile)) return undefined;
  if (count >= MAX_ALIASES) {
    const owned = await store.get(Alias, { anonymous });
    return { linked: owned?.subscriber === subscriber, isNew: false };
  }
  const row = { subscriber, anonymous };
  const [taken] = await failuresOf(store, [
    putItem(Alias, { anonymous }, row, absent()),
    putItem(SubscriberAlias, row, { ...row, react: "alias", at: timestamp(store.clock.now()) }),
  ]);
  if (taken) return { linked: oldRow(Alias, taken)?.subscriber === subscriber, isNew: false };
  return { linked: true, isNew: true };
}

/** The anonymous ids of a subscriber. */
export async function aliasesOf(store: StoreReader, subscriber: string): Promise<string[]> {
  return (await store.queryAll(SubscriberAlias, { subscriber })).map(({ anonymous }) => anonymous);
}

/** The subscribers that these anonymous ids belong to; ids without a subscriber are left out. */
export async function ownersOf(store: StoreReader, anonymous: readonly string[]): Promise<Map<string, string>> {
  const keys = anonymous.map((id) => ({ anonymous: id }));
  const rows = await store.getAll(Alias, keys);
  return new Map(rows.flatMap((row) => (row ? [[row.anonymous, row.subscriber]] : [])));
}

/**
 * The subscribers of events, in one read. @returns the subscriber of an actor; undefined for an unlinked anonymous id,
 * and for an event without actor
 */
export async function subscribersOf(
  store: StoreReader,
  actors: readonly (Actor | undefined)[],
): Promise<(actor: Actor | undefined) => string | undefined> {
  const owners = await ownersOf(store, anonymousIdsOf(actors));
  return (actor) => (actor?.kind === "anonymous" ? owners.get(actor.id) : actor?.id);
}
