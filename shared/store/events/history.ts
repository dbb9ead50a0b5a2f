// What a subscriber has done under its id and its anonymous ids: for segments, journeys and attribution.
import { timestamp } from "../../kernel/clock.ts";
import type { StoreReader } from "../context.ts";
import type { RowOf } from "../item.ts";
import type { Key } from "../model.ts";
import { aliasesOf } from "../subscribers/aliases.ts";
import { MAX_SPAN_MS } from "./block-keys.ts";
import { hasFirstFormat } from "./days.ts";
import { eventOf, inHistory, packedEventOf, type StoredEvent } from "./events.ts";
import { type Actor, ActorEvents, EventsByActor } from "./items.ts";
import { unpackEvents } from "./packing.ts";

/** How the sort keys of a history begin: below all other rows of a subscriber. */
export const HISTORY = "0E#";

const TIME_CHARACTERS = "2026-11-20T12:00:00.000Z".length;

/** The time of the last event of a row of a history. */
export const untilOf = (sk: string): string => sk.slice(HISTORY.length, HISTORY.length + TIME_CHARACTERS);

/** The id of an event that is stored alone, by its row in the history. */
export const idOfAlone = (sk: string): string => sk.slice(HISTORY.length + TIME_CHARACTERS + 1);

/** The events of a row of a history. */
export const eventsIn = (row: RowOf<typeof ActorEvents>): StoredEvent[] =>
  unpackEvents(row.events).map((event) => packedEventOf(event, row));

export interface HistoryRange {
  /** One name, or several. */
  event_name: string | readonly string[];
  /** RFC 3339 in UTC with milliseconds, included. */
  from?: string | undefined;
  /** Not included. */
  to?: string | undefined;
  /** The most events to return: the newest ones. */
  limit?: number | undefined;
}

/** Events of a subscriber by their names, including those of its anonymous ids, oldest first. */
export async function eventsOf(store: StoreReader, subscriber: string, range: HistoryRange): Promise<StoredEvent[]> {
  const [aliases, isMixed] = await Promise.all([aliasesOf(store, subscriber), hasFirstFormat(store)]);
  const actors: Actor[] = [{ subscriber }, ...aliases.map((anonymous) => ({ anonymous }))];
  const histories = await Promise.all(actors.map((actor) => readActor(store, actor, range, isMixed)));
  const newest = histories.flat().sort(later).slice(0, range.limit);
  return newest.reverse();
}

/** The events of one actor alone, newest first. */
export const eventsOfActor = async (store: StoreReader, actor: Actor, range: HistoryRange): Promise<StoredEvent[]> =>
  readActor(store, actor, range, await hasFirstFormat(store));

async function readActor(
  store: StoreReader,
  actor: Actor,
  range: HistoryRange,
  isMixed: boolean,
): Promise<StoredEvent[]> {
  const names = [range.event_name].flat();
  const own = await readHistory(store, actor, new Set(names), range);
  const old = isMixed ? await Promise.all(names.map((name) => readFirstFormat(store, actor, name, range))) : [];
  return [...own, ...old.flat()].sort(later).slice(0, range.limit);
}

const PAGE_ROWS = 100;

/** Strongly consistent: an event is in its history before its request is answered. */
async function readHistory(
  store: StoreReader,
  actor: Actor,
  names: ReadonlySet<string>,
  { from = "", to = "~", limit = Number.POSITIVE_INFINITY }: HistoryRange,
): Promise<StoredEvent[]> {
  const found = new Map<string, StoredEvent>();
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
    for (const event of page.items.flatMap(eventsIn))
      if (names.has(event.event_name) && event.occurred_at >= from && event.occurred_at < to)
        found.set(event.id, event);
    // The rows to come have no event after the last event of this one.
    const bound = untilOf(page.items.at(-1)?.sk ?? "");
    isEnough = [...found.values()].filter(({ occurred_at }) => occurred_at >= bound).length >= limit;
    after = page.next;
  } while (after && !isEnough);
  return [...found.values()];
}

/** A row whose last event is after the end of a range can begin before it. */
const endOf = (to: string): string => (to === "~" ? to : timestamp(Date.parse(to) + MAX_SPAN_MS));

/** Of events that were stored before there were blocks: an index, which is complete by now. */
async function readFirstFormat(
  store: StoreReader,
  actor: Actor,
  event_name: string,
  { from = "", to = "~", limit = Number.POSITIVE_INFINITY }: HistoryRange,
): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  let after: Key | undefined;
  do {
    const page = await store.query(EventsByActor, actor, {
      newestFirst: true,
      after,
      from: inHistory(event_name, from),
      to: inHistory(event_name, to),
      ...(Number.isFinite(limit) && { limit: limit - events.length }),
    });
    // A name may contain the separator: events named `a#2026…` are in the range of the events named `a`.
    events.push(...page.items.map(eventOf).filter((event) => event.event_name === event_name));
    after = page.next;
  } while (after && events.length < limit);
  return events;
}

/** How many events an actor has. */
export async function countEvents(store: StoreReader, actor: Actor, isMixed: boolean): Promise<number> {
  const rows = await store.queryAll(ActorEvents, actor);
  const old = isMixed ? await store.count(EventsByActor, actor) : 0;
  return rows.reduce((sum, { n }) => sum + n, old);
}

const later = (a: StoredEvent, b: StoredEvent): number => {
  const [first, second] = [`${a.occurred_at}#${a.id}`, `${b.occurred_at}#${b.id}`];
  return first < second ? 1 : first > second ? -1 : 0;
};
