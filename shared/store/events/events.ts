// Events as they are stored: one immutable row each, found again by time for exports and by actor for histories.
import { createHmac } from "node:crypto";
import { uuidOf } from "../../clock.ts";
import type { Store } from "../../resources.ts";
import type { Tier } from "../../rules/event-limits.ts";
import { indexes, keys, SHARDS } from "../keys.ts";
import type { Item, TenantId, Value } from "../model.ts";
import type { RootSecrets } from "../secrets.ts";

export type Actor = { subscriber: string } | { anonymous: string };

export interface StoredEvent {
  id: string;
  event_name: string;
  /** Undefined once the subscriber it led to is erased. */
  actor: Actor | undefined;
  platform: string | null;
  properties: { [name: string]: Value };
  occurred_at: string;
  received_at: string;
  source: Tier;
}

/** EVT-8: the same key of a workspace is the same event, so a repeat meets its own row. */
export function eventId({ idKey }: Pick<RootSecrets, "idKey">, tenant: TenantId, idempotencyKey: string): string {
  return uuidOf(createHmac("sha256", idKey).update(`event|${tenant}|${idempotencyKey}`).digest(), 8);
}

/** In index keys, so that an anonymous id can never be taken for a subscriber's. */
const SUBSCRIBER = "S#";
const ANONYMOUS = "A#";

const textOf = (actor: Actor): string =>
  "subscriber" in actor ? SUBSCRIBER + actor.subscriber : ANONYMOUS + actor.anonymous;

/** The partition of an actor's history. */
export const historyOf = (tenant: TenantId, actor: Actor): string => indexes.i2(tenant, textOf(actor));

/** `occurred_at#id`: the order of exports (EXP-7). */
const PLACE_TIME = "2026-11-20T12:00:00.000Z".length;

/** Where a time begins among the events of one name in a history: before the events of that very time. */
export const inHistory = (name: string, occurredAt: string): string => `${name}#${occurredAt}`;

export const dayOf = (occurredAt: string): string => occurredAt.slice(0, 10);

export interface EventRow extends Omit<StoredEvent, "actor"> {
  actor: Actor;
  /** Which of the day's partitions of the export index it lies in. */
  shard: string;
  /** Whether anything of the workspace reacts to it. */
  isWatched: boolean;
}

/** The actor lies in index keys alone: without them nothing of the row leads to anybody. */
export function eventRow({ tenant }: Pick<Store, "tenant">, event: EventRow): Item {
  const { id, event_name, actor, platform, properties, occurred_at, received_at, source, shard, isWatched } = event;
  return {
    ...keys.event(tenant, id),
    i1pk: indexes.i1(tenant, dayOf(occurred_at), shard),
    i1sk: `${occurred_at}#${id}`,
    i2pk: historyOf(tenant, actor),
    i2sk: `${inHistory(event_name, occurred_at)}#`,
    event_name,
    received_at,
    source,
    ...(platform !== null && { platform }),
    ...(Object.keys(properties).length > 0 && { properties: JSON.stringify(properties) }),
    ...(isWatched && { react: "event" }),
  };
}

/** The row without its actor: it stays in exports and is in nobody's history. */
export function withoutActor({ i2pk: _, i2sk: __, react: ___, ...row }: Item, eraseProperties: boolean): Item {
  if (!eraseProperties) return row;
  const { properties: ____, ...bare } = row;
  return bare as Item;
}

export function eventOf(row: Item): StoredEvent {
  const place = String(row.i1sk);
  return {
    id: place.slice(PLACE_TIME + 1),
    event_name: String(row.event_name),
    actor: actorOf(row),
    platform: row.platform === undefined ? null : String(row.platform),
    properties: row.properties === undefined ? {} : JSON.parse(String(row.properties)),
    occurred_at: place.slice(0, PLACE_TIME),
    received_at: String(row.received_at),
    source: row.source as Tier,
  };
}

function actorOf({ pk, i2pk }: Item): Actor | undefined {
  if (i2pk === undefined) return undefined;
  const tenant = pk.split("#")[1] as TenantId;
  const text = String(i2pk).slice(indexes.i2(tenant, "").length);
  return text.startsWith(SUBSCRIBER)
    ? { subscriber: text.slice(SUBSCRIBER.length) }
    : { anonymous: text.slice(ANONYMOUS.length) };
}

/** A partition of the export index per so many events of a day in one request. */
const EVENTS_PER_SHARD = 64;

/**
 * Spreads the events of a request over the partitions of their days: a few lie together, so that exports of quiet days
 * are cheap, many lie apart, so that no partition is hot.
 */
export function shardsFor(days: readonly string[], draw: number): string[] {
  const counts = new Map<string, number>();
  for (const day of days) counts.set(day, (counts.get(day) ?? 0) + 1);
  const seen = new Map<string, number>();
  return days.map((day) => {
    const width = Math.min(SHARDS.length, Math.ceil(counts.get(day)! / EVENTS_PER_SHARD));
    const n = seen.get(day) ?? 0;
    seen.set(day, n + 1);
    return SHARDS[(draw + (n % width)) % SHARDS.length]!;
  });
}
