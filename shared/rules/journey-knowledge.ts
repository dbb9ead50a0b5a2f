// What the engine of journeys asks for, answered from the attributes and events of one subscriber. Runs and simulations
// differ only in where these come from.

import { mentionsTime } from "./bare-dates.ts";
import type { ExitCondition, Graph } from "./journey-graph.ts";
import { type Knowledge, withTriggerValues } from "./journey-run.ts";
import { comparisonIn, compilePredicate, validatePredicate } from "./predicates.ts";
import { compileRule, type Facts, type Reason } from "./segment-evaluation.ts";
import type { EventNode } from "./segment-rules.ts";

export interface KnownEvent {
  id: string;
  event_name: string;
  /** RFC 3339. */
  occurred_at: string;
  properties: Record<string, unknown>;
}

/** Where the attributes and events of a run's subscriber come from. */
export interface Source {
  /** When what started the run happened, in milliseconds. */
  enteredAt: number;
  /** When the run came to where it is, in milliseconds: earlier than the decision where its worker is behind. */
  arrivedAt: number;
  /** The event that started the run, if one did: it ends no wait (AMB-75). */
  triggerId: string | undefined;
  triggerProperties(): Promise<Readonly<Record<string, unknown>>>;
  attributes(): Promise<Record<string, unknown>>;
  /** Where the days of bare dates begin (AMB-137). */
  zone(): Promise<string>;
  /** The times of the events that these conditions of a rule ask for. */
  times(conditions: readonly EventNode[]): Promise<Facts["times"]>;
  /** The first event of a name from one time to another, both included, that counts. */
  find(
    name: string,
    range: { since: number; until: number },
    counts: (event: KnownEvent) => boolean,
  ): Promise<KnownEvent | undefined>;
  /** How far after `now` an event that ends a run may have occurred, in milliseconds. */
  aheadMs: number;
  /** Gets each condition of a branch, clause by clause, as it is judged. */
  explained?(reasons: Reason[]): void;
}

/** @param now the time of the decision, in milliseconds */
export function knowledgeOf(graph: Pick<Graph, "exit_conditions">, source: Source, now: number): Knowledge {
  const filled = async <T>(condition: T): Promise<T> =>
    JSON.stringify(condition).includes("{{")
      ? withTriggerValues(condition, await source.triggerProperties())
      : condition;

  const zoneFor = async (condition: unknown) => (mentionsTime(condition) ? source.zone() : undefined);

  const satisfying = async (predicate: unknown) => compilePredicate(predicate, comparisonIn(await zoneFor(predicate)));

  const judge = async (condition: Record<string, unknown>, explained?: Source["explained"]): Promise<boolean> => {
    const complete = await filled(condition);
    const rule = compileRule(complete, await zoneFor(complete));
    const attributes = await source.attributes();
    const decided = explained ? undefined : rule.decidedBy(attributes);
    if (decided !== undefined) return decided;
    const facts = { attributes, times: await source.times(rule.events), now };
    explained?.(rule.explain(facts));
    return rule.judge(facts).matches;
  };

  const occurredIn = async (
    { name, where }: { name: string; where?: object | undefined },
    since: number,
    until: number,
    spent?: string,
  ): Promise<string | undefined> => {
    const condition = await filled(where ?? {});
    // A property of the trigger may have a type that the operator does not accept.
    if (validatePredicate(condition)) return undefined;
    const satisfies = await satisfying(condition);
    const counts = ({ id, event_name, occurred_at, properties }: KnownEvent) =>
      event_name === name &&
      id !== source.triggerId &&
      id !== spent &&
      Date.parse(occurred_at) >= since &&
      Date.parse(occurred_at) <= until &&
      satisfies(properties);
    return (await source.find(name, { since, until }, counts))?.id;
  };

  const meets = async (condition: ExitCondition): Promise<boolean> => {
    if ("rule" in condition) return judge(condition.rule);
    if ("event" in condition)
      return (await occurredIn(condition.event, source.enteredAt, now + source.aheadMs)) !== undefined;
    const predicate = await filled(condition.attribute);
    return validatePredicate(predicate) === undefined && (await satisfying(predicate))(await source.attributes());
  };

  return {
    now,
    arrivedAt: source.arrivedAt,
    holds: (condition) => judge(condition, source.explained?.bind(source)),
    exit: async () => {
      for (const [index, condition] of (graph.exit_conditions ?? []).entries())
        if (await meets(condition)) return index;
      return undefined;
    },
    occurred: ({ wait_for_event: { event_name: name, where } }, since, until, spent) =>
      occurredIn({ name, where }, since, until, spent),
  };
}
