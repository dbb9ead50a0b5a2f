// What a subscriber has done under its id and its anonymous ids: for segments, journeys and attribution.
import type { StoreReader } from "../../resources.ts";
import type { Key } from "../model.ts";
import { aliasesOf } from "../subscribers/aliases.ts";
import { eventOf, inHistory, type StoredEvent } from "./events.ts";
import { type Actor, EventsByActor } from "./items.ts";

export interface HistoryRange {
  event_name: string;
  /** RFC 3339 in UTC with milliseconds, included. */
  from?: string | undefined;
  /** Not included. */
  to?: string | undefined;
  /** The most events to return: the newest ones. */
  limit?: number | undefined;
}

/**
 * The events of one name of a subscriber, including those of its anonymous ids, oldest first. They are read from an
 * index: an event that was stored a moment ago may be missing (docs/decisions/0021#event-indexes).
 */
export async function eventsOf(store: StoreReader, subscriber: string, range: HistoryRange): Promise<StoredEvent[]> {
  const actors: Actor[] = [{ subscriber }, ...(await aliasesOf(store, subscriber)).map((anonymous) => ({ anonymous }))];
  const histories = await Promise.all(actors.map((actor) => eventsOfActor(store, actor, range)));
  const newest = histories.flat().sort(later).slice(0, range.limit);
  return newest.reverse();
}

/** The events of one actor alone, newest first. */
export async function eventsOfActor(
  store: StoreReader,
  actor: Actor,
  { event_name, from = "", to = "~", limit = Number.POSITIVE_INFINITY }: HistoryRange,
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

const later = (a: StoredEvent, b: StoredEvent): number => {
  const [first, second] = [`${a.occurred_at}#${a.id}`, `${b.occurred_at}#${b.id}`];
  return first < second ? 1 : first > second ? -1 : 0;
};
