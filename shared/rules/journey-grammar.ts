// The grammar of a journey's graph: its steps and exit conditions (JND-8). For the paths see journey-paths.ts.

import { isJsonObject } from "../kernel/objects.ts";
import { MAX_EVENT_NAME_CHARACTERS, OWN_EVENTS } from "./event-limits.ts";
import { described, type Grammar, list, named, namedObject, object, problemAt, problemsIn, text } from "./grammar.ts";
import type { GraphProblem } from "./journey-graph.ts";
import { JourneyStep, MAX_ID_CHARACTERS } from "./journey-steps.ts";
import { AttributePredicate } from "./predicate-grammar.ts";
import { AttributeRule, SegmentRule } from "./segment-grammar.ts";

export const STEPS_OF_A_JOURNEY = 100;
const MAX_EXIT_CONDITIONS = 20;

const steps: Grammar = {
  check: (value, path, report) => {
    if (!isJsonObject(value)) return report(path, "must be an object of steps by their ids");
    const entries = Object.entries(value);
    if (entries.length > STEPS_OF_A_JOURNEY) report(path, `must be at most ${STEPS_OF_A_JOURNEY} steps`);
    for (const [id, node] of entries) {
      const at = [`${path.join(".")}.${id.slice(0, MAX_ID_CHARACTERS)}`];
      if (id === "" || id.length > MAX_ID_CHARACTERS)
        report(at, `must have an id of 1 to ${MAX_ID_CHARACTERS} characters`);
      JourneyStep.check(node, at, report);
      if (isJsonObject(node) && node.id !== undefined && node.id !== id)
        report([...at, "id"], "must be the key of the step");
    }
  },
  schema: () => ({
    type: "object",
    description: `The steps by their ids, at most ${STEPS_OF_A_JOURNEY}`,
    additionalProperties: JourneyStep.schema(),
    maxProperties: STEPS_OF_A_JOURNEY,
  }),
};

export const EventExit = namedObject("EventExit", {
  about: "Ends a run when the subscriber has an event after entering.",
  fields: {
    event: object({
      about: "The event",
      fields: {
        name: text({ about: "The name of the event", min: 1, max: MAX_EVENT_NAME_CHARACTERS, never: OWN_EVENTS }),
        where: described({ about: "Only an event whose properties match counts" }, AttributePredicate),
      },
      required: ["name"],
      refusal: "must be an object with the name of an event",
      isToldWhole: true,
      stranger: "is not one of name, where",
    }),
  },
  required: ["event"],
});

export const RuleExit = namedObject("RuleExit", {
  about: "Ends a run when a rule of segments holds.",
  fields: { rule: described({ about: "The rule" }, SegmentRule) },
  required: ["rule"],
});

const exits: ReadonlyMap<string, Grammar> = new Map([
  ["attribute", AttributeRule],
  ["event", EventExit],
  ["rule", RuleExit],
]);

export const ExitCondition = named("ExitCondition", {
  check: (value, path, report) => {
    const [kind, ...more] = isJsonObject(value) ? Object.keys(value) : [];
    if (kind === undefined || more.length > 0) return report(path, "must have exactly one of attribute, event, rule");
    const exit = exits.get(kind);
    if (exit) exit.check(value, path, report);
    else report([...path, kind], "is not one of attribute, event, rule");
  },
  schema: () => ({
    description: "Ends a run early. It has exactly one of `attribute`, `event` and `rule`.",
    anyOf: [...exits.values()].map((grammar) => grammar.schema()),
  }),
});

export const JourneyGraph = namedObject("JourneyGraph", {
  about: "The steps of a journey, where it starts, and what ends it early. A draft may be incomplete.",
  fields: {
    start: text({ about: "The id of the first step. Required to activate" }),
    steps,
    exit_conditions: list({
      about: "A run ends as `exited` as soon as one of them holds. Default: none",
      of: ExitCondition,
      max: MAX_EXIT_CONDITIONS,
    }),
  },
  stranger: "is not a field of a graph",
});

/** The problems of the steps and exit conditions of a graph, each by itself. For the paths see journey-paths.ts. */
export const partProblems = (value: Record<string, unknown>): GraphProblem[] =>
  problemsIn(JourneyGraph, value).map(({ severity, ...problem }) => ({ severity, ...problemAt(problem) }));
