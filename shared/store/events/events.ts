// Events as they are stored: one immutable row each. The actor and the time are in the index keys.
import { createHmac } from "node:crypto";
import * as v from "valibot";
import { uuidOf } from "../../clock.ts";
import { Timestamp } from "../../http/schemas.ts";
import type { Store } from "../../resources.ts";
import { fromJson, type ItemWrite, indexKey, putItem, type RowOf, toJson } from "../item.ts";
import type { TenantId, Value } from "../model.ts";
import type { RootSecrets } from "../secrets.ts";
import { SHARDS } from "../shards.ts";
import { type Actor, EventItem, EventsByActor, EventsByTime, eventSources } from "./items.ts";

/** An event as it is exported. */
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
  /** Undefined once the subscriber was erased. */
  actor: Actor | undefined;
  properties: { [name: string]: Value };
}

export type EventRow = RowOf<typeof EventItem>;

/** EVT-8: the same idempotency key in a workspace gives the same id, so a retry finds its own row. */
export function eventId({ idKey }: Pick<RootSecrets, "idKey">, tenant: TenantId, idempotencyKey: string): string {
  return uuidOf(createHmac("sha256", idKey).update(`event|${tenant}|${idempotencyKey}`).digest(), 8);
}

/** The length of a time in `<occurred_at>#<id>`, the order of exports (EXP-7). */
const TIME_CHARACTERS = "2026-11-20T12:00:00.000Z".length;

/** Where a time begins among the events of one name in a history: before the events of that very time. */
export const inHistory = (name: string, occurredAt: string): string => `${name}#${occurredAt}`;

export const dayOf = (occurredAt: string): string => occurredAt.slice(0, 10);

export interface NewEventRow extends StoredEvent {
  actor: Actor;
  /** The partition of its day in the export index. */
  shard: string;
  /** Whether anything of the workspace reacts to it. */
  isWatched: boolean;
}

export function eventWrite({ tenant }: Pick<Store, "tenant">, event: NewEventRow): ItemWrite<"workspace"> {
  const { id, event_name, actor, platform, properties, occurred_at, received_at, source, shard, isWatched } = event;
  return putItem(
    EventItem,
    { id },
    {
      ...indexKey(EventsByTime, tenant, { day: dayOf(occurred_at), shard, occurred_at, id }),
      ...indexKey(EventsByActor, tenant, { ...actor, event_name, occurred_at }),
      event_name,
      received_at,
      source,
      platform: platform ?? undefined,
      properties: Object.keys(properties).length > 0 ? toJson(properties) : undefined,
      react: isWatched ? "event" : undefined,
    },
  );
}

/** Writes an event without its actor: it stays in exports, and is in no history any more. */
export const anonymousWrite = (event: EventRow, eraseProperties: boolean): ItemWrite<"workspace"> => {
  const { pk: _, sk: __, i2pk: ___, i2sk: ____, react: _____, properties, ...row } = event;
  return putItem(EventItem, { id: idOf(event) }, { ...row, properties: eraseProperties ? undefined : properties });
};

const idOf = ({ i1sk }: EventRow): string => i1sk.slice(TIME_CHARACTERS + 1);

export function eventOf(row: EventRow): StoredEvent {
  const { i1sk, event_name, platform = null, properties, received_at, source } = row;
  return {
    id: idOf(row),
    event_name,
    actor: actorOf(row),
    platform,
    properties: properties === undefined ? {} : fromJson(properties),
    occurred_at: i1sk.slice(0, TIME_CHARACTERS),
    received_at,
    source,
  };
}

/** The actor in `T#<tenant>#H#S#<subscriber>` or `T#<tenant>#H#A#<anonymous id>`. */
function actorOf({ i2pk }: EventRow): Actor | undefined {
  if (i2pk === undefined) return undefined;
  const [, , , kind, ...id] = i2pk.split("#");
  return kind === "S" ? { subscriber: id.join("#") } : { anonymous: id.join("#") };
}

/** Events of one day and request that share a partition of the export index. */
const EVENTS_PER_SHARD = 64;

/**
 * Spreads the events of a request over the partitions of their days. A few events share a partition, so that exports
 * of quiet days are cheap; many are spread, so that no partition is hot.
 * @param days the day of each event
 * @param draw a random byte
 * @returns the shard of each event, in the order of the calls.
 */
export function shardChooser(days: readonly string[], draw: number): (day: string) => string {
  const counts = new Map<string, number>();
  for (const day of days) counts.set(day, (counts.get(day) ?? 0) + 1);
  const seen = new Map<string, number>();
  return (day) => {
    const width = Math.min(SHARDS.length, Math.ceil((counts.get(day) ?? 1) / EVENTS_PER_SHARD));
    const n = seen.get(day) ?? 0;
    seen.set(day, n + 1);
    return ((draw + (n % width)) % SHARDS.length).toString(16);
  };
}
