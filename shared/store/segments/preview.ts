// How many subscribers match a rule: exact up to 10,000, beyond that estimated from a range of ids, which are evenly
// distributed.
import { DAY, timestamp } from "../../kernel/clock.ts";
import type { Facts, Rule } from "../../rules/segment-evaluation.ts";
import type { StoreReader } from "../context.ts";
import { spanOf } from "../events/block-keys.ts";
import { noted } from "../events/days.ts";
import { dayOf, type StoredEvent } from "../events/events.ts";
import { openSource } from "../events/export-sources.ts";
import { SHARDS } from "../shards.ts";
import { ownersOf } from "../subscribers/aliases.ts";
import { type AudiencePage, audiencePage, isProfileRow } from "../subscribers/audience-pages.ts";
import { attributesForRules, countSubscribers, isLiving, type LivingProfile } from "../subscribers/subscribers.ts";
import { pagesOf } from "../table.ts";
import { openHistory } from "./event-history.ts";
import { judgeProfiles } from "./facts.ts";

/** D-PREVIEW. */
export const MAX_EXACT = 10_000;
/** The size of a sample: in subscribers and, where their profiles are large, in pages and bytes. */
const SAMPLE = 10_000;
const SAMPLE_PAGES = 18;
const SAMPLE_BYTES = 2.4 * 1_048_576;
/** A sample whose histories must be read is smaller: each is a request of its own, of half a read unit at least. */
const SAMPLE_OF_HISTORIES = 800;
/** For more subscribers than this, the events of the workspace are read instead of their histories. */
const MAX_HISTORIES = 50;
const MAX_IDS = 10;

interface Preview {
  estimated_count: number;
  sample_subscriber_ids: string[];
  exact: boolean;
}

export async function previewRule(store: StoreReader, rule: Rule): Promise<Preview> {
  const population = await profilesFor(store, [rule]);
  const matching = await idsMatching(store, rule, population);
  return { ...countOf(matching, population), exact: population.exact };
}

/** The subscribers that `to` adds and removes. @param from undefined where none matched before */
export async function previewChange(
  store: StoreReader,
  from: Rule | undefined,
  to: Rule,
): Promise<{ entering: Omit<Preview, "exact">; leaving: Omit<Preview, "exact">; exact: boolean }> {
  const population = await profilesFor(store, from ? [from, to] : [to]);
  const before = new Set(from ? await idsMatching(store, from, population) : []);
  const after = new Set(await idsMatching(store, to, population));
  return {
    entering: countOf(
      [...after].filter((id) => !before.has(id)),
      population,
    ),
    leaving: countOf(
      [...before].filter((id) => !after.has(id)),
      population,
    ),
    exact: population.exact,
  };
}

interface Population {
  profiles: LivingProfile[];
  /** How many subscribers there are. */
  size: number;
  exact: boolean;
}

/** Everybody, or a sample that is small enough for these rules. */
async function profilesFor(store: StoreReader, rules: readonly Rule[]): Promise<Population> {
  const total = await countSubscribers(store);
  const profiles = total <= MAX_EXACT ? await allProfiles(store) : undefined;
  if (profiles) return { profiles, size: profiles.length, exact: true };
  const size = Math.max(total, MAX_EXACT);
  const hasHistories = rules.some(({ events }) => events.length > 0);
  return {
    profiles: await sampleProfiles(store, hasHistories ? SAMPLE_OF_HISTORIES : SAMPLE, size),
    size,
    exact: false,
  };
}

function countOf(ids: readonly string[], { profiles, size, exact }: Population): Omit<Preview, "exact"> {
  const share = profiles.length === 0 ? 0 : ids.length / profiles.length;
  return {
    estimated_count: exact ? ids.length : Math.round(share * size),
    sample_subscriber_ids: ids.slice(0, MAX_IDS),
  };
}

const profilesOf = ({ rows }: AudiencePage): LivingProfile[] => rows.filter(isProfileRow).filter(isLiving);

/** All shards concurrently. @returns undefined if there are far more subscribers than the count says */
async function allProfiles(store: StoreReader): Promise<LivingProfile[] | undefined> {
  let found = 0;
  const shards = await Promise.all(
    SHARDS.map(async (shard) => {
      const profiles: LivingProfile[] = [];
      for await (const page of pagesOf((after?: string) => audiencePage(store, shard, { after, eventual: true }))) {
        profiles.push(...profilesOf(page));
        found += page.rows.length;
        if (found > 2 * MAX_EXACT) break;
      }
      return profiles;
    }),
  );
  const all = shards.flat();
  return all.length > MAX_EXACT ? undefined : all;
}

/** Subscribers with the lowest ids: an id says nothing about its subscriber. */
async function sampleProfiles(store: StoreReader, size: number, total: number): Promise<LivingProfile[]> {
  const profiles: LivingProfile[] = [];
  let bytes = 0;
  let pages = 0;
  const expected = Math.ceil(size / Math.max(1, total / SHARDS.length));
  for (const shard of SHARDS.slice(0, Math.max(1, expected) + 1)) {
    const read = (after?: string) =>
      audiencePage(store, shard, { after, eventual: true, limit: size - profiles.length });
    for await (const page of pagesOf(read)) {
      profiles.push(...profilesOf(page));
      bytes += Buffer.byteLength(JSON.stringify(page.rows));
      pages++;
      if (profiles.length >= size || pages >= SAMPLE_PAGES || bytes >= SAMPLE_BYTES) return profiles;
    }
  }
  return profiles;
}

/** Ids of the subscribers that match; events are read only where the attributes alone do not decide. */
async function idsMatching(store: StoreReader, rule: Rule, { profiles, exact }: Population): Promise<string[]> {
  const candidates = profiles.map((profile) => ({ profile, decided: rule.decidedBy(attributesForRules(profile)) }));
  const open = candidates.flatMap(({ profile, decided }) => (decided === undefined ? [profile] : []));
  const most = Math.min(MAX_UNITS, (open.length * UNITS_OF_HISTORY) / TRIED_SHARE);
  const timesOf = exact && open.length > MAX_HISTORIES ? await timesOfAll(store, rule, most) : undefined;
  const now = store.clock.now();
  const byEvents = timesOf
    ? open.filter((profile) => {
        const facts = { attributes: attributesForRules(profile), times: timesOf(profile.id), now };
        return rule.judge(facts).matches;
      })
    : (await judgeProfiles(store, rule, open, { eventual: true })).flatMap((verdict) =>
        verdict.matches ? [verdict.profile] : [],
      );
  const matching = new Set(byEvents.map(({ id }) => id));
  return candidates.flatMap(({ profile: { id }, decided }) => ((decided ?? matching.has(id)) ? [id] : []));
}

/** Beside 250 read units for the profiles of 10,000 subscribers, a preview stays within 450. */
const MAX_UNITS = 200;
/** At least, and read eventually consistent. */
const UNITS_OF_HISTORY = 0.5;
/** If the workspace has too many events, reading them has cost a quarter of the histories by then. */
const TRIED_SHARE = 4;
/** Read units of an event of ordinary size, in a block and alone. */
const UNITS_IN_BLOCK = 0.006;
const UNITS_ALONE = 0.06;
const EVENTS_AT_ONCE = 1_000;
const BEGINNING = "0000-01-01T00:00:00.000Z";

/**
 * The times of the events that a rule asks for, by subscriber.
 * @param most read units
 * @returns undefined if the workspace has too many events in the time that the rule looks back to
 */
async function timesOfAll(
  store: StoreReader,
  { events: conditions }: Rule,
  most: number,
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
      await source.fill(EVENTS_AT_ONCE);
      for (let event = source.head(); event; event = source.head()) {
        units += unitsOfEvent;
        if (units + byVisitor.size > most) return undefined;
        if (event.actor && names.has(event.event_name)) {
          const { kind, id } = event.actor;
          const group = kind === "subscriber" ? bySubscriber : byVisitor;
          group.set(id, [...(group.get(id) ?? []), event]);
        }
        source.shift();
        await source.fill(EVENTS_AT_ONCE);
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
