// The definition of a journey: its trigger, entry rules, graph of steps and exit conditions (JNY-2). Its grammar is in
// journey-grammar.ts.
import type { Safety } from "./brake.ts";
import type { ByChannel } from "./channel-content.ts";
import type { Severity } from "./grammar.ts";
import type { Predicate } from "./predicates.ts";

export const triggerTypes = ["segment_entered", "segment_exited", "event"] as const;

export interface Trigger {
  type: (typeof triggerTypes)[number];
  segment_id?: string | undefined;
  event_name?: string | undefined;
  /** A duration, or `none`. Default: 72 hours. */
  max_age?: string | undefined;
}

export interface EntryRules {
  eligibility?: Rule | null | undefined;
  allow_reentry?: boolean | undefined;
  reentry_window?: string | null | undefined;
}

type Rule = Record<string, unknown>;

interface Configs {
  send: {
    channel_ids: string[];
    template_id?: string;
    content?: { title: string; body: string; by_channel?: ByChannel };
    /** Default: `marketing`. */
    category?: "marketing" | "transactional";
    topic?: string;
    /** The limits of the step's brake (F21). */
    safety?: Safety;
    next?: string;
  };
  delay: { duration: string; next: string };
  branch: { condition: Rule; then: string; else?: string };
  wait_for_event: {
    event_name: string;
    within?: string;
    where?: Predicate;
    on_event: string;
    on_timeout?: string;
  };
}

/** A step of a graph that passed the whole validation. */
export type JourneyNode =
  | { [T in keyof Configs]: { id: string; type: T } & Record<T, Configs[T]> }[keyof Configs]
  | { id: string; type: "exit" };

type AwaitedEvent = { name: string; where?: Predicate };

/** An exit condition as the API takes it. */
type ExitCondition = { attribute: Predicate } | { event: AwaitedEvent } | { rule: Rule };

/** A condition that ends a run early. */
export type Exit =
  | { kind: "attribute"; predicate: Predicate }
  | { kind: "event"; event: AwaitedEvent }
  | { kind: "rule"; rule: Rule };

export interface Graph {
  start: string;
  steps: Record<string, JourneyNode>;
  exit_conditions?: ExitCondition[];
}

/** The exits of a graph, in the order of its definition. */
export const exitsOf = ({ exit_conditions = [] }: Pick<Graph, "exit_conditions">): Exit[] =>
  exit_conditions.map((condition) => {
    if ("event" in condition) return { kind: "event", event: condition.event };
    if ("rule" in condition) return { kind: "rule", rule: condition.rule };
    return { kind: "attribute", predicate: condition.attribute };
  });

export interface GraphProblem {
  severity: Severity;
  /** `steps.welcome.send.next`, below the field `steps` of the request. */
  path: string;
  reason: string;
}
