// Answers the questions of the journey engine from the attributes and events of one subscriber. Runs and simulations
// differ only in the source of these.
import { MINUTE } from "../kernel/clock.ts";
import { mentionsTime } from "./bare-dates.ts";
import { type Exit, exitsOf, type Graph } from "./journey-graph.ts";
import type { AwaitedEvent, Knowledge } from "./journey-run.ts";
import { compilePredicate, validatePredicate } from "./predicates.ts";
import { compileRule, type Facts, isRule, type Reason } from "./segment-evaluation.ts";
import type { EventNode } from "./segment-rules.ts";
import { withTriggerValues } from "./trigger-values.ts";
import { comparisonIn } from "./values.ts";

export interface KnownEvent {
  id: string;
  event_name: string;
  /** RFC 3339. */
  occurred_at: string;
  /** RFC 3339; absent for an event that counts as received when it occurred. */
  received_at?: string | undefined;
  properties: Record<string, unknown>;
}

/** The source of the attributes and events of a run's subscriber. */
export interface Source {
  /** When the event or entry that started the run happened, in milliseconds. */
  enteredAt: number;
  /** The event that started the run, if there is one: it ends no wait (AMB-75). */
  triggerId: string | undefined;
  triggerProperties(): Promise<Readonly<Record<string, unknown>>>;
  attributes(): Promise<Record<string, unknown>>;
  /** The zone in which the days of bare dates begin (AMB-137). */
  zone(): Promise<string>;
  /** The times, until then, of the events that these conditions of a rule need. */
  times(conditions: readonly EventNode[], until: number): Promise<Facts["times"]>;
  /** The events of a name, or all if none is given, from one time to another, both included, in order. */
  events(name: string | undefined, range: { since: number; until: number }): Promise<readonly KnownEvent[]>;
  /** The total of the journey's pauses until a time, in milliseconds. */
  pausedUntil(at: number): number;
  /** Receives each judged condition of a branch, clause by clause. */
  explained?(reasons: Reason[]): void;
}

/**
 * The clock of the process that received an event may be ahead, and a server may send a time in the future (AMB-24).
 */
const AHEAD_MS = 6 * MINUTE;

/** When an event was received, in milliseconds. */
export const receivedOf = ({ occurred_at, received_at = occurred_at }: KnownEvent): number => Date.parse(received_at);

/** When an event counts: not later than its receipt. */
const momentOf = (event: KnownEvent): number => Math.min(Date.parse(event.occurred_at), receivedOf(event));

function conditionsOf(source: Source) {
  const filled = async <T>(condition: T): Promise<T> =>
    JSON.stringify(condition).includes("{{")
      ? withTriggerValues(condition, await source.triggerProperties())
      : condition;

  const zoneFor = async (condition: unknown) => (mentionsTime(condition) ? source.zone() : undefined);

  const satisfying = async (predicate: unknown) => compilePredicate(predicate, comparisonIn(await zoneFor(predicate)));

  const judge = async (
    condition: Record<string, unknown>,
    at: number,
    explained?: Source["explained"],
  ): Promise<boolean> => {
    const complete = await filled(condition);
    // A property of the trigger may have a type that the operator does not accept.
    if (complete !== condition && !isRule(complete)) return false;

    const rule = compileRule(complete, await zoneFor(complete));
    const attributes = await source.attributes();
    const decided = explained ? undefined : rule.decidedBy(attributes);
    if (decided !== undefined) return decided;
    const facts = { attributes, times: await source.times(rule.events, at), now: at };
    explained?.(rule.explain(facts));
    return rule.judge(facts).matches;
  };

  return { filled, satisfying, judge };
}

type Conditions = ReturnType<typeof conditionsOf>;

/** Finds the first event that a condition waits for. @param now the time of the decision, in milliseconds */
function awaitedIn(source: Source, { filled, satisfying }: Conditions, now: number) {
  /** Whether an event of the same moment as another one comes after it in order. */
  const isLater = async (event: KnownEvent, other: string, at: number): Promise<boolean> => {
    const ids = (await source.events(undefined, { since: at, until: at })).map(({ id }) => id);
    return ids.indexOf(event.id) > ids.indexOf(other);
  };

  return async (
    { name, where }: { name: string; where?: object | undefined },
    { since, until, heard }: { since: number; until: number; heard: number },
    spent: readonly string[],
  ): Promise<AwaitedEvent | undefined> => {
    const condition = await filled(where ?? {});
    // A property of the trigger may have a type that the operator does not accept.
    if (validatePredicate(condition)) return undefined;

    const satisfies = await satisfying(condition);
    const last = Math.min(until, now + AHEAD_MS);
    const found = (await source.events(name, { since, until: last + AHEAD_MS }))
      .map((event) => ({ event, id: event.id, at: momentOf(event), received: receivedOf(event) }))
      .filter(({ event, id, at, received }) => {
        const isIn = at >= since && at <= last && received <= heard;
        return isIn && id !== source.triggerId && !spent.includes(id) && satisfies(event.properties);
      })
      .sort((a, b) => a.at - b.at);

    const mover = spent.at(-1) ?? source.triggerId;
    for (const { event, id, at, received } of found)
      if (at > since || mover === undefined || (await isLater(event, mover, at))) return { id, at, received };
    return undefined;
  };
}

/** Makes the knowledge of a run. @param now the time of the decision, in milliseconds */
export function knowledgeOf(graph: Pick<Graph, "exit_conditions">, source: Source, now: number): Knowledge {
  const conditions = conditionsOf(source);
  const { filled, satisfying, judge } = conditions;
  const firstOf = awaitedIn(source, conditions, now);

  const meets = async (exit: Exit): Promise<{ isMet: boolean; at?: number | undefined }> => {
    if (exit.kind === "event") {
      const span = { since: source.enteredAt, until: Number.POSITIVE_INFINITY, heard: Number.POSITIVE_INFINITY };
      const event = await firstOf(exit.event, span, []);
      return { isMet: event !== undefined, at: event?.at };
    }
    if (exit.kind === "rule") return { isMet: await judge(exit.rule, now) };
    const predicate = await filled(exit.predicate);
    const isMet =
      validatePredicate(predicate) === undefined && (await satisfying(predicate))(await source.attributes());
    return { isMet };
  };

  return {
    now,
    pausedUntil: (at) => source.pausedUntil(at),
    holds: (condition, at) => judge(condition, at, source.explained?.bind(source)),
    exit: async () => {
      const met = [];
      for (const [index, exit] of exitsOf(graph).entries()) {
        const { isMet, at } = await meets(exit);
        if (isMet) met.push({ index, at });
      }
      const sinceOf = ({ at = Number.NEGATIVE_INFINITY }) => at;
      return met.sort((a, b) => sinceOf(a) - sinceOf(b))[0];
    },
    occurred: ({ wait_for_event: { event_name: name, where } }, span, spent) => firstOf({ name, where }, span, spent),
  };
}
