// Brings memberships of subscribers in line with the current rules. It always evaluates what is stored now, never what
// a message says: late, repeated and reordered messages have the same result.
import { MINUTE } from "../../kernel/clock.ts";
import { chunksOf } from "../../rules/chunks.ts";
import type { Rule } from "../../rules/segment-evaluation.ts";
import { absent, is } from "../conditions.ts";
import type { Store } from "../context.ts";
import { changeMembers } from "../lists/memberships.ts";
import { onConditionFailed } from "../refusals.ts";
import { Profile, type ProfileRow } from "../subscribers/items.ts";
import { attributesForRules, isLiving } from "../subscribers/subscribers.ts";
import type { Timers } from "../timers.ts";
import { readSubscriberFacts } from "./facts.ts";
import { SegmentCheck } from "./items.ts";

/** After so many concurrent changes in a row the message fails and is delivered again. */
const MAX_ROUNDS = 10;
const CONCURRENT_SUBSCRIBERS = 25;

export interface Subject {
  subscriber: string;
  /** The segments to evaluate; all, if undefined. */
  segments?: ReadonlySet<string> | undefined;
  /** When its timer fired, in milliseconds: it is at least this late, though a clock may have been set back since. */
  firedAt?: number | undefined;
}

/** The rules that are evaluated, read anew in each round after the first. */
export interface Rules {
  /** As they were read right before. */
  first?: ReadonlyMap<string, Rule>;
  now(): Promise<ReadonlyMap<string, Rule>>;
}

interface Evaluation {
  subject: Subject;
  /** The time for which it was evaluated, in milliseconds. */
  now: number;
  enter: string[];
  leave: string[];
  /** Those of them of which historical events are the reason: that starts no journey (AMB-134). */
  historical: ReadonlySet<string>;
  /** When a window ends next, in milliseconds; infinite if none does. */
  next: number;
  checkAt: number | undefined;
}

/**
 * Evaluates rules for subscribers until nothing is left to change: rows of all of them are read and written together.
 * Every later change of attributes, events or rules sees what was written here. Without `timers` no timer is set for
 * the end of a window: a static segment stays as it was computed.
 */
export async function reevaluate(
  store: Store,
  timers: Timers | undefined,
  rules: Rules,
  subjects: readonly Subject[],
): Promise<void> {
  let pending = subjects;
  for (let round = 0; pending.length > 0; round++) {
    if (round === MAX_ROUNDS)
      throw new Error(`Segments of ${pending.length} subscribers still changed after ${MAX_ROUNDS} rounds.`);
    const current = (round === 0 && rules.first) || (await rules.now());
    const evaluations = await evaluateAll(store, current, pending);
    await writeChanges(store, evaluations);
    const unset = timers ? await scheduleRechecks(store, timers, evaluations) : new Set();
    pending = evaluations
      .filter(({ subject, enter, leave }) => enter.length + leave.length > 0 || unset.has(subject.subscriber))
      .map(({ subject }) => subject);
  }
}

async function evaluateAll(
  store: Store,
  current: ReadonlyMap<string, Rule>,
  subjects: readonly Subject[],
): Promise<Evaluation[]> {
  const profiles = await store.getAll(
    Profile,
    subjects.map(({ subscriber }) => ({ id: subscriber })),
  );
  const found = subjects.map((subject, i) => ({ subject, profile: profiles[i] }));
  const evaluations: Evaluation[] = [];
  for (const batch of chunksOf(found, CONCURRENT_SUBSCRIBERS)) {
    const some = await Promise.all(batch.map(({ subject, profile }) => evaluate(store, current, subject, profile)));
    evaluations.push(...some.filter((one) => one !== undefined));
  }
  return evaluations;
}

async function evaluate(
  store: Store,
  all: ReadonlyMap<string, Rule>,
  subject: Subject,
  profile: ProfileRow | undefined,
): Promise<Evaluation | undefined> {
  if (!profile || !isLiving(profile)) return undefined;
  const attributes = attributesForRules(profile);
  const rules = [...all].filter(([id]) => subject.segments?.has(id) ?? true);
  const settled = rules.map(([id, rule]) => ({ id, rule, decided: rule.decidedBy(attributes) }));
  const conditions = settled.flatMap(({ rule, decided }) => (decided === undefined ? rule.events : []));
  const facts = await readSubscriberFacts(store, subject.subscriber, conditions);
  const now = Math.max(store.clock.now(), subject.firedAt ?? 0);
  const verdicts = settled.map(({ id, rule, decided }) => {
    if (decided !== undefined) return { id, matches: decided, nextChangeAt: undefined };
    return { id, ...rule.judge({ attributes, times: facts.times, now }) };
  });
  const wrong = verdicts.filter(({ id, matches }) => matches !== facts.memberOf.has(id));
  const { timesBefore: times } = facts;
  const isHistorical = ({ id, matches }: { id: string; matches: boolean }) =>
    times !== undefined && all.get(id)?.judge({ attributes, times, now }).matches === !matches;
  return {
    subject,
    now,
    historical: new Set(wrong.filter(isHistorical).map(({ id }) => id)),
    enter: wrong.flatMap(({ id, matches }) => (matches ? [id] : [])),
    leave: wrong.flatMap(({ id, matches }) => (matches ? [] : [id])),
    next: Math.min(...verdicts.map(({ nextChangeAt = Number.POSITIVE_INFINITY }) => nextChangeAt)),
    checkAt: facts.checkAt,
  };
}

/** Segment by segment, so that subscribers who enter or leave the same one share transactions. */
async function writeChanges(store: Store, evaluations: readonly Evaluation[]): Promise<void> {
  const changing = (which: "enter" | "leave", id: string) =>
    evaluations.filter((one) => one[which].includes(id)).map(({ subject }) => subject.subscriber);
  const segments = new Set(evaluations.flatMap(({ enter, leave }) => [...enter, ...leave]));
  await Promise.all(
    [...segments].map((id) => {
      const ofHistory = evaluations.filter((one) => one.historical.has(id));
      const historical = new Set(ofHistory.map(({ subject }) => subject.subscriber));
      const changes = { enter: changing("enter", id), leave: changing("leave", id), historical };
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
  evaluations: readonly Evaluation[],
): Promise<ReadonlySet<string>> {
  const unset = new Set<string>();
  const needed = evaluations.flatMap(({ subject: { subscriber }, now, next, checkAt }) => {
    if (!Number.isFinite(next)) return [];
    // Whole minutes, well within AMB-71: windows that end together need one timer.
    const at = Math.ceil(next / MINUTE) * MINUTE;
    return checkAt !== undefined && checkAt > now && checkAt <= at ? [] : [{ subscriber, at, checkAt }];
  });
  if (needed.length === 0) return unset;
  await timers.set(needed.map(({ subscriber, at }) => ({ kind: "segment-window", id: subscriber, at })));
  await Promise.all(
    needed.map(({ subscriber, at, checkAt }) =>
      store
        .change(SegmentCheck, { subscriber }, { set: { at } }, checkAt === undefined ? absent("at") : is("at", checkAt))
        .catch(onConditionFailed(() => void unset.add(subscriber))),
    ),
  );
  return unset;
}

/** @returns false if another timer was set in the meantime */
export async function scheduleRecheck(
  store: Store,
  timers: Timers,
  subscriber: string,
  next: number,
  checkAt: number | undefined,
): Promise<boolean> {
  const evaluation = {
    subject: { subscriber },
    now: store.clock.now(),
    enter: [],
    leave: [],
    historical: new Set<string>(),
    next,
    checkAt,
  };
  return (await scheduleRechecks(store, timers, [evaluation])).size === 0;
}
