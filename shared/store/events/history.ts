// What somebody has done, as whom ever: for segments, journeys and attribution.
import type { StoreReader } from "../../resources.ts";
import type { Key } from "../model.ts";
import { aliasesOf } from "../subscribers/aliases.ts";
import { type Actor, eventOf, historyOf, inHistory, type StoredEvent } from "./events.ts";

export interface HistoryRange {
  event_name: string;
  /** RFC 3339 in UTC with milliseconds, included. */
  from?: string | undefined;
  /** Not included. */
  to?: string | undefined;
  /** As many as are wanted, the newest. */
  limit?: number | undefined;
}

/**
 * The events of one name that a subscriber is known for, its anonymous ids' included, oldest first.
 * By an index: what was stored a moment ago may be missing (docs/decisions/0021#event-indexes).
 */
export async function eventsOf(store: StoreReader, subscriber: string, range: HistoryRange): Promise<StoredEvent[]> {
  const actors: Actor[] = [{ subscriber }, ...(await aliasesOf(store, subscriber)).map((anonymous) => ({ anonymous }))];
  const histories = await Promise.all(actors.map((actor) => eventsOfActor(store, actor, range)));
  const newest = histories.flat().sort(later).slice(0, range.limit);
  return newest.reverse();
}

/** The same of one actor alone, newest first. */
export async function eventsOfActor(
  store: StoreReader,
  actor: Actor,
  { event_name, from = "", to = "~", limit = Number.POSITIVE_INFINITY }: HistoryRange,
): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  let after: Key | undefined;
  do {
    const page = await store.query({
      ...{ pk: historyOf(store.tenant, actor), index: "i2", newestFirst: true, after },
      from: inHistory(event_name, from),
      to: inHistory(event_name, to),
      ...(Number.isFinite(limit) && { limit: limit - events.length }),
    });
    // A name may hold the separator: `a#2026…` lies among the events of `a`.
    events.push(...page.items.map(eventOf).filter((event) => event.event_name === event_name));
    after = page.next;
  } while (after && events.length < limit);
  return events;
}

const later = (a: StoredEvent, b: StoredEvent): number => {
  const [first, second] = [`${a.occurred_at}#${a.id}`, `${b.occurred_at}#${b.id}`];
  return first < second ? 1 : first > second ? -1 : 0;
};
