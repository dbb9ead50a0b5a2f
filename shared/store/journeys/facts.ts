// What the engine of journeys asks of a subscriber: attributes, and what it did since.
import type { StoreReader } from "../../resources.ts";
import type { ExitCondition, Graph } from "../../rules/journey-graph.ts";
import { bound, type Knowledge } from "../../rules/journey-run.ts";
import { compilePredicate, validatePredicate } from "../../rules/predicates.ts";
import { compileRule } from "../../rules/segment-evaluation.ts";
import { type Actor, eventOf, type StoredEvent } from "../events/events.ts";
import { eventsOf } from "../events/history.ts";
import { keys } from "../keys.ts";
import type { Item } from "../model.ts";
import { readHistory } from "../segments/facts.ts";
import { aliasesOf } from "../subscribers/aliases.ts";
import { attributesForRules, isLiving } from "../subscribers/subscribers.ts";
import type { RunItem } from "./runs.ts";

export interface JourneyFacts extends Knowledge {
  /** The living subscriber; undefined once it is erased. */
  profile(): Promise<Item | undefined>;
  /** An event that was just stored was asked for and is not in its history yet. */
  isLate(): boolean;
}

type Subject = Pick<RunItem, "subscriber_id" | "context" | "entered_at">;

/** @param seen an event that was just stored: the history, an index, may not show it yet. */
export function factsOf(store: StoreReader, graph: Graph, run: Subject, seen?: StoredEvent): JourneyFacts {
  const { subscriber_id: subscriber, context, entered_at } = run;
  const now = store.clock.now();
  let late = false;
  const profile = once(async () => {
    const item = await store.get(keys.subscriber(store.tenant, subscriber));
    return item && isLiving(item) ? item : undefined;
  });
  const trigger = once(async () => {
    const row =
      context.event_id === undefined ? undefined : await store.get(keys.event(store.tenant, context.event_id));
    return row ? eventOf(row).properties : {};
  });
  const filled = async <T>(condition: T): Promise<T> =>
    JSON.stringify(condition).includes("{{") ? bound(condition, await trigger()) : condition;
  const attributes = async () => {
    const item = await profile();
    return item ? attributesForRules(item) : {};
  };

  const holds: Knowledge["holds"] = async (condition) => {
    const rule = compileRule(await filled(condition));
    const attributeValues = await attributes();
    const settled = rule.decidedBy(attributeValues);
    if (settled !== undefined) return settled;
    const aliases = await aliasesOf(store, subscriber);
    const actors: Actor[] = [{ subscriber }, ...aliases.map((anonymous) => ({ anonymous }))];
    const history = await readHistory(store, actors, rule.events);
    if (seen && !history.shows(seen)) late = true;
    return rule.judge({ attributes: attributeValues, times: history.times, now }).matches;
  };

  /** Such an event of a time, the trigger itself left out (AMB-75). */
  const occurredIn = async (
    { name: event_name, where }: { name: string; where?: object | undefined },
    since: number,
    until: number,
    spent?: string,
  ): Promise<string | undefined> => {
    const condition = await filled(where ?? {});
    // A property of the trigger may be nothing that the operator takes.
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
    if ("event" in condition) return (await occurredIn(condition.event, Date.parse(entered_at), now)) !== undefined;
    const predicate = await filled(condition.attribute);
    return validatePredicate(predicate) === undefined && compilePredicate(predicate)(await attributes());
  };

  return {
    now,
    holds,
    profile,
    isLate: () => late,
    exit: async () => {
      for (const [place, condition] of (graph.exit_conditions ?? []).entries())
        if (await meets(condition)) return place;
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
