// The events of a subscriber that decide conditions of rules, gathered row by row, newest first.
import { MINUTE, timestamp } from "../../kernel/clock.ts";
import { compilePredicate } from "../../rules/predicates.ts";
import { type Facts, occurrencesNeeded } from "../../rules/segment-evaluation.ts";
import type { EventNode } from "../../rules/segment-rules.ts";
import { comparisonIn } from "../../rules/values.ts";
import type { StoredEvent } from "../events/events.ts";
import { eventsIn, HISTORY, untilOf } from "../events/history.ts";
import { ActorEvents } from "../events/items.ts";
import { rowOf } from "../item.ts";
import type { Item } from "../model.ts";

export interface History {
  /** The earliest time that a condition looks back to; empty if one has no window. */
  from: string;
  /**
   * Takes rows in the order of the table, newest first.
   * @param linkedAt when their visitor was identified: its events came to the subscriber no earlier
   * @returns whether older rows cannot change a result
   */
  take(rows: readonly Item[], linkedAt?: string): boolean;
  add(events: readonly StoredEvent[]): void;
  times: Facts["times"];
  /** The same without the historical events that were just ingested; undefined if there is none. */
  timesBefore(): Facts["times"] | undefined;
}

/** The most events of a name that are looked at for a condition whose `where` rejects most of them. */
const MAX_EXAMINED = 10_000;

const HISTORICAL_MS = 15 * MINUTE;

/** A segment change that follows from historical events since this time is historical too (AMB-133, AMB-134). */
export const recently = (now: number): string => timestamp(now - HISTORICAL_MS);

/** Conditions live as long as the rules that an environment caches. */
const compiled = new WeakMap<EventNode, ReturnType<typeof compilePredicate>>();

function testOf(node: EventNode): ReturnType<typeof compilePredicate> {
  const test = compiled.get(node) ?? compilePredicate(node.where ?? {}, comparisonIn(node.zone));
  compiled.set(node, test);
  return test;
}

interface Moments {
  /** Events after it are left out. */
  until?: number;
  /** When the change happened that is evaluated: a worker may be late. Default: now. */
  changedAt?: number | undefined;
}

/** @param now when the conditions are judged. All in milliseconds. */
export function openHistory(
  conditions: readonly EventNode[],
  now: number,
  { until = Number.POSITIVE_INFINITY, changedAt = now }: Moments = {},
): History {
  const longest = Math.max(...conditions.map(({ within = Number.POSITIVE_INFINITY }) => within));
  const byName = new Map<string, Map<string, StoredEvent>>(conditions.map(({ name }) => [name, new Map()]));
  const satisfying = (node: EventNode): StoredEvent[] => {
    const satisfies = testOf(node);
    return [...(byName.get(node.name)?.values() ?? [])].filter(({ properties }) => satisfies(properties));
  };
  const since = recently(Math.min(now, changedAt));
  const isJustHistorical = (event: StoredEvent) => event.historical === true && event.received_at >= since;
  let hasHistorical = false;
  const add = (events: readonly StoredEvent[], linkedAt = "") => {
    for (const stored of events) {
      const event = stored.received_at < linkedAt ? { ...stored, received_at: linkedAt } : stored;
      // An event cannot happen after it was received.
      if (Math.min(Date.parse(event.occurred_at), Date.parse(event.received_at)) > until) continue;
      const named = byName.get(event.event_name);
      named?.set(event.id, event);
      hasHistorical ||= named !== undefined && isJustHistorical(event);
    }
  };
  const isExhausted = ({ name }: EventNode): boolean => (byName.get(name)?.size ?? 0) > MAX_EXAMINED;
  /** Whether events before this time cannot change a result. */
  const isDecided = (bound: string) =>
    conditions.every((node) => {
      if (isExhausted(node)) return true;
      const newer = satisfying(node).filter((event) => event.occurred_at >= bound && !isJustHistorical(event));
      return newer.length >= Math.max(1, occurrencesNeeded(node));
    });
  return {
    from: Number.isFinite(longest) ? new Date(now - longest).toISOString() : "",
    add,
    take: (rows, linkedAt) => {
      const histories = rows.filter(({ sk }) => sk.startsWith(HISTORY));
      for (const row of histories) add(eventsIn(rowOf(ActorEvents, row)), linkedAt);
      const last = histories.at(-1);
      return last !== undefined && isDecided(untilOf(last.sk));
    },
    times: (node) => timesOf(satisfying(node)),
    timesBefore: () =>
      hasHistorical ? (node) => timesOf(withoutCompleting(satisfying(node), isJustHistorical)) : undefined,
  };
}

const timesOf = (events: readonly StoredEvent[]): number[] =>
  events.map(({ occurred_at }) => Date.parse(occurred_at)).sort((a, b) => b - a);

/** Without the historical events after the last live one: these completed the condition. */
function withoutCompleting(events: readonly StoredEvent[], isHistorical: (event: StoredEvent) => boolean) {
  const live = events.filter((event) => !isHistorical(event)).map(({ received_at }) => received_at);
  const last = live.sort().at(-1) ?? "";
  return events.filter((event) => !isHistorical(event) || event.received_at < last);
}
