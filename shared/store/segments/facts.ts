// What rules ask of a subscriber: attributes from the profile, and from the history of events no more than decides.

import type { StoreReader } from "../../resources.ts";
import { compilePredicate } from "../../rules/predicates.ts";
import { type Facts, occurrencesNeeded, type Rule, type Verdict } from "../../rules/segment-evaluation.ts";
import type { EventNode } from "../../rules/segment-rules.ts";
import { type Actor, eventOf, historyOf, inHistory, type StoredEvent } from "../events/events.ts";
import { keys } from "../keys.ts";
import type { Item, Key } from "../model.ts";
import { allItems } from "../pages.ts";
import { attributesForRules } from "../subscribers/subscribers.ts";

const ATTRIBUTE = "a:";
const FIELDS = ["external_id", "email", "created_at"];

/** Keys of what a rule sees that differ between two images of a profile. */
export function changedKeys(before: Item, after: Item): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names]
    .filter((name) => (name.startsWith(ATTRIBUTE) || FIELDS.includes(name)) && before[name] !== after[name])
    .map((name) => (name.startsWith(ATTRIBUTE) ? name.slice(ATTRIBUTE.length) : name));
}

/** A subscriber's own rows that segments need: whom it is known as, where it is a member, and the timer that is set. */
export interface SubscriberFacts {
  actors: Actor[];
  /** Ids of segments it is in. */
  memberOf: Set<string>;
  /** When its next window ends, as far as a timer is set for that. */
  checkAt: number | undefined;
}

export async function readSubscriberFacts(store: StoreReader, id: string): Promise<SubscriberFacts> {
  const facts: SubscriberFacts = { actors: [{ subscriber: id }], memberOf: new Set(), checkAt: undefined };
  const check = keys.segmentCheck(store.tenant, id);
  for (const row of await allItems(store, { pk: check.pk, from: "A#", to: check.sk }))
    if (row.sk.startsWith("A#")) facts.actors.push({ anonymous: String(row.anonymous) });
    else if (row.sk.startsWith("G#") && row.member === true) facts.memberOf.add(String(row.segment_id));
    else if (row.sk === check.sk) facts.checkAt = Number(row.at);
  return facts;
}

export interface History {
  times: Facts["times"];
  /** Whether an event is in what was read, or lies before it. */
  shows(event: Pick<StoredEvent, "id" | "event_name" | "occurred_at">): boolean;
}

/** Events looked at of one name and actor where `where` leaves most of them out. */
const MAX_EXAMINED = 10_000;
const PAGE = 100;

/**
 * What a subscriber did that these conditions ask for, by one query a name and actor.
 * By an index: what was stored a moment ago may be missing, which `shows` tells.
 */
export async function readHistory(
  store: StoreReader,
  actors: readonly Actor[],
  conditions: readonly EventNode[],
): Promise<History> {
  const byName = Map.groupBy(conditions, ({ name }) => name);
  const read = new Map(
    await Promise.all(
      [...byName].map(async ([name, asked]) => {
        const parts = await Promise.all(actors.map((actor) => readNewest(store, actor, name, asked)));
        return [name, parts] as const;
      }),
    ),
  );
  const satisfies = new Map(conditions.map((node) => [node, compilePredicate(node.where ?? {})]));
  return {
    times: (node) =>
      (read.get(node.name) ?? [])
        .flatMap(({ events }) => events)
        .filter(({ properties }) => satisfies.get(node)!(properties))
        .map(({ occurred_at }) => Date.parse(occurred_at))
        .sort((a, b) => b - a),
    shows: ({ id, event_name, occurred_at }) =>
      !read.has(event_name) ||
      read.get(event_name)!.some(({ events, from }) => occurred_at < from || events.some((one) => one.id === id)),
  };
}

interface Newest {
  events: StoredEvent[];
  /** Older ones were not read. */
  from: string;
}

/** Newest first, until every condition has what decides it or the longest window ends. */
async function readNewest(
  store: StoreReader,
  actor: Actor,
  name: string,
  conditions: readonly EventNode[],
): Promise<Newest> {
  const now = store.clock.now();
  const longest = Math.max(...conditions.map(({ within = Number.POSITIVE_INFINITY }) => within));
  const from = Number.isFinite(longest) ? new Date(now - longest).toISOString() : "";
  const open = conditions.map((node) => ({
    satisfies: compilePredicate(node.where ?? {}),
    needed: Math.max(1, occurrencesNeeded(node)),
  }));
  const isDecided = () => open.every(({ needed }) => needed <= 0);
  const limit = Math.min(PAGE, Math.max(...open.map(({ needed }) => needed)) + 1);
  const events: StoredEvent[] = [];
  let after: Key | undefined;
  let examined = 0;
  do {
    const page = await store.query({
      ...{ pk: historyOf(store.tenant, actor), index: "i2", newestFirst: true, after },
      from: inHistory(name, from),
      to: inHistory(name, "~"),
      limit: examined === 0 ? limit : PAGE,
    });
    examined += page.items.length;
    // A name may hold the separator: `a#2026…` lies among the events of `a`.
    for (const event of page.items.map(eventOf).filter(({ event_name }) => event_name === name)) {
      events.push(event);
      for (const one of open) if (one.satisfies(event.properties)) one.needed--;
    }
    after = page.next;
  } while (after && !isDecided() && examined < MAX_EXAMINED);
  return { events, from: after ? (events.at(-1)?.occurred_at ?? from) : from };
}

/**
 * Judges a living profile by a rule, as segments and journeys do; the rows of the subscriber and its history are read
 * only where the attributes do not settle the matter.
 */
export async function judgeProfile(
  store: StoreReader,
  rule: Rule,
  profile: Item,
): Promise<Verdict & { facts: SubscriberFacts | undefined }> {
  const attributes = attributesForRules(profile);
  const settled = rule.decidedBy(attributes);
  if (settled !== undefined) return { matches: settled, nextChangeAt: undefined, facts: undefined };
  const facts = await readSubscriberFacts(store, String(profile.id));
  const { times } = await readHistory(store, facts.actors, rule.events);
  return { ...rule.judge({ attributes, times, now: store.clock.now() }), facts };
}
