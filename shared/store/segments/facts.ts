// What rules read of a subscriber: the attributes of its profile, and as much of its event history as decides them.
import type { StoreReader } from "../../resources.ts";
import { compilePredicate } from "../../rules/predicates.ts";
import { type Facts, occurrencesNeeded, type Rule, type Verdict } from "../../rules/segment-evaluation.ts";
import type { EventNode } from "../../rules/segment-rules.ts";
import { eventOf, inHistory, type StoredEvent } from "../events/events.ts";
import { type Actor, EventsByActor } from "../events/items.ts";
import { rowOf } from "../item.ts";
import { SegmentMembership } from "../lists/items.ts";
import type { Item, Key } from "../model.ts";
import { SubscriberAlias } from "../subscribers/items.ts";
import { attributesForRules, type LivingProfile } from "../subscribers/subscribers.ts";
import { SegmentCheck } from "./items.ts";

const ATTRIBUTE = "a:";
const FIELDS = ["external_id", "email", "created_at"];

type Image = Readonly<Record<string, unknown>>;

/** The keys of what a rule can read that differ between two images of a profile. */
export function changedKeys(before: Image, after: Image): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names]
    .filter((name) => (name.startsWith(ATTRIBUTE) || FIELDS.includes(name)) && before[name] !== after[name])
    .map((name) => (name.startsWith(ATTRIBUTE) ? name.slice(ATTRIBUTE.length) : name));
}

/** What segments need of the rows that are stored with a subscriber. */
export interface SubscriberFacts {
  /** The subscriber and its anonymous ids. */
  actors: Actor[];
  /** Ids of the segments that it is in. */
  memberOf: Set<string>;
  /** The time of its timer for the next end of a window, if one is set. */
  checkAt: number | undefined;
}

/** Sort keys of the rows of a subscriber: the aliases are first, the timer is last. */
const ALIAS = "A#";
const MEMBERSHIP = "G#";
const CHECK = "GC";

/** Reads the rows of a subscriber from its aliases to its timer, which are one range. */
export async function readSubscriberFacts(store: StoreReader, subscriber: string): Promise<SubscriberFacts> {
  const facts: SubscriberFacts = { actors: [{ subscriber }], memberOf: new Set(), checkAt: undefined };
  let after: Key | undefined;
  do {
    const page = await store.queryRows(SegmentCheck, { subscriber }, { from: ALIAS, to: CHECK, after });
    for (const row of page.items) noteFact(facts, row);
    after = page.next;
  } while (after);
  return facts;
}

function noteFact(facts: SubscriberFacts, row: Item): void {
  if (row.sk.startsWith(ALIAS)) facts.actors.push({ anonymous: rowOf(SubscriberAlias, row).anonymous });
  else if (row.sk.startsWith(MEMBERSHIP)) {
    const { segment_id, member } = rowOf(SegmentMembership, row);
    if (member) facts.memberOf.add(segment_id);
  } else if (row.sk === CHECK) facts.checkAt = rowOf(SegmentCheck, row).at;
}

export interface History {
  times: Facts["times"];
  /** Whether an event is in what was read, or is older than that. */
  shows(event: Pick<StoredEvent, "id" | "event_name" | "occurred_at">): boolean;
}

/** The most events that are read of one name and actor where `where` rejects most of them. */
const MAX_EXAMINED = 10_000;
const PAGE_ROWS = 100;

/**
 * Reads the events that these conditions ask for, by one query for each name and actor. The index is eventually
 * consistent: an event of a moment ago can be missing, which `shows` reports.
 */
export async function readHistory(
  store: StoreReader,
  actors: readonly Actor[],
  conditions: readonly EventNode[],
): Promise<History> {
  const byName = [...Map.groupBy(conditions, ({ name }) => name)];
  const histories = new Map(
    await Promise.all(
      byName.map(async ([name, group]) => {
        const parts = await Promise.all(actors.map((actor) => readNewest(store, actor, name, group)));
        return [name, parts] as const;
      }),
    ),
  );
  const tests = new Map(conditions.map((node) => [node, compilePredicate(node.where ?? {})]));
  return {
    times: (node) => {
      const satisfies = tests.get(node) ?? compilePredicate(node.where ?? {});
      return (histories.get(node.name) ?? [])
        .flatMap(({ events }) => events)
        .filter(({ properties }) => satisfies(properties))
        .map(({ occurred_at }) => Date.parse(occurred_at))
        .sort((a, b) => b - a);
    },
    shows: ({ id, event_name, occurred_at }) => {
      const parts = histories.get(event_name);
      return !parts || parts.some(({ events, from }) => occurred_at < from || events.some((one) => one.id === id));
    },
  };
}

interface Newest {
  events: StoredEvent[];
  /** Older events were not read. */
  from: string;
}

/** Newest first, until every condition is decided or the longest window ends. */
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
  const firstLimit = Math.min(PAGE_ROWS, Math.max(...open.map(({ needed }) => needed)) + 1);
  const events: StoredEvent[] = [];
  let after: Key | undefined;
  let examined = 0;
  do {
    const page = await store.query(EventsByActor, actor, {
      from: inHistory(name, from),
      to: inHistory(name, "~"),
      newestFirst: true,
      limit: examined === 0 ? firstLimit : PAGE_ROWS,
      after,
    });
    examined += page.items.length;
    // A name may contain the separator: the event `a#2026…` is in the range of the event `a`.
    for (const event of page.items.map(eventOf).filter(({ event_name }) => event_name === name)) {
      events.push(event);
      for (const one of open) if (one.satisfies(event.properties)) one.needed--;
    }
    after = page.next;
  } while (after && !isDecided() && examined < MAX_EXAMINED);
  return { events, from: after ? (events.at(-1)?.occurred_at ?? from) : from };
}

/**
 * Evaluates a rule for a profile, as segments and journeys do. The other rows of the subscriber and its history are
 * read only where the attributes alone do not decide.
 */
export async function judgeProfile(
  store: StoreReader,
  rule: Rule,
  profile: LivingProfile,
): Promise<Verdict & { facts: SubscriberFacts | undefined }> {
  const attributes = attributesForRules(profile);
  const decided = rule.decidedBy(attributes);
  if (decided !== undefined) return { matches: decided, nextChangeAt: undefined, facts: undefined };
  const facts = await readSubscriberFacts(store, profile.id);
  const { times } = await readHistory(store, facts.actors, rule.events);
  return { ...rule.judge({ attributes, times, now: store.clock.now() }), facts };
}
