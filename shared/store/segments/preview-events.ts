// The events of a workspace by their subscribers, for a preview: blocks have the events of hundreds of subscribers, whose
// histories would each be a query (docs/decisions/0065).
import { DAY, timestamp } from "../../kernel/clock.ts";
import type { Facts, Rule } from "../../rules/segment-evaluation.ts";
import type { StoreReader } from "../context.ts";
import { spanOf } from "../events/block-keys.ts";
import { noted } from "../events/days.ts";
import { dayOf, type StoredEvent } from "../events/events.ts";
import { openSource } from "../events/export-sources.ts";
import { ownersOf } from "../subscribers/aliases.ts";
import { openHistory } from "./event-history.ts";

/** Beside 250 read units for the profiles of 10,000 subscribers, a preview stays within 450. */
const MAX_UNITS = 200;
/** Read units of an event of ordinary size, in a block and alone. */
const UNITS_IN_BLOCK = 0.006;
const UNITS_ALONE = 0.06;
const EVENTS_AT_ONCE = 1_000;
const BEGINNING = "0000-01-01T00:00:00.000Z";

/**
 * The times of the events that a rule asks for, by subscriber.
 * @returns undefined if the workspace has too many events in the time that the rule looks back to
 */
export async function timesOfAll(
  store: StoreReader,
  { events: conditions }: Rule,
): Promise<((subscriber: string) => Facts["times"]) | undefined> {
  const now = store.clock.now();
  const window = { from: openHistory(conditions, now).from || BEGINNING, to: timestamp(now + DAY) };
  const names = new Set(conditions.map(({ name }) => name));
  const bySubscriber = new Map<string, StoredEvent[]>();
  const byVisitor = new Map<string, StoredEvent[]>();
  let units = 0;
  for await (const partitions of noted(store, dayOf(window.from), dayOf(window.to)))
    for (const partition of partitions) {
      const unitsOfEvent = spanOf(partition.shard) === undefined ? UNITS_ALONE : UNITS_IN_BLOCK;
      const source = openSource(store, partition, window);
      await source.refill(EVENTS_AT_ONCE);
      for (let event = source.first(); event; event = source.first()) {
        units += unitsOfEvent;
        if (units + byVisitor.size > MAX_UNITS) return undefined;
        if (event.actor && names.has(event.event_name)) {
          const [group, id] =
            "subscriber" in event.actor ? [bySubscriber, event.actor.subscriber] : [byVisitor, event.actor.anonymous];
          group.set(id, [...(group.get(id) ?? []), event]);
        }
        source.shift();
        await source.refill(EVENTS_AT_ONCE);
      }
    }
  for (const [anonymous, subscriber] of await ownersOf(store, [...byVisitor.keys()]))
    bySubscriber.set(subscriber, [...(bySubscriber.get(subscriber) ?? []), ...(byVisitor.get(anonymous) ?? [])]);
  return (subscriber) => {
    const history = openHistory(conditions, now);
    history.add(bySubscriber.get(subscriber) ?? []);
    return history.times;
  };
}
