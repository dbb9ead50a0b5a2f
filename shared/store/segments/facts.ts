// The facts about a subscriber for rules: the attributes of its profile, and as much of its event history as decides
// them.
import { chunksOf } from "../../rules/chunks.ts";
import type { Facts, Rule, Verdict } from "../../rules/segment-evaluation.ts";
import type { EventNode } from "../../rules/segment-rules.ts";
import type { StoreReader } from "../context.ts";
import { anonymousActor } from "../events/actors.ts";
import { HISTORY } from "../events/history.ts";
import { type Actor, ActorEvents } from "../events/items.ts";
import { type RowOf, rowOf } from "../item.ts";
import { SegmentMembership } from "../lists/items.ts";
import type { Item, Key } from "../model.ts";
import type { ReadOptions } from "../rows.ts";
import { SubscriberAlias } from "../subscribers/items.ts";
import { attributesForRules, type LivingProfile } from "../subscribers/subscribers.ts";
import { type History, openHistory, recently } from "./event-history.ts";
import { SegmentCheck } from "./items.ts";

const CONCURRENT_HISTORIES = 25;
const ATTRIBUTE = "a:";
const FIELDS = ["external_id", "email", "created_at"];

type Image = Readonly<Record<string, unknown>>;

/** The keys for rules that differ between two images of a profile. */
export function changedKeys(before: Image, after: Image): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names]
    .filter((name) => (name.startsWith(ATTRIBUTE) || FIELDS.includes(name)) && before[name] !== after[name])
    .map((name) => (name.startsWith(ATTRIBUTE) ? name.slice(ATTRIBUTE.length) : name));
}

/** The facts for segments from the rows of a subscriber. */
interface SubscriberFacts {
  /** Ids of the segments that it is in. */
  memberOf: Set<string>;
  /** The time of its timer for the next end of a window, if one is set. */
  checkAt: number | undefined;
  /** The times of the events that the conditions need. */
  times: Facts["times"];
  /** The same without the events that were taken in as historical just now, where there are some. */
  timesBefore?: Facts["times"] | undefined;
}

/** `changedAt`: see `openHistory`. */
type FactsOptions = ReadOptions & { changedAt?: number | undefined };

/** Sort keys of the rows of a subscriber: its history is first, then its aliases, and the timer is last. */
const ALIAS = "A#";
const MEMBERSHIP = "G#";
const CHECK = "GC";

/** Rows of the first request: usually the newest events decide, and each row that is read costs. */
const FIRST_ROWS = 8;
const MAX_ROWS = 1_000;

/** Each further request reads four times as many. */
const moreThan = (rows: number): number => Math.min(4 * rows, MAX_ROWS);

/**
 * Reads memberships, aliases and as much of the history as decides these conditions: one range, newest first. The
 * history is strongly consistent, unless `options` say otherwise.
 */
export async function readSubscriberFacts(
  store: StoreReader,
  subscriber: string,
  conditions: readonly EventNode[],
  { changedAt, ...options }: FactsOptions = {},
): Promise<SubscriberFacts> {
  const facts: Omit<SubscriberFacts, "times"> = { memberOf: new Set(), checkAt: undefined };
  const visitors: RowOf<typeof SubscriberAlias>[] = [];
  const history = openHistory(conditions, store.clock.now(), { changedAt });
  const from = conditions.length > 0 ? HISTORY + history.from : MEMBERSHIP;
  let after: Key | undefined;
  let limit = FIRST_ROWS;
  do {
    const range = { from, to: CHECK, newestFirst: true, limit, after, ...options };
    const page = await store.queryRows(SegmentCheck, { subscriber }, range);
    for (const row of page.items)
      if (row.sk.startsWith(ALIAS)) visitors.push(rowOf(SubscriberAlias, row));
      else noteFact(facts, row);
    after = history.take(page.items) ? undefined : page.next;
    limit = moreThan(limit);
  } while (after);
  for (const { anonymous, at: linkedAt } of visitors)
    await readActor(store, anonymousActor(anonymous), history, { ...options, linkedAt });
  return { ...facts, times: history.times, timesBefore: history.timesBefore() };
}

function noteFact(facts: Omit<SubscriberFacts, "times">, row: Item): void {
  if (row.sk.startsWith(MEMBERSHIP)) {
    const { segment_id, member } = rowOf(SegmentMembership, row);
    if (member) facts.memberOf.add(segment_id);
  } else if (row.sk === CHECK) facts.checkAt = rowOf(SegmentCheck, row).at;
}

/**
 * As much of the histories of these actors as decides the conditions.
 * @param at in milliseconds: events after it do not count
 */
export async function readHistory(
  store: StoreReader,
  actors: readonly Actor[],
  conditions: readonly EventNode[],
  at: number,
): Promise<Pick<SubscriberFacts, "times">> {
  const history = openHistory(conditions, at, { until: at });
  for (const actor of actors) await readActor(store, actor, history);
  return { times: history.times };
}

async function readActor(
  store: StoreReader,
  actor: Actor,
  history: History,
  { linkedAt, ...options }: ReadOptions & { linkedAt?: string | undefined } = {},
): Promise<void> {
  const bounds = { from: HISTORY + history.from, to: `${HISTORY}~`, newestFirst: true, ...options };
  let after: Key | undefined;
  let limit = FIRST_ROWS;
  do {
    const range = { ...bounds, limit, after };
    const page = await store.queryRows(ActorEvents, actor, range);
    after = history.take(page.items, linkedAt) ? undefined : page.next;
    limit = moreThan(limit);
  } while (after);
}

/**
 * Evaluates a rule for a profile, as segments and journeys do. The other rows of the subscriber and its history are
 * read only where the attributes alone do not decide.
 */
async function judgeProfile(
  store: StoreReader,
  rule: Rule,
  profile: LivingProfile,
  options: FactsOptions = {},
): Promise<Verdict & Pick<SubscriberVerdict, "facts" | "isHistorical">> {
  const attributes = attributesForRules(profile);
  const decided = rule.decidedBy(attributes);
  const now = store.clock.now();
  const isImported = profile.historical === true && profile.updated_at >= recently(options.changedAt ?? now);
  if (decided !== undefined)
    return { matches: decided, nextChangeAt: undefined, facts: undefined, isHistorical: isImported };
  const facts = await readSubscriberFacts(store, profile.id, rule.events, options);
  const verdict = rule.judge({ attributes, times: facts.times, now });
  // Events after the import are the reason then.
  const isSince = rule.events.some((node) => facts.times(node)[0]! > Date.parse(profile.updated_at));
  const isHistorical = (isImported && !isSince) || isOfHistory(rule, verdict.matches, { attributes, facts, now });
  return { ...verdict, facts, isHistorical };
}

/** Whether a rule would say the contrary without the events that were taken in as historical just now (AMB-134). */
export function isOfHistory(
  rule: Rule,
  matches: boolean,
  { attributes, facts, now }: Pick<Facts, "attributes" | "now"> & { facts: SubscriberFacts },
): boolean {
  const { timesBefore: times } = facts;
  return times !== undefined && rule.judge({ attributes, times, now }).matches !== matches;
}

export interface SubscriberVerdict {
  profile: LivingProfile;
  /** Present where the attributes alone did not decide. */
  facts: SubscriberFacts | undefined;
  matches: boolean;
  nextChangeAt: number | undefined;
  /** Historical events or an import that starts no journeys came just now and may be the reason (AMB-133, AMB-134). */
  isHistorical: boolean;
}

export async function judgeProfiles(
  store: StoreReader,
  rule: Rule,
  profiles: readonly LivingProfile[],
  options: FactsOptions = {},
): Promise<SubscriberVerdict[]> {
  const verdicts: SubscriberVerdict[] = [];
  const judge = async (profile: LivingProfile) => ({
    profile,
    ...(await judgeProfile(store, rule, profile, options)),
  });
  for (const batch of chunksOf(profiles, CONCURRENT_HISTORIES)) verdicts.push(...(await Promise.all(batch.map(judge))));
  return verdicts;
}
