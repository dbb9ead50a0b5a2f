// How the events of a request are grouped into blocks, and the writes for them (docs/decisions/0025).
import { byText } from "../../kernel/order.ts";
import { is } from "../conditions.ts";
import type { Store, StoreReader } from "../context.ts";
import { type ItemWrite, putItem } from "../item.ts";
import { toJson } from "../json-text.ts";
import type { Key } from "../model.ts";
import { happened } from "../refusals.ts";
import { actorIn } from "./actors.ts";
import { type BlockKey, batchOf, blockKey, blockShard, blockText, MAX_SPAN_MS } from "./block-keys.ts";
import { dayOf, type Origin } from "./events.ts";
import { ActorEvents, EventBlock, EventItem, EventSeal } from "./items.ts";
import { type PackedEvent, packEvents, unpackEvents } from "./packing.ts";

export type NewEvent = PackedEvent & { actor: string };

export interface NewBlock {
  key: BlockKey;
  events: NewEvent[];
}

const MAX_EVENTS = 300;
/** The longest JSON of an event that is stored alone: each repeat of its key reads it and writes it again. */
const MAX_ALONE_BYTES = 1_024;
/** The longest JSON of a block: a row holds 400 KB even if it cannot be compressed. */
const MAX_BYTES = 160 * 1_024;
/** A shorter period is chosen if it has this many events. */
const ENOUGH_EVENTS = 8;
const PERIODS_MS = [10_000, 600_000, MAX_SPAN_MS];

/**
 * Splits the events of a request into blocks of one day and a short period. All events of an actor in a period are in
 * one block if they fit, so that its history gets one row. A small event without neighbours is stored alone if it has a
 * key, or is the only one. Blocks of a few events are in the partitions of the widest class of their day, because an
 * export reads every partition of a day. @param batch a name that no other request has @param draw a random byte, which
 * chooses the partition
 */
export function planBlocks(
  events: readonly NewEvent[],
  { batch, draw }: { batch: string; draw: number },
): { blocks: NewBlock[]; alone: NewEvent[] } {
  const blocks: NewBlock[] = [];
  const alone: NewEvent[] = [];
  const sorted = [...events].sort(byText(({ occurred_at }) => occurred_at));
  for (const ofDay of Map.groupBy(sorted, ({ occurred_at }) => dayOf(occurred_at)).values()) {
    const groups: NewEvent[][] = [];
    for (let from = 0; from < ofDay.length; ) {
      const period = ofDay.slice(from, endOfPeriod(ofDay, from));
      from += period.length;
      const [only, ...others] = period;
      const isAlone = others.length === 0 && (only?.isKeyed || events.length === 1);
      if (only && isAlone && bytesOf(only) <= MAX_ALONE_BYTES) alone.push(only);
      else groups.push(...byActor(period));
    }
    const widest = Math.max(...groups.map(spanIn));
    for (const group of groups) {
      const spanMs = group.length < ENOUGH_EVENTS ? widest : spanIn(group);
      blocks.push(blockOf(group, `${batch}-${blocks.length}`, blockShard(spanMs, draw)));
    }
  }
  return { blocks, alone };
}

const bytesOf = (event: NewEvent): number => Buffer.byteLength(JSON.stringify(event));

const timeOf = ({ occurred_at }: { occurred_at: string }): number => Date.parse(occurred_at);

/** The shortest period that holds enough events from this one on, else the longest. */
function endOfPeriod(sorted: readonly NewEvent[], from: number): number {
  const first = sorted[from];
  const start = first ? timeOf(first) : 0;
  let end = from;
  for (const ms of PERIODS_MS) {
    for (let next = sorted[end]; next && timeOf(next) <= start + ms; next = sorted[end]) end++;
    if (end - from >= ENOUGH_EVENTS) break;
  }
  return end;
}

function byActor(events: readonly NewEvent[]): NewEvent[][] {
  const groups: NewEvent[][] = [];
  let current: NewEvent[] = [];
  let bytes = 0;
  const close = () => {
    if (current.length > 0) groups.push(current);
    current = [];
    bytes = 0;
  };
  for (const ofActor of Map.groupBy(events, ({ actor }) => actor).values()) {
    const sizes = ofActor.map(bytesOf);
    const size = sizes.reduce((sum, byteCount) => sum + byteCount, 0);
    if (current.length + ofActor.length > MAX_EVENTS || bytes + size > MAX_BYTES) close();
    for (const [i, event] of ofActor.entries()) {
      const eventSize = sizes[i] ?? 0;
      if (current.length === MAX_EVENTS || bytes + eventSize > MAX_BYTES) close();
      current.push(event);
      bytes += eventSize;
    }
  }
  close();
  return groups;
}

function spanIn(events: readonly NewEvent[]): number {
  const times = events.map(timeOf);
  return Math.max(...times) - Math.min(...times);
}

function blockOf(events: NewEvent[], batch: string, shard: string): NewBlock {
  const [first = ""] = events.map(({ occurred_at }) => occurred_at).sort();
  return { key: { day: dayOf(first), shard, at: `${first}#${batch}` }, events };
}

export const blockWrite = (
  { key, events }: NewBlock,
  { received_at, source, historical }: Origin,
): ItemWrite<"workspace"> =>
  putItem(EventBlock, key, { react: "block", received_at, source, historical, rev: 1, events: packEvents(events) });

export const sealWrite = (key: BlockKey): ItemWrite<"workspace"> => putItem(EventSeal, key, {});

export const pointerRow = (key: BlockKey, { id }: Pick<PackedEvent, "id">) => ({
  key: { id },
  row: { block: blockText(key) },
});

/** The writes to the histories of the actors. @param batch of the block, or the id of an event that is stored alone */
export function actorWrites(
  events: readonly NewEvent[],
  {
    received_at,
    source,
    historical,
    key,
    watched,
  }: Origin & { key: BlockKey | undefined; watched: ReadonlySet<string> },
): ItemWrite<"workspace">[] {
  return [...Map.groupBy(events, ({ actor }) => actor)].map(([actor, ownEvents]) => {
    const until =
      ownEvents
        .map(({ occurred_at }) => occurred_at)
        .sort()
        .at(-1) ?? "";
    const batch = key ? batchOf(key) : (ownEvents[0]?.id ?? "");
    const reacting = ownEvents.filter(({ event_name }) => watched.has(event_name));
    return putItem(
      ActorEvents,
      { ...actorIn(actor), until, batch },
      {
        react: reacting.length > 0 ? "events" : undefined,
        actor,
        watched: reacting.length > 0 ? toJson(reacting.map(({ event_name, id }) => [event_name, id])) : undefined,
        block: key && blockText(key),
        received_at,
        source,
        historical,
        n: ownEvents.length,
        events: packEvents(ownEvents),
      },
    );
  });
}

export function blockKeyOf({ pk, sk }: Key): BlockKey {
  const [shard = "", day = ""] = pk.split("#").reverse();
  return { day, shard, at: sk };
}

/** The blocks of these names without a seal: their request is in progress, or ended early. */
export async function unsealed(store: StoreReader, blocks: Iterable<string>): Promise<BlockKey[]> {
  const keys = [...new Set(blocks)].map(blockKey);
  const seals = await store.getAll(EventSeal, keys);
  return keys.filter((_, i) => !seals[i]);
}

/** Removes an actor from the events of a block (EXP-11). */
export const maskActor = (store: Store, key: BlockKey, actor: string, eraseProperties: boolean): Promise<void> =>
  changeBlock(store, key, (event) => {
    if (event.actor !== actor) return event;
    return { ...event, actor: null, ...(eraseProperties && { properties: {} }) };
  });

/** Removes events from a block whose idempotency keys another request used first. */
export const takeOut = (store: Store, key: BlockKey, repeated: ReadonlySet<string>): Promise<void> =>
  changeBlock(store, key, (event) => (repeated.has(event.id) ? undefined : event));

/** Rewrites a block, or removes it if no event is left; concurrent changes are kept. */
async function changeBlock(
  store: Store,
  key: BlockKey,
  change: (event: PackedEvent) => PackedEvent | undefined,
): Promise<void> {
  for (let isDone = false; !isDone; ) {
    const block = await store.get(EventBlock, key);
    if (!block) return;
    const before = unpackEvents(block.events);
    const events = before.map(change).filter((event) => event !== undefined);
    if (events.length === before.length && events.every((event, i) => event === before[i])) return;
    const { received_at, source, historical, rev } = block;
    const row = { react: "block" as const, received_at, source, historical, rev: rev + 1, events: packEvents(events) };
    const write =
      events.length > 0
        ? store.put(EventBlock, key, row, is("rev", rev))
        : store.remove(EventBlock, key, is("rev", rev));
    isDone = await happened(write);
  }
}

/** The rows by which events of a block can be found by their ids. */
export const pointerWrites = (key: BlockKey, events: readonly PackedEvent[]): ItemWrite<"workspace">[] =>
  events.map((event) => {
    const { key: id, row } = pointerRow(key, event);
    return putItem(EventItem, id, row);
  });
