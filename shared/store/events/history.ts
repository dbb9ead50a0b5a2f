// The events of a subscriber under its id and its anonymous ids: for segments, journeys and attribution.
import { timestamp } from "../../kernel/clock.ts";
import { compareTexts } from "../../kernel/order.ts";
import type { StoreReader } from "../context.ts";
import type { RowOf } from "../item.ts";
import type { Key } from "../model.ts";
import { aliasesOf } from "../subscribers/aliases.ts";
import { pagesOf } from "../table.ts";
import { actorsOf } from "./actors.ts";
import { MAX_SPAN_MS } from "./block-keys.ts";
import { packedEventOf, type StoredEvent } from "./events.ts";
import { type Actor, ActorEvents } from "./items.ts";
import { unpackEvents } from "./packing.ts";

/** How the sort keys of a history begin: below all other rows of a subscriber. */
export const HISTORY = "0E#";

const TIME_CHARACTERS = "2026-11-20T12:00:00.000Z".length;

/** The time of the last event of a row of a history. */
export const untilOf = (sk: string): string => sk.slice(HISTORY.length, HISTORY.length + TIME_CHARACTERS);

/** The id of an event that is stored alone, by its row in the history. */
export const idOfAlone = (sk: string): string => sk.slice(HISTORY.length + TIME_CHARACTERS + 1);

export const eventsIn = (row: RowOf<typeof ActorEvents>): StoredEvent[] =>
  unpackEvents(row.events).map((event) => packedEventOf(event, row));

interface HistoryRange {
  /** One name, or several; every name where there is none. */
  event_name?: string | readonly string[] | undefined;
  /** RFC 3339 in UTC with milliseconds, included. */
  from?: string | undefined;
  /** Not included. */
  to?: string | undefined;
  /** The most events to return: the newest ones. */
  limit?: number | undefined;
}

/** Events of a subscriber by their names, including those of its anonymous ids, in their order. */
export async function eventsOf(store: StoreReader, subscriber: string, range: HistoryRange): Promise<StoredEvent[]> {
  const actors = actorsOf(subscriber, await aliasesOf(store, subscriber));
  const histories = await Promise.all(actors.map((actor) => eventsOfActor(store, actor, range)));
  return newest(histories.flat().sort(earlier), range.limit);
}

const PAGE_ROWS = 100;

/**
 * The events of one actor, in the order in which they occurred, and at one instant in the order of their receipt and
 * batch. Strongly consistent: an event is there before its request is answered.
 */
export async function eventsOfActor(store: StoreReader, actor: Actor, range: HistoryRange): Promise<StoredEvent[]> {
  const { from = "", to = "~", limit = Number.POSITIVE_INFINITY } = range;
  const names = range.event_name === undefined ? undefined : new Set([range.event_name].flat());
  const found: StoredEvent[][] = [];
  let after: Key | undefined;
  let isEnough = false;
  do {
    const page = await store.query(ActorEvents, actor, {
      newestFirst: true,
      after,
      from: HISTORY + from,
      to: `${HISTORY}${endOf(to)}~`,
      limit: PAGE_ROWS,
    });
    for (const row of page.items) {
      const isWanted = ({ event_name, occurred_at }: StoredEvent) =>
        (names?.has(event_name) ?? true) && occurred_at >= from && occurred_at < to;
      found.push(eventsIn(row).filter(isWanted));
    }
    // Later rows have no event after the last event of this one.
    const bound = untilOf(page.items.at(-1)?.sk ?? "");
    isEnough = found.flat().filter(({ occurred_at }) => occurred_at >= bound).length >= limit;
    after = page.next;
  } while (after && !isEnough);
  const once = new Map(found.reverse().flatMap((events) => events.map((event) => [event.id, event] as const)));
  return newest([...once.values()].sort(earlier), range.limit);
}

const newest = (events: readonly StoredEvent[], limit = Number.POSITIVE_INFINITY): StoredEvent[] =>
  limit < events.length ? events.slice(events.length - limit) : [...events];

/** A row whose last event is after the end of a range can begin before it. */
const endOf = (to: string): string => (to === "~" ? to : timestamp(Date.parse(to) + MAX_SPAN_MS));

/** Counts events page by page: a visitor may have more events than fit into memory. */
export async function countEvents(store: StoreReader, actor: Actor): Promise<number> {
  let sum = 0;
  for await (const { items } of pagesOf((after?: Key) => store.query(ActorEvents, actor, { after })))
    for (const { n } of items) sum += n;
  return sum;
}

/**
 * Events of one instant and receipt are in the order of their batch (AMB-136), which is that of their ids, also for two
 * names of one subscriber. The id of an event with an idempotency key has no order, so that event stays in its place.
 */
export const earlier = (a: StoredEvent, b: StoredEvent): number =>
  compareTexts(a.occurred_at, b.occurred_at) || compareTexts(a.received_at, b.received_at) || byIds(a.id, b.id);

const byIds = (a: string, b: string): number => (isOrdered(a) && isOrdered(b) ? compareTexts(a, b) : 0);

/** A UUID of version 7. */
const isOrdered = (id: string): boolean => id[14] === "7";
