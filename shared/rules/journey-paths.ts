// Whether a journey can be run: the paths between its steps, and everything else that activation requires (JNY-15,
// JND-16).
import { HOUR } from "../kernel/clock.ts";
import { isJsonObject } from "../kernel/objects.ts";
import { NO_DURATION, parseDuration } from "./durations.ts";
import { fieldPath } from "./field-path.ts";
import { problemsIn } from "./grammar.ts";
import { partProblems } from "./journey-grammar.ts";
import {
  type EntryRules,
  type Exit,
  exitsOf,
  type Graph,
  type GraphProblem,
  type JourneyNode,
  type Trigger,
} from "./journey-graph.ts";
import { targetsOf } from "./journey-steps.ts";
import { attributesOfKey } from "./predicates.ts";
import { capProblem, compileRule, type Rule, type RuleCaps } from "./segment-evaluation.ts";
import { SegmentRule } from "./segment-grammar.ts";

/** All problems of a graph, and what is still missing. */
export function graphProblems(value: Record<string, unknown>): GraphProblem[] {
  const problems = partProblems(value);
  if (!isWellFormed(value, problems)) return problems;
  const { start, steps = {} } = value;
  for (const [id, node] of Object.entries(steps)) {
    if (node.type === undefined) continue;
    for (const target of targetsOf(node))
      if (!Object.hasOwn(steps, target))
        problems.push({
          severity: "wrong",
          path: `steps.${id}.${node.type}`,
          reason: `leads to ${target.slice(0, 128)}, which is not a step`,
        });
  }
  if (!start) problems.push({ severity: "missing", path: "start", reason: "is required" });
  else if (!Object.hasOwn(steps, start)) problems.push({ severity: "wrong", path: "start", reason: "is not a step" });
  return start && problems.length === 0 ? pathProblems({ start, steps }) : problems;
}

/** A graph without malformed parts in `partProblems`: anything may still be missing. */
type PartialGraph = { start?: string; steps?: Record<string, JourneyNode> };

const isWellFormed = (_: object, problems: readonly GraphProblem[]): _ is PartialGraph =>
  problems.every(({ severity }) => severity !== "malformed");

/** Whether a graph has no problem at all: only such a graph is run. */
export const isRunnable = (value: Record<string, unknown>): value is Record<string, unknown> & Graph =>
  graphProblems(value).length === 0;

function pathProblems(graph: Graph): GraphProblem[] {
  const problems: GraphProblem[] = [];
  if (!reachableNodes(graph).some(mayEnd))
    problems.push({ severity: "missing", path: "steps", reason: "must have an exit that can be reached from start" });
  const looping = cycleWithoutPause(graph);
  if (looping !== undefined)
    problems.push({
      severity: "wrong",
      path: `steps.${looping}`,
      reason: "leads back to itself without a delay or a wait in between",
    });
  return problems;
}

function reachableNodes({ start, steps }: Graph): JourneyNode[] {
  const reached = new Map<string, JourneyNode>();
  const visit = (id: string) => {
    const node = steps[id];
    if (!node || reached.has(id)) return;
    reached.set(id, node);
    for (const target of targetsOf(node)) visit(target);
  };
  visit(start);
  return [...reached.values()];
}

/** Whether a run may complete at a step (AMB-11, AMB-62). */
function mayEnd(node: JourneyNode): boolean {
  if (node.type === "exit") return true;
  if (node.type === "send") return !node.send.next;
  if (node.type === "branch") return !node.branch.else;
  if (node.type === "wait_for_event")
    return node.wait_for_event.within !== undefined && !node.wait_for_event.on_timeout;
  return false;
}

const pauses = ({ type }: JourneyNode): boolean => type === "delay" || type === "wait_for_event";

/**
 * A step on a cycle without a pause, on which a run would never stop. Steps that lead to no other step of the kind are
 * removed, until only cycles and the steps that lead into them remain.
 */
function cycleWithoutPause({ steps }: Graph): string | undefined {
  const open = new Map(
    Object.entries(steps)
      .filter(([, node]) => !pauses(node))
      .map(([id, node]) => [id, targetsOf(node)]),
  );
  for (let removed = true; removed; ) {
    removed = false;
    for (const [id, targets] of open)
      if (!targets.some((target) => open.has(target))) {
        open.delete(id);
        removed = true;
      }
  }
  return open.keys().next().value;
}

/** The problems of the entry rules, which are always refused. */
export function entryRuleProblems(rules: EntryRules): GraphProblem[] {
  const eligibility = rules.eligibility ? problemsIn(SegmentRule, rules.eligibility) : [];
  const problems = eligibility.map(({ path, reason }): GraphProblem => {
    return { severity: "malformed", path: fieldPath("eligibility", ...path), reason };
  });
  if (typeof rules.reentry_window === "string" && parseDuration(rules.reentry_window) === undefined)
    problems.push({ severity: "malformed", path: "reentry_window", reason: NO_DURATION });
  return problems;
}

const DEFAULT_MAX_AGE = 72 * HOUR;
const WITHOUT_LIMIT = "none";

/** Whether an event is too old, at its receipt, to start a journey of this trigger (AMB-134). */
export function isTooOld(
  { max_age = "" }: Pick<Trigger, "max_age">,
  { occurred_at, received_at }: { occurred_at: string; received_at: string },
): boolean {
  if (max_age === WITHOUT_LIMIT) return false;
  return Date.parse(received_at) - Date.parse(occurred_at) > (parseDuration(max_age) ?? DEFAULT_MAX_AGE);
}

/** The problems of a trigger, and what is still missing. */
export function triggerProblems({ type, segment_id, event_name, max_age }: Trigger): GraphProblem[] {
  const [needed, other] =
    type === "event" ? (["event_name", "segment_id"] as const) : (["segment_id", "event_name"] as const);
  const fields = { segment_id, event_name };
  const problems: GraphProblem[] = [];
  if (!fields[needed]) problems.push({ severity: "missing", path: needed, reason: "is required" });
  if (fields[other] !== undefined)
    problems.push({ severity: "malformed", path: other, reason: `is not used by a trigger of type ${type}` });
  if (max_age !== undefined && max_age !== WITHOUT_LIMIT && parseDuration(max_age) === undefined)
    problems.push({ severity: "malformed", path: "max_age", reason: `${NO_DURATION}, or ${WITHOUT_LIMIT}` });
  return problems;
}

/** The names of events and keys of attributes that the runs of a graph depend on. */
export interface RunDependencies {
  events: string[];
  attributes: string[];
}

/** The events and attributes that runs of a graph wait for, or that can end them. */
export function dependenciesOf(graph: Graph): RunDependencies {
  const waits = Object.values(graph.steps).flatMap((node) =>
    node.type === "wait_for_event" ? [node.wait_for_event.event_name] : [],
  );
  const exits = exitsOf(graph).map(exitDependencies);
  return {
    events: [...new Set([...waits, ...exits.flatMap(({ events }) => events)])],
    attributes: [...new Set(exits.flatMap(({ attributes }) => attributes))],
  };
}

function exitDependencies(exit: Exit): RunDependencies {
  if (exit.kind === "attribute")
    return { events: [], attributes: Object.keys(exit.predicate).flatMap(attributesOfKey) };
  if (exit.kind === "event") return { events: [exit.event.name], attributes: [] };
  const { events, attributes } = compileRule(exit.rule);
  return { events: events.map(({ name }) => name), attributes: [...attributes] };
}

/** The rule of an exit by attributes; undefined for an exit by an event. */
function ruleOfExit(exit: Exit): unknown {
  if (exit.kind === "rule") return exit.rule;
  return exit.kind === "attribute" ? { attribute: exit.predicate } : undefined;
}

/** The rules of a journey, each with its path. An incomplete one counts as none. */
function rulesIn(entry_rules: EntryRules | null, graph: Partial<Graph>): [path: string, rule: Rule][] {
  const said: [path: string, rule: unknown][] = [
    ["entry_rules.eligibility", entry_rules?.eligibility],
    ...Object.entries(graph.steps ?? {}).map(([id, node]): [string, unknown] => [
      `steps.steps.${id}.branch.condition`,
      node.type === "branch" ? node.branch?.condition : undefined,
    ]),
    ...exitsOf(graph).map((exit, i): [string, unknown] => [`steps.exit_conditions[${i}].rule`, ruleOfExit(exit)]),
  ];
  return said.flatMap(([path, rule]) =>
    isJsonObject(rule) && problemsIn(SegmentRule, rule).length === 0 ? [[path, compileRule(rule)]] : [],
  );
}

/** The attribute keys in the rules of a journey, as they are written. */
export const attributeKeysIn = (entry_rules: EntryRules | null, graph: Partial<Graph>): string[] => [
  ...new Set(rulesIn(entry_rules, graph).flatMap(([, { keys }]) => keys)),
];

/** The parts of a journey's rules beyond the limits of a plan (RUL-6). */
export const beyondPlan = (entry_rules: EntryRules | null, graph: Graph, caps: RuleCaps) =>
  rulesIn(entry_rules, graph).flatMap(([path, rule]) => {
    const beyond = capProblem(rule, caps);
    return beyond ? { ...beyond, path: fieldPath(path, beyond.path) } : [];
  });
