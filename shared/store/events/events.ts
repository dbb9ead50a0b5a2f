// Events as they are stored: alone in a row of their own, or packed in blocks.
import * as v from "valibot";
import { Timestamp } from "../../contract/schemas.ts";
import { hmacUnder } from "../../kernel/hmac.ts";
import { type TenantId, uuidOf } from "../../kernel/ids.ts";
import { numberOfEach } from "../../rules/counting.ts";
import type { Store, StoreReader } from "../context.ts";
import { type ItemWrite, idKeys, indexKey, type NewRowOf, putItem, type RowOf } from "../item.ts";
import { fromJson, toJson } from "../json-text.ts";
import type { Value } from "../model.ts";
import type { RootSecrets } from "../secrets.ts";
import { SHARDS } from "../shards.ts";
import { actorIn, actorText } from "./actors.ts";
import { blockKey } from "./block-keys.ts";
import { type Actor, EventBlock, EventItem, EventsByTime, eventSources } from "./items.ts";
import { type PackedEvent, unpackEvents } from "./packing.ts";

export const ExportedEvent = v.object({
  id: v.string(),
  subscriber_id: v.nullable(v.string()),
  anonymous_id: v.nullable(v.string()),
  event_name: v.string(),
  platform: v.nullable(v.string()),
  properties: v.record(v.string(), v.any()),
  occurred_at: Timestamp,
  received_at: Timestamp,
  source: v.picklist(eventSources),
});
export type ExportedEvent = v.InferOutput<typeof ExportedEvent>;

export interface StoredEvent extends Omit<ExportedEvent, "subscriber_id" | "anonymous_id"> {
  /** Undefined after the subscriber was erased. */
  actor: Actor | undefined;
  properties: { [name: string]: Value };
  /** The event starts no journey (AMB-134). */
  historical?: true | undefined;
}

/** Shared by the events of a request. */
export type Origin = Pick<StoredEvent, "received_at" | "source" | "historical">;

export type EventRow = RowOf<typeof EventItem>;

/**
 * The id of an event. The same idempotency key in a workspace gives the same id, so that a retry finds its own row
 * (EVT-8).
 */
export function eventId({ idKey }: Pick<RootSecrets, "idKey">, tenant: TenantId, idempotencyKey: string): string {
  return uuidOf(hmacUnder(idKey).update(`event|${tenant}|${idempotencyKey}`).digest(), 8);
}

/** The length of a time in `<occurred_at>#<id>`, the order of exports (EXP-7). */
const TIME_CHARACTERS = "2026-11-20T12:00:00.000Z".length;

export const dayOf = (occurredAt: string): string => occurredAt.slice(0, 10);

interface NewEventRow extends StoredEvent {
  actor: Actor;
  /** The partition of its day in the export index. */
  shard: string;
}

/** The key and the row of a new event that is stored alone. */
export function eventRow({ tenant }: Pick<Store, "tenant">, event: NewEventRow) {
  const { id, event_name, actor, platform, properties, occurred_at, received_at, source, historical, shard } = event;
  const row: NewRowOf<typeof EventItem> = {
    ...indexKey(EventsByTime, tenant, { day: dayOf(occurred_at), shard, occurred_at, id }),
    event_name,
    actor: actorText(actor),
    received_at,
    source,
    historical,
    platform: platform ?? undefined,
    properties: Object.keys(properties).length > 0 ? toJson(properties) : undefined,
  };
  return { key: { id }, row };
}

/** Writes an event without its actor: it stays in exports, and is removed from histories. */
export const anonymousWrite = (event: EventRow, eraseProperties: boolean): ItemWrite<"workspace"> => {
  const { pk: _, sk: __, actor: ___, properties, ...row } = event;
  return putItem(EventItem, { id: idOf(event) }, { ...row, properties: eraseProperties ? undefined : properties });
};

const idOf = ({ i1sk = "" }: Pick<EventRow, "i1sk">): string => i1sk.slice(TIME_CHARACTERS + 1);

export function eventOf(row: EventRow): StoredEvent {
  const {
    i1sk = "",
    event_name = "",
    platform = null,
    properties,
    received_at = "",
    source = "server",
    historical,
  } = row;
  return {
    id: idOf(row),
    event_name,
    actor: row.actor === undefined ? undefined : actorIn(row.actor),
    platform,
    properties: properties === undefined ? {} : fromJson(properties),
    occurred_at: i1sk.slice(0, TIME_CHARACTERS),
    received_at,
    source,
    historical,
  };
}

export function packedEventOf(
  { id, event_name, actor, platform, properties, occurred_at }: PackedEvent,
  { received_at, source, historical }: Origin,
): StoredEvent {
  const whose = actor === null ? undefined : actorIn(actor);
  return { id, event_name, actor: whose, platform, properties, occurred_at, received_at, source, historical };
}

/**
 * Finds an event by its id. An event from a batch is found only if it has an idempotency key, or if a journey or
 * conversion reacted to it on arrival.
 */
export const findEvent = async (store: StoreReader, id: string): Promise<StoredEvent | undefined> =>
  (await findEvents(store, [id]))[0];

/** Events by their ids, in their order, as `findEvent` finds each. A block is read once. */
export async function findEvents(store: StoreReader, ids: readonly string[]): Promise<(StoredEvent | undefined)[]> {
  const rows = await store.getAll(EventItem, idKeys(ids));
  const names = [...new Set(rows.flatMap((row) => row?.block ?? []))];
  const blocks = names.length === 0 ? [] : await store.getAll(EventBlock, names.map(blockKey));
  const asked = new Set(ids);
  const packed = new Map(
    blocks.flatMap((block) =>
      block
        ? unpackEvents(block.events)
            .filter(({ id }) => asked.has(id))
            .map((event) => [event.id, packedEventOf(event, block)] as const)
        : [],
    ),
  );
  return rows.map((row, i) => row && (row.block === undefined ? eventOf(row) : packed.get(ids[i] ?? "")));
}

/** Events of one day and request that share a partition of the export index. */
const EVENTS_PER_SHARD = 64;

/**
 * Spreads the events of a request that are stored alone over the partitions of their days. A few events share a
 * partition, so that exports of quiet days are cheap; many are spread, so that no partition is hot. @param days the day
 * of each event @param draw a random byte @returns the shard of each event, in the order of the calls
 */
export function shardChooser(days: readonly string[], draw: number): (day: string) => string {
  const counts = numberOfEach(days);
  const seen = new Map<string, number>();
  return (day) => {
    const width = Math.min(SHARDS.length, Math.ceil((counts[day] ?? 1) / EVENTS_PER_SHARD));
    const n = seen.get(day) ?? 0;
    seen.set(day, n + 1);
    return ((draw + (n % width)) % SHARDS.length).toString(16);
  };
}
