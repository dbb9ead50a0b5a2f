// Completes blocks of events whose request ended before it wrote their seal: repeats the steps after the blocks are
// stored. Each step has the same result however often it runs.
import type { Store } from "../context.ts";
import { subscribersOf } from "../subscribers/aliases.ts";
import { erasingAmong } from "../subscribers/erasing.ts";
import { Profile } from "../subscribers/items.ts";
import { actorIn } from "./actors.ts";
import { type BlockKey, blockText } from "./block-keys.ts";
import { actorWrites, maskActor, type NewEvent, pointerRow, pointerWrites, sealWrite, takeOut } from "./blocks.ts";
import { EventBlock, EventItem } from "./items.ts";
import { unpackEvents } from "./packing.ts";
import type { WatchedNames } from "./watchers.ts";

/** Writes everything that follows from the events of stored blocks, and seals the blocks. */
export async function completeBlocks(store: Store, keys: readonly BlockKey[], watched: WatchedNames): Promise<void> {
  for (const key of keys) await completeBlock(store, key, watched);
}

async function completeBlock(store: Store, key: BlockKey, { names, tracked }: WatchedNames): Promise<void> {
  const block = await store.get(EventBlock, key);
  if (!block) return;
  const events = unpackEvents(block.events);
  const repeated = await claimKeys(store, key, events);
  const identified = events.filter((event): event is NewEvent => event.actor !== null && !repeated.has(event.id));
  const erased = await erasedActors(store, identified, block.received_at);
  for (const [actor, eraseProperties] of erased) await maskActor(store, key, actor, eraseProperties);
  const living = identified.filter(({ actor }) => !erased.has(actor));
  const { received_at, source, historical } = block;
  const pointed = living.filter(({ event_name, isKeyed }) => !isKeyed && tracked.has(event_name));
  await store.writeAll([
    ...pointerWrites(key, pointed),
    ...actorWrites(living, { received_at, source, historical, key, watched: names }),
  ]);
  if (repeated.size < events.length) await store.writeAll([sealWrite(key)]);
}

/**
 * Gives each key to the first block that claims it (AMB-114). Events whose keys belong to others are removed from the
 * block. @returns the ids of those
 */
export async function claimKeys(
  store: Store,
  key: BlockKey,
  events: readonly Pick<NewEvent, "id" | "isKeyed">[],
): Promise<ReadonlySet<string>> {
  const keyed = events.filter(({ isKeyed }) => isKeyed);
  const rows = keyed.map((event) => pointerRow(key, event));
  const found = await store.insertAll(EventItem, rows);
  const text = blockText(key);
  const repeated = new Set(keyed.filter((_, i) => found[i] && found[i].block !== text).map(({ id }) => id));
  if (repeated.size > 0) await takeOut(store, key, repeated);
  return repeated;
}

/**
 * Actors whose subscriber was erased, and whether their properties are removed too. After an erasure has unlinked an
 * anonymous id, only the register of erasures knows its subscriber.
 */
async function erasedActors(
  store: Store,
  events: readonly NewEvent[],
  receivedAt: string,
): Promise<Map<string, boolean>> {
  const actors = new Map(events.map(({ actor }) => [actor, actorIn(actor)]));
  const registered = actors.size === 0 ? [] : [...(await erasingAmong(store, [...actors.values()]))];
  const unlinked = registered.filter(([, { until = receivedAt }]) => receivedAt <= until);
  const subscriberOf = await subscribersOf(store, [...actors.values()]);
  const subscribers = [...actors].flatMap(([text, actor]) => {
    const id = subscriberOf(actor);
    return id === undefined ? [] : [{ text, id }];
  });
  const keys = subscribers.map(({ id }) => ({ id }));
  const profiles = await store.getAll(Profile, keys);
  return new Map([
    ...unlinked.map(([text, { erase_properties }]) => [text, erase_properties === true] as const),
    ...subscribers.flatMap(({ text }, i) =>
      profiles[i]?.erased_at ? [[text, profiles[i].erase_properties === true] as const] : [],
    ),
  ]);
}
