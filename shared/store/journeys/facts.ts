// What the engine of journeys reads of a subscriber: its attributes, and its events since a time.
import { MINUTE } from "../../clock.ts";
import type { StoreReader } from "../../resources.ts";
import type { ExitCondition, Graph } from "../../rules/journey-graph.ts";
import { type Knowledge, withTriggerValues } from "../../rules/journey-run.ts";
import { compilePredicate, validatePredicate } from "../../rules/predicates.ts";
import { compileRule } from "../../rules/segment-evaluation.ts";
import { findEvent, type StoredEvent } from "../events/events.ts";
import { eventsOf } from "../events/history.ts";
import type { Actor } from "../events/items.ts";
import { readHistory } from "../segments/facts.ts";
import { aliasesOf } from "../subscribers/aliases.ts";
import { Profile } from "../subscribers/items.ts";
import { attributesForRules, type LivingProfile, living } from "../subscribers/subscribers.ts";
import type { RunState } from "./runs.ts";

export interface JourneyFacts extends Knowledge {
  /** The profile of the subscriber; undefined once it is erased. */
  profile(): Promise<LivingProfile | undefined>;
}

/** The clock of the process that took an event may be so far ahead. */
const AHEAD_MS = MINUTE;

type Subject = Pick<RunState, "subscriber_id" | "context" | "entered_at">;

/** @param options.seen an event that was just stored @param options.now the time of the decision, in milliseconds */
export function factsOf(
  store: StoreReader,
  graph: Graph,
  run: Subject,
  { seen, now }: { seen?: StoredEvent | undefined; now: number },
): JourneyFacts {
  const { subscriber_id: subscriber, context, entered_at } = run;
  const profile = once(async () => living(await store.get(Profile, { id: subscriber })));
  const triggerProperties = once(async () => {
    const event = context.event_id === undefined ? undefined : await findEvent(store, context.event_id);
    return event?.properties ?? {};
  });
  const filled = async <T>(condition: T): Promise<T> =>
    JSON.stringify(condition).includes("{{") ? withTriggerValues(condition, await triggerProperties()) : condition;
  const attributes = async () => {
    const found = await profile();
    return found ? attributesForRules(found) : {};
  };

  const holds: Knowledge["holds"] = async (condition) => {
    const rule = compileRule(await filled(condition));
    const attributeValues = await attributes();
    const decided = rule.decidedBy(attributeValues);
    if (decided !== undefined) return decided;
    const aliases = await aliasesOf(store, subscriber);
    const actors: Actor[] = [{ subscriber }, ...aliases.map((anonymous) => ({ anonymous }))];
    const history = await readHistory(store, actors, rule.events);
    return rule.judge({ attributes: attributeValues, times: history.times, now }).matches;
  };

  /** The id of such an event in a period, except for the trigger itself (AMB-75). */
  const occurredIn = async (
    { name: event_name, where }: { name: string; where?: object | undefined },
    since: number,
    until: number,
    spent?: string,
  ): Promise<string | undefined> => {
    const condition = await filled(where ?? {});
    // A property of the trigger may have a type that the operator does not accept.
    if (validatePredicate(condition)) return undefined;
    const satisfies = compilePredicate(condition);
    const counts = ({ id, event_name: name, occurred_at, properties }: StoredEvent) =>
      name === event_name &&
      id !== context.event_id &&
      id !== spent &&
      Date.parse(occurred_at) >= since &&
      Date.parse(occurred_at) <= until &&
      satisfies(properties);
    if (seen && counts(seen)) return seen.id;
    const from = new Date(since).toISOString();
    const to = new Date(until + 1).toISOString();
    return (await eventsOf(store, subscriber, { event_name, from, to })).find(counts)?.id;
  };

  const meets = async (condition: ExitCondition): Promise<boolean> => {
    if ("rule" in condition) return holds(condition.rule);
    if ("event" in condition)
      return (await occurredIn(condition.event, Date.parse(entered_at), now + AHEAD_MS)) !== undefined;
    const predicate = await filled(condition.attribute);
    return validatePredicate(predicate) === undefined && compilePredicate(predicate)(await attributes());
  };

  return {
    now,
    holds,
    profile,
    exit: async () => {
      for (const [index, condition] of (graph.exit_conditions ?? []).entries())
        if (await meets(condition)) return index;
      return undefined;
    },
    occurred: ({ wait_for_event: { event_name: name, where } }, since, until, spent) =>
      occurredIn({ name, where }, since, until, spent),
  };
}

function once<T>(read: () => Promise<T>): () => Promise<T> {
  let pending: Promise<T> | undefined;
  return () => {
    pending ??= read();
    return pending;
  };
}
