// Corrects memberships of subscribers by the current rules. It always evaluates the stored state, never the content of
// a message: late, repeated and reordered messages have the same result.
import { MINUTE } from "../../kernel/clock.ts";
import { chunksOf } from "../../rules/chunks.ts";
import type { Rule } from "../../rules/segment-evaluation.ts";
import { asRead } from "../conditions.ts";
import type { Store } from "../context.ts";
import { idKeys } from "../item.ts";
import { changeMembers } from "../lists/memberships.ts";
import { onConditionFailed } from "../refusals.ts";
import { Profile } from "../subscribers/items.ts";
import { attributesForRules, type LivingProfile, living } from "../subscribers/subscribers.ts";
import type { Timers } from "../timers.ts";
import { isOfHistory, readSubscriberFacts } from "./facts.ts";
import { SegmentCheck } from "./items.ts";

/** After this many concurrent changes in a row the message fails and is delivered again. */
const MAX_ROUNDS = 10;
const CONCURRENT_SUBSCRIBERS = 25;

export interface Subject {
  subscriber: string;
  /** The segments to evaluate; all, if undefined. */
  segments?: ReadonlySet<string> | undefined;
  /** When its timer fired, in milliseconds: it is at least this late, though a clock may have been set back since. */
  firedAt?: number | undefined;
  /** When it changed, in milliseconds; undefined: that is not known. */
  at?: number | undefined;
  /** It was changed by an import that starts no journeys (AMB-133). */
  isHistorical?: boolean;
}

type CurrentRules = ReadonlyMap<string, Rule>;

/** The evaluated rules, read again before a write, and after it. */
interface Rules {
  /**
   * Rules no older than the evaluated change. A later rule has a computation of its own, which sees that change too.
   */
  first?: CurrentRules;
  /** Reads the rules now. @returns the same map as before if no rule has changed */
  now(): Promise<CurrentRules>;
}

interface Evaluation {
  subject: Subject;
  /** Whether its profile was read. */
  isSeen: boolean;
  /** The time for which it was evaluated, in milliseconds. */
  now: number;
  /** When the last of what decides it happened, in milliseconds: a worker that is late changes no time of an entry (AMB-136). */
  since: number;
  enter: string[];
  leave: string[];
  /** The segments whose reason is a historical event or an import: these start no journey (AMB-133, AMB-134). */
  historical: ReadonlySet<string>;
  /** When a window ends next, in milliseconds; infinite if none does. */
  next: number;
  checkAt: number | undefined;
}

/**
 * Evaluates rules for subscribers until nothing is left to change: rows of all of them are read and written together.
 * Every later change of attributes, events or rules sees these writes. Without `timers` no timer is set for the end of
 * a window: a static segment stays as it was computed.
 */
export async function reevaluate(
  store: Store,
  timers: Timers | undefined,
  rules: Rules,
  subjects: readonly Subject[],
): Promise<void> {
  let pending = subjects;
  let cached = rules.first;
  for (let round = 0; pending.length > 0; round++) {
    if (round === MAX_ROUNDS)
      throw new Error(`Segments of ${pending.length} subscribers still changed after ${MAX_ROUNDS} rounds.`);
    const current = cached ?? (await rules.now());
    const evaluations = await livingOf(store, (await evaluateAll(store, current, pending)).filter(hasWork(timers)));
    const isOutdated = cached !== undefined && evaluations.length > 0 && (await rules.now()) !== cached;
    cached = undefined;
    if (isOutdated) continue;

    await writeChanges(store, evaluations);
    const unset = timers ? await scheduleRechecks(store, timers, evaluations) : new Set();
    pending = evaluations
      .filter(({ subject, enter, leave }) => enter.length + leave.length > 0 || unset.has(subject.subscriber))
      .map(({ subject }) => subject);
  }
}

/** Whether anything must be written. */
const hasWork =
  (timers: Timers | undefined) =>
  (evaluation: Evaluation): boolean =>
    evaluation.enter.length + evaluation.leave.length > 0 ||
    (timers !== undefined && recheckOf(evaluation) !== undefined);

/** The evaluations of living subscribers: a subscriber evaluated only by events was not looked up. */
async function livingOf(store: Store, evaluations: readonly Evaluation[]): Promise<Evaluation[]> {
  const unseen = evaluations.filter(({ isSeen }) => !isSeen).map(({ subject }) => subject.subscriber);
  const profiles = await store.getAll(Profile, idKeys(unseen));
  const found = new Set(unseen.filter((_, i) => living(profiles[i])));
  return evaluations.filter(({ isSeen, subject }) => isSeen || found.has(subject.subscriber));
}

async function evaluateAll(store: Store, current: CurrentRules, subjects: readonly Subject[]): Promise<Evaluation[]> {
  const all = subjects.map((subject) => ({ subject, rules: rulesFor(subject, current) }));
  const asked = all.filter(({ rules }) => rules.length > 0);
  const read = asked.filter(({ rules }) => rules.some(([, { attributes }]) => attributes.size > 0));
  const keys = read.map(({ subject }) => ({ id: subject.subscriber }));
  const profiles = await store.getAll(Profile, keys);
  const profileOf = new Map(read.map(({ subject }, i) => [subject, profiles[i]]));
  const evaluations: Evaluation[] = [];
  for (const batch of chunksOf(asked, CONCURRENT_SUBSCRIBERS)) {
    const results = await Promise.all(
      batch.map(({ subject, rules }) => {
        if (!profileOf.has(subject)) return evaluate(store, subject, rules, undefined);
        const profile = living(profileOf.get(subject));
        return profile ? evaluate(store, subject, rules, profile) : undefined;
      }),
    );
    evaluations.push(...results.filter((result) => result !== undefined));
  }
  return evaluations;
}

const rulesFor = ({ segments }: Subject, all: CurrentRules) => [...all].filter(([id]) => segments?.has(id) ?? true);

/** @param profile undefined where no rule mentions an attribute */
async function evaluate(
  store: Store,
  subject: Subject,
  rules: readonly (readonly [id: string, rule: Rule])[],
  profile: LivingProfile | undefined,
): Promise<Evaluation> {
  const attributes = profile ? attributesForRules(profile) : {};
  const settled = rules.map(([id, rule]) => ({ id, rule, decided: rule.decidedBy(attributes) }));
  const conditions = settled.flatMap(({ rule, decided }) => (decided === undefined ? rule.events : []));
  const facts = await readSubscriberFacts(store, subject.subscriber, conditions, { changedAt: subject.at });
  const now = Math.max(store.clock.now(), subject.firedAt ?? 0);
  const verdicts = settled.map(({ id, rule, decided }) => {
    if (decided !== undefined) return { id, matches: decided, nextChangeAt: undefined };
    return { id, ...rule.judge({ attributes, times: facts.times, now }) };
  });
  const wrong = verdicts.filter(({ id, matches }) => matches !== facts.memberOf.has(id));
  const ruleOf = new Map(rules);
  const isHistorical = ({ id, matches }: { id: string; matches: boolean }) => {
    const rule = ruleOf.get(id);
    return (
      subject.isHistorical === true || (rule !== undefined && isOfHistory(rule, matches, { attributes, facts, now }))
    );
  };
  return {
    subject,
    isSeen: profile !== undefined,
    now,
    since: sinceOf(subject, now, [
      profile ? Date.parse(profile.updated_at) : 0,
      ...conditions.map((condition) => facts.times(condition)[0] ?? 0),
    ]),
    historical: new Set(wrong.filter(isHistorical).map(({ id }) => id)),
    enter: wrong.flatMap(({ id, matches }) => (matches ? [id] : [])),
    leave: wrong.flatMap(({ id, matches }) => (matches ? [] : [id])),
    next: Math.min(...verdicts.map(({ nextChangeAt = Number.POSITIVE_INFINITY }) => nextChangeAt)),
    checkAt: facts.checkAt,
  };
}

/** Later changes than the one that is known may be what decides it. */
const sinceOf = ({ at }: Subject, now: number, others: readonly number[]): number =>
  at === undefined ? now : Math.min(now, Math.max(at, ...others));

/** Segment by segment, so that subscribers who enter or leave the same one share transactions. */
async function writeChanges(store: Store, evaluations: readonly Evaluation[]): Promise<void> {
  const changing = (which: "enter" | "leave", id: string) =>
    evaluations.filter((evaluation) => evaluation[which].includes(id)).map(({ subject }) => subject.subscriber);
  const segments = new Set(evaluations.flatMap(({ enter, leave }) => [...enter, ...leave]));
  const since = new Map(evaluations.map((evaluation) => [evaluation.subject.subscriber, evaluation.since]));
  await Promise.all(
    [...segments].map((id) => {
      const ofHistory = evaluations.filter((evaluation) => evaluation.historical.has(id));
      const historical = new Set(ofHistory.map(({ subject }) => subject.subscriber));
      const changes = { enter: changing("enter", id), leave: changing("leave", id), historical, since };
      return changeMembers(store, { kind: "segment", id }, changes);
    }),
  );
}

/**
 * One timer for each subscriber, for the window that ends first. An earlier timer that is set already is enough: its
 * evaluation sets the next one.
 * @returns the subscribers whose timer was set again in the meantime
 */
async function scheduleRechecks(
  store: Store,
  timers: Timers,
  evaluations: readonly RecheckInput[],
): Promise<ReadonlySet<string>> {
  const unset = new Set<string>();
  const needed = evaluations.flatMap((evaluation) => recheckOf(evaluation) ?? []);
  if (needed.length === 0) return unset;
  await timers.set(needed.map(({ subscriber, at }) => ({ kind: "segment-window", id: subscriber, at })));
  await Promise.all(
    needed.map(({ subscriber, at, checkAt }) =>
      store
        .change(SegmentCheck, { subscriber }, { set: { at } }, asRead("at", checkAt))
        .catch(onConditionFailed(() => void unset.add(subscriber))),
    ),
  );
  return unset;
}

/** The input for the time of the next evaluation. */
type RecheckInput = Pick<Evaluation, "subject" | "now" | "next" | "checkAt">;

function recheckOf({ subject: { subscriber }, now, next, checkAt }: RecheckInput) {
  if (!Number.isFinite(next)) return undefined;
  // Whole minutes, well within AMB-71: windows that end together need one timer.
  const at = Math.ceil(next / MINUTE) * MINUTE;
  return checkAt !== undefined && checkAt > now && checkAt <= at ? undefined : { subscriber, at, checkAt };
}

/**
 * Sets the timer for the next end of a window of a subscriber, in milliseconds.
 * @param checkAt that of the timer which was read
 * @returns false if another timer was set in the meantime
 */
export async function scheduleRecheck(
  store: Store,
  timers: Timers,
  { subscriber, next, checkAt }: { subscriber: string; next: number; checkAt: number | undefined },
): Promise<boolean> {
  const rechecked = { subject: { subscriber }, now: store.clock.now(), next, checkAt };
  return (await scheduleRechecks(store, timers, [rechecked])).size === 0;
}
