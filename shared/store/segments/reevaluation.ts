// Brings a subscriber's memberships in line with the current rules. It always evaluates what is stored now, never what
// a message says: late, repeated and reordered messages have the same result.
import { MINUTE } from "../../clock.ts";
import type { Store } from "../../resources.ts";
import type { Rule } from "../../rules/segment-evaluation.ts";
import { absent, is } from "../conditions.ts";
import type { StoredEvent } from "../events/events.ts";
import { changeMembers } from "../lists/memberships.ts";
import { onConditionFailed } from "../refusals.ts";
import { Profile, type ProfileRow } from "../subscribers/items.ts";
import { attributesForRules, isLiving } from "../subscribers/subscribers.ts";
import type { Timers } from "../timers.ts";
import { readHistory, readSubscriberFacts } from "./facts.ts";
import { SegmentCheck } from "./items.ts";

/** After so many concurrent changes in a row the message fails and is delivered again. */
const MAX_ROUNDS = 10;

export interface Subject {
  subscriber: string;
  /** The profile, if it was just read. */
  profile?: ProfileRow | undefined;
  /** Events of this subscriber that its history must show. */
  events: readonly StoredEvent[];
}

/**
 * Evaluates these rules for a subscriber until nothing is left to change. The rules are read anew in each round, and
 * every later change of attributes, events or rules sees what was written here. Without `timers` no timer is set for
 * the end of a window: a static segment stays as it was computed.
 * @returns events that are not in their history yet: to be evaluated again later
 */
export async function reevaluate(
  store: Store,
  timers: Timers | undefined,
  rulesNow: () => Promise<ReadonlyMap<string, Rule>>,
  { subscriber, events, profile: justRead }: Subject,
): Promise<StoredEvent[]> {
  let current = justRead;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const rules = await rulesNow();
    const [profile, facts] = await Promise.all([
      current ?? store.get(Profile, { id: subscriber }),
      readSubscriberFacts(store, subscriber),
    ]);
    current = undefined;
    if (!profile || !isLiving(profile)) return [];
    const attributes = attributesForRules(profile);
    // The history must show a new event even where the event does not decide at the moment.
    const decide = (rule: Rule) => (events.length > 0 ? undefined : rule.decidedBy(attributes));
    const open = [...rules.values()].filter((rule) => decide(rule) === undefined);
    const now = store.clock.now();
    const history = await readHistory(
      store,
      facts.actors,
      open.flatMap((rule) => rule.events),
    );
    const verdicts = [...rules].map(([id, rule]) => {
      const decided = decide(rule);
      if (decided !== undefined) return { id, matches: decided, nextChangeAt: undefined };
      return { id, ...rule.judge({ attributes, times: history.times, now }) };
    });
    const wrong = verdicts.filter(({ id, matches }) => matches !== facts.memberOf.has(id));
    await Promise.all(
      wrong.map(({ id, matches }) =>
        changeMembers(store, { kind: "segment", id }, matches ? { enter: [subscriber] } : { leave: [subscriber] }),
      ),
    );
    const next = Math.min(...verdicts.map(({ nextChangeAt = Number.POSITIVE_INFINITY }) => nextChangeAt));
    const isSet = !timers || (await scheduleRecheck(store, timers, subscriber, next, facts.checkAt));
    if (wrong.length === 0 && isSet) return events.filter((event) => !history.shows(event));
  }
  throw new Error(`The segments of the subscriber ${subscriber} still changed after ${MAX_ROUNDS} rounds.`);
}

/**
 * One timer for each subscriber, for the window that ends first. An earlier timer that is set already is enough: its
 * evaluation sets the next one.
 * @returns false if another timer was set in the meantime
 */
export async function scheduleRecheck(
  store: Store,
  timers: Timers,
  subscriber: string,
  next: number,
  checkAt: number | undefined,
): Promise<boolean> {
  if (!Number.isFinite(next)) return true;
  // Whole minutes, well within AMB-71: windows that end together need one timer.
  const at = Math.ceil(next / MINUTE) * MINUTE;
  if (checkAt !== undefined && checkAt > store.clock.now() && checkAt <= at) return true;
  await timers.set([{ kind: "segment-window", id: subscriber, at }]);
  return store
    .change(SegmentCheck, { subscriber }, { set: { at } }, checkAt === undefined ? absent("at") : is("at", checkAt))
    .then(
      () => true,
      onConditionFailed(() => false),
    );
}
