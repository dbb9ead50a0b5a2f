// Brings a subscriber's memberships to what the rules say now. Always by what is stored at this moment, never by the
// message that asked for it, so that late, repeated and reordered messages come to the same end.
import { MINUTE } from "../../clock.ts";
import type { Store } from "../../resources.ts";
import type { Rule } from "../../rules/segment-evaluation.ts";
import { absent, is } from "../conditions.ts";
import type { StoredEvent } from "../events/events.ts";
import { keys } from "../keys.ts";
import { changeMembers } from "../lists/memberships.ts";
import type { Item } from "../model.ts";
import { onConditionFailed } from "../refusals.ts";
import { attributesForRules, isLiving } from "../subscribers/subscribers.ts";
import type { Timers } from "../timers.ts";
import { readHistory, readSubscriberFacts } from "./facts.ts";

/** How often a change by somebody else is followed before the message is to come again. */
const ROUNDS = 10;

export interface UnseenEvent {
  subscriber: string;
  /** The profile as just read, if it was. */
  profile?: Item | undefined;
  /** Events of this subscriber that the histories must show. */
  events: readonly StoredEvent[];
}

/**
 * Judges a subscriber by these rules until nothing is left to change: whoever changes its attributes, events or the
 * rules after the last look sees what was written here. Rules are asked for anew in every round. Without `timers`
 * nobody is triggered when a window ends: static segments stay as they were computed.
 * @returns events that are not in their history yet: to be judged again when they are.
 */
export async function reevaluate(
  store: Store,
  timers: Timers | undefined,
  rulesNow: () => Promise<ReadonlyMap<string, Rule>>,
  { subscriber, events, ...given }: UnseenEvent,
): Promise<StoredEvent[]> {
  let current = given.profile;
  for (let round = 0; round < ROUNDS; round++) {
    const rules = await rulesNow();
    const [profile, facts] = await Promise.all([
      current ?? store.get(keys.subscriber(store.tenant, subscriber)),
      readSubscriberFacts(store, subscriber),
    ]);
    current = undefined;
    if (!profile || !isLiving(profile)) return [];
    const attributes = attributesForRules(profile);
    // What a new event may not be in yet must be read even where it does not matter at the moment.
    const open = [...rules.values()].filter((rule) => events.length > 0 || rule.decidedBy(attributes) === undefined);
    const now = store.clock.now();
    const history = await readHistory(
      store,
      facts.actors,
      open.flatMap((rule) => rule.events),
    );
    const verdicts = [...rules].map(([id, rule]) => {
      const settled = events.length > 0 ? undefined : rule.decidedBy(attributes);
      if (settled !== undefined) return { id, matches: settled, nextChangeAt: undefined };
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
  throw new Error("The segments of a subscriber did not come to rest.");
}

/**
 * One timer a subscriber, for the window that ends first. One that is set already for earlier will do: whoever it
 * wakes sets the next one.
 * @returns false if somebody else set one meanwhile.
 */
export async function scheduleRecheck(
  store: Store,
  timers: Timers,
  subscriber: string,
  next: number,
  checkAt: number | undefined,
): Promise<boolean> {
  if (!Number.isFinite(next)) return true;
  // Whole minutes, well within AMB-71: windows that end together wake a subscriber once.
  const at = Math.ceil(next / MINUTE) * MINUTE;
  if (checkAt !== undefined && checkAt > store.clock.now() && checkAt <= at) return true;
  await timers.set([{ kind: "segment-window", id: subscriber, at }]);
  return store
    .update(
      keys.segmentCheck(store.tenant, subscriber),
      { set: { at } },
      checkAt === undefined ? absent("at") : is("at", checkAt),
    )
    .then(
      () => true,
      onConditionFailed(() => false),
    );
}
