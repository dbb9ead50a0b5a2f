// Events in the order of time, page by page: a merge of the partitions that hold them (EXP-7 to EXP-11).
import * as v from "valibot";
import { invalid } from "../../http/errors.ts";
import { openCursor, pageRoom, sealCursor } from "../../http/paging.ts";
import type { StoreReader } from "../../resources.ts";
import { indexes, keys, SHARDS } from "../keys.ts";
import type { Item } from "../model.ts";
import type { RootSecrets } from "../secrets.ts";
import { ownersOf } from "../subscribers/aliases.ts";
import { type DayShard, noted } from "./days.ts";
import { dayOf, eventOf, type StoredEvent } from "./events.ts";

export interface ExportQuery {
  /** Included. */
  from?: string | undefined;
  /** Not included; frozen at the first page when it is not given. */
  to?: string | undefined;
  cursor?: string | undefined;
  limit: number;
}

export interface ExportedEvent extends Omit<StoredEvent, "actor"> {
  subscriber_id: string | null;
  anonymous_id: string | null;
}

interface Window {
  from: string;
  to: string;
  /** `occurred_at#id` of the last row of the page before. */
  last?: string | undefined;
}

const Window = v.object({ from: v.string(), to: v.string(), last: v.string() });

const BEGINNING = "0000-01-01T00:00:00.000Z";
/** Sorts right behind a place: ids are of one length. */
const BEHIND = "!";

/**
 * One page. A row present when the first page was asked for is on exactly one page, whatever is stored meanwhile; what
 * arrives late and lies before the cursor is not seen by this pass (ARC-6).
 * @throws 422 for a window that ends before it begins, or a cursor of another workspace or window.
 */
export async function exportEvents(
  store: StoreReader,
  root: Pick<RootSecrets, "cursorKey">,
  query: ExportQuery,
): Promise<{ items: ExportedEvent[]; next_cursor: string }> {
  const scope = `events:${store.tenant}`;
  const window = windowOf(store, root, scope, query);
  const merged = merge(store, window, query.limit);
  const takes = pageRoom();
  const page: StoredEvent[] = [];
  let last: string | undefined;
  for await (const row of merged) {
    const event = eventOf(row);
    if (page.length === query.limit || !takes(event)) {
      const { from, to } = window;
      return { items: await resolve(store, page), next_cursor: sealCursor(root, scope, { from, to, last }) };
    }
    page.push(event);
    last = placeOf(row);
  }
  return { items: await resolve(store, page), next_cursor: "" };
}

function windowOf(
  store: StoreReader,
  root: Pick<RootSecrets, "cursorKey">,
  scope: string,
  { from, to, cursor }: ExportQuery,
): Window {
  if (cursor !== undefined) {
    const window = v.parse(Window, openCursor(root, scope, cursor));
    if ((from ?? window.from) !== window.from || (to ?? window.to) !== window.to)
      throw invalid({ cursor: "belongs to another window" });
    return window;
  }
  const window = { from: from ?? BEGINNING, to: to ?? new Date(store.clock.now()).toISOString() };
  if (window.from > window.to) throw invalid({ to: "must not lie before from" });
  return window;
}

const placeOf = ({ i1sk }: Item): string => String(i1sk);

/** Rows read from each partition beyond its even part of a page. */
const SPARE = 4;
const MIN_LIMIT = 16;

interface Partition {
  pk: string;
  rows: Item[];
  after: string;
  ended: boolean;
}

/** The rows of a window in order. Quiet days are read together, so that each does not cost a round of its own. */
async function* merge(store: StoreReader, { from, to, last }: Window, limit: number): AsyncGenerator<Item> {
  const after = last === undefined ? from : last + BEHIND;
  let left = limit + 1;
  for await (const places of grouped(noted(store, dayOf(after), dayOf(to)))) {
    const partitions = places.map(
      ({ day, shard }): Partition => ({ pk: indexes.i1(store.tenant, day, shard), rows: [], after, ended: false }),
    );
    const first = Math.ceil(left / partitions.length) + SPARE;
    const refill = async (partition: Partition, count: number) => {
      while (partition.rows.length === 0 && !partition.ended) {
        const { pk, after: start } = partition;
        const page = await store.query({ pk, index: "i1", from: start, to, limit: count, eventual: true });
        partition.rows.push(...page.items);
        const end = page.items.at(-1);
        if (end) partition.after = placeOf(end) + BEHIND;
        partition.ended = page.next === undefined;
      }
    };
    await Promise.all(partitions.map((partition) => refill(partition, first)));
    for (let next = lowest(partitions); next; next = lowest(partitions)) {
      left--;
      yield next.rows.shift()!;
      await refill(next, Math.min(first, Math.max(MIN_LIMIT, Math.ceil(left / partitions.length))));
    }
  }
}

const lowest = (partitions: readonly Partition[]): Partition | undefined =>
  partitions.reduce<Partition | undefined>((best, one) => {
    if (one.rows.length === 0) return best;
    return !best || placeOf(one.rows[0]!) < placeOf(best.rows[0]!) ? one : best;
  }, undefined);

/** Whole days, until they are as many partitions as a busy day has. */
async function* grouped(days: AsyncIterable<DayShard[]>): AsyncGenerator<DayShard[]> {
  let places: DayShard[] = [];
  for await (const day of days) {
    if (places.length > 0 && places.length + day.length > SHARDS.length) {
      yield places;
      places = [];
    }
    places.push(...day);
  }
  if (places.length > 0) yield places;
}

/** Anonymous ids as the subscribers they belong to; whoever is erased as nobody, from the tombstone on (EXP-11). */
async function resolve(store: StoreReader, events: readonly StoredEvent[]): Promise<ExportedEvent[]> {
  const distinct = (ids: (string | undefined)[]) => [...new Set(ids.filter((id) => id !== undefined))];
  const anonymousOf = ({ actor }: StoredEvent) => (actor && "anonymous" in actor ? actor.anonymous : undefined);
  const owners = await ownersOf(store, distinct(events.map(anonymousOf)));
  const subscriberOf = (event: StoredEvent): string | undefined =>
    event.actor && "subscriber" in event.actor ? event.actor.subscriber : owners.get(anonymousOf(event) ?? "");
  const subscribers = distinct(events.map(subscriberOf));
  const profiles = await store.getAll(subscribers.map((id) => keys.subscriber(store.tenant, id)));
  const tombstones = new Map(subscribers.flatMap((id, i) => (profiles[i]?.erased_at ? [[id, profiles[i]]] : [])));
  return events.map((event) => {
    const { actor: _, ...rest } = event;
    const subscriber = subscriberOf(event);
    const tombstone = tombstones.get(subscriber ?? "");
    const bare = tombstone?.erase_properties === true && { properties: {} };
    if (tombstone) return { ...rest, ...bare, subscriber_id: null, anonymous_id: null };
    return { ...rest, subscriber_id: subscriber ?? null, anonymous_id: anonymousOf(event) ?? null };
  });
}
