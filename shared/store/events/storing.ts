// Stores the events of a request: in blocks for exports, and in rows of their actors for histories
// (docs/decisions/0025).
import type { Store } from "../context.ts";
import { idKeys, putItem } from "../item.ts";
import { actorIn, actorText } from "./actors.ts";
import {
  actorWrites,
  blockWrite,
  type NewBlock,
  type NewEvent,
  planBlocks,
  pointerWrites,
  sealWrite,
  unsealed,
} from "./blocks.ts";
import { claimKeys, completeBlocks } from "./completion.ts";
import type { dayRegister } from "./days.ts";
import { dayOf, type EventRow, eventOf, eventRow, type Origin, type StoredEvent, shardChooser } from "./events.ts";
import { EventBlock, EventItem } from "./items.ts";
import { releaseQuota } from "./usage.ts";
import type { WatchedNames } from "./watchers.ts";

interface StoringOptions {
  origin: Origin;
  watched: WatchedNames;
  noteDays: ReturnType<typeof dayRegister>;
}

const BATCH_BYTES = 8;

/**
 * Stores events whose ids are not known to be stored. When it returns, all are durable, in histories and in exports. If
 * requests race with a key, the first one stands. The quota of events that were not stored is released, also after an
 * error.
 */
export async function storeEvents(store: Store, events: readonly NewEvent[], storing: StoringOptions): Promise<void> {
  const [draw = 0] = store.ids.bytes(1);
  const batch = store.ids.bytes(BATCH_BYTES).toString("hex");
  const { blocks, alone } = planBlocks(events, { batch, draw });
  const rows = aloneRows(store, alone, storing.origin, draw);
  const takenAt = Date.parse(storing.origin.received_at);
  try {
    await storing.noteDays(store, [
      ...blocks.map(({ key: { day, shard } }) => ({ day, shard })),
      ...rows.map(({ day, shard }) => ({ day, shard })),
    ]);
    const repeats = (await storeBlocks(store, blocks, storing)) + (await storeAlone(store, rows, storing));
    await releaseQuota(store, repeats, takenAt);
  } catch (error) {
    await releaseQuota(store, events.length - (await countStored(store, blocks, rows)), takenAt);
    throw error;
  }
}

/**
 * Completes events that an earlier request stored under the same keys, so that they are as durable as the response
 * says.
 */
export async function completeRepeats(store: Store, rows: readonly EventRow[], watched: WatchedNames): Promise<void> {
  const blocks = rows.flatMap(({ block }) => block ?? []);
  if (blocks.length > 0) await completeBlocks(store, await unsealed(store, blocks), watched);
  const alone = rows.filter(({ block, actor }) => block === undefined && actor !== undefined);
  await store.writeAll(alone.flatMap((row) => historyWrites(eventOf(row), watched)));
}

/** The row of an event that is stored alone, in the history of its actor. */
function historyWrites(event: StoredEvent, { names }: WatchedNames) {
  const { actor, received_at, source, historical } = event;
  if (!actor) return [];
  const stored = { ...event, actor: actorText(actor), isKeyed: false };
  return actorWrites([stored], { received_at, source, historical, key: undefined, watched: names });
}

interface AloneRow extends ReturnType<typeof eventRow> {
  event: StoredEvent;
  isKeyed: boolean;
  day: string;
  shard: string;
}

function aloneRows(store: Store, alone: readonly NewEvent[], origin: Origin, draw: number): AloneRow[] {
  const days = alone.map(({ occurred_at }) => dayOf(occurred_at));
  const shardOf = shardChooser(days, draw);
  return alone.map(({ isKeyed, actor, ...fields }, i) => {
    const day = days[i] ?? "";
    const shard = shardOf(day);
    const event = { ...fields, ...origin, actor: actorIn(actor) };
    return { ...eventRow(store, { ...event, shard }), event, isKeyed, day, shard };
  });
}

/** Stores events alone. @returns how many were repeats of keys that other requests stored in the meantime */
async function storeAlone(store: Store, rows: readonly AloneRow[], { watched }: StoringOptions): Promise<number> {
  const [keyed, plain] = [rows.filter(({ isKeyed }) => isKeyed), rows.filter(({ isKeyed }) => !isKeyed)];
  await store.writeAll(plain.map(({ key, row }) => putItem(EventItem, key, row)));
  const found = await store.insertAll(EventItem, keyed);
  const accepted = [...plain, ...keyed.filter((_, i) => !found[i])];
  await store.writeAll(accepted.flatMap(({ event }) => historyWrites(event, watched)));
  const repeats = found.filter((row) => row !== undefined);
  await completeRepeats(store, repeats, watched);
  return repeats.length;
}

/** Stores blocks. @returns how many events were such repeats */
async function storeBlocks(
  store: Store,
  blocks: readonly NewBlock[],
  { origin, watched }: StoringOptions,
): Promise<number> {
  const { names, tracked } = watched;
  if (blocks.length === 0) return 0;
  await store.writeAll(blocks.map((block) => blockWrite(block, origin)));
  const pointers = blocks.flatMap(({ key, events }) =>
    pointerWrites(
      key,
      events.filter(({ event_name, isKeyed }) => !isKeyed && tracked.has(event_name)),
    ),
  );
  await store.writeAll(pointers);
  const repeated = await Promise.all(blocks.map(({ key, events }) => claimKeys(store, key, events)));
  const newEvents = blocks.map(({ key, events }, n) => ({
    key,
    events: events.filter(({ id }) => !repeated[n]?.has(id)),
  }));
  await store.writeAll(newEvents.flatMap(({ key, events }) => actorWrites(events, { ...origin, key, watched: names })));
  await store.writeAll(newEvents.filter(({ events }) => events.length > 0).map(({ key }) => sealWrite(key)));
  const ids = repeated.flatMap((repeatedIds) => [...repeatedIds]);
  if (ids.length > 0) await completeRepeats(store, await storedWith(store, ids), watched);
  return ids.length;
}

/** The rows of events with keys. */
async function storedWith(store: Store, ids: readonly string[]): Promise<EventRow[]> {
  const rows = await store.getAll(EventItem, idKeys(ids));
  return rows.filter((row) => row !== undefined);
}

/** Counts the stored events after an error: an existing block is completed later. */
async function countStored(store: Store, blocks: readonly NewBlock[], rows: readonly AloneRow[]): Promise<number> {
  const blockKeys = blocks.map(({ key }) => key);
  const found = await store.getAll(EventBlock, blockKeys);
  const keys = rows.map(({ key }) => key);
  const stored = await store.getAll(EventItem, keys);
  const isOwn = ({ row }: AloneRow, i: number) =>
    stored[i]?.i1pk === row.i1pk && stored[i]?.i1sk === row.i1sk && stored[i]?.received_at === row.received_at;
  const inBlocks = blocks.reduce((sum, { events }, n) => sum + (found[n] ? events.length : 0), 0);
  return inBlocks + rows.filter(isOwn).length;
}
