// Whether a journey can be run: where its steps lead, and everything else that activation asks for (JNY-15, JND-16).
import { parseDuration } from "./durations.ts";
import {
  checkRule,
  type EntryRules,
  type ExitCondition,
  type Graph,
  type GraphProblem,
  type JourneyNode,
  partProblems,
  type Trigger,
  targetsOf,
} from "./journey-graph.ts";
import { isMap } from "./predicates.ts";
import { compileRule } from "./segment-evaluation.ts";

/** Everything that is wrong with a graph, or not there yet. */
export function graphProblems(value: Record<string, unknown>): GraphProblem[] {
  const problems = partProblems(value);
  if (problems.some(({ severity }) => severity === "malformed")) return problems;
  const graph = value as unknown as Graph;
  const steps = graph.steps ?? {};
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
  if (!graph.start) problems.push({ severity: "missing", path: "start", reason: "is required" });
  else if (!Object.hasOwn(steps, graph.start))
    problems.push({ severity: "wrong", path: "start", reason: "is not a step" });
  return problems.length > 0 ? problems : pathProblems(graph);
}

function pathProblems(graph: Graph): GraphProblem[] {
  const reached = reachable(graph);
  const problems: GraphProblem[] = [];
  if (![...reached].some((id) => mayEnd(graph.steps[id]!)))
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

function reachable({ start, steps }: Graph): Set<string> {
  const reached = new Set<string>();
  for (const pending = [start]; pending.length > 0; ) {
    const id = pending.pop()!;
    if (reached.has(id)) continue;
    reached.add(id);
    pending.push(...targetsOf(steps[id]!));
  }
  return reached;
}

/** A run may complete here (AMB-11, AMB-62). */
function mayEnd(node: JourneyNode): boolean {
  if (node.type === "exit") return true;
  if (node.type === "send") return !node.send.next;
  if (node.type === "branch") return !node.branch.else;
  if (node.type === "wait_for_event")
    return node.wait_for_event.within !== undefined && !node.wait_for_event.on_timeout;
  return false;
}

const pauses = ({ type }: JourneyNode): boolean => type === "delay" || type === "wait_for_event";

/** A step on a cycle of steps that all happen at once: steps without a pause that are left over after peeling. */
function cycleWithoutPause({ steps }: Graph): string | undefined {
  const open = new Map(
    Object.entries(steps)
      .filter(([, node]) => !pauses(node))
      .map(([id, node]) => [id, targetsOf(node).filter((target) => !pauses(steps[target]!))]),
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

/** What is wrong with the rules of entry, always refused. */
export function entryRuleProblems(rules: EntryRules): GraphProblem[] {
  const problems: GraphProblem[] = [];
  if (rules.eligibility)
    checkRule(
      rules.eligibility,
      "eligibility",
      (severity, path, reason) => void problems.push({ severity, path, reason }),
    );
  if (typeof rules.reentry_window === "string" && parseDuration(rules.reentry_window) === undefined)
    problems.push({
      severity: "malformed",
      path: "reentry_window",
      reason: "must be a whole number of minutes, hours or days, such as 30m, 24h or 7d",
    });
  return problems;
}

/** What a trigger still lacks. */
export function triggerProblems({ type, segment_id, event_name }: Trigger): GraphProblem[] {
  if (type === "event") return event_name ? [] : [{ severity: "missing", path: "event_name", reason: "is required" }];
  return segment_id ? [] : [{ severity: "missing", path: "segment_id", reason: "is required" }];
}

/** What a run in flight reacts to: names of events and keys of attributes. */
export interface Heard {
  events: string[];
  attributes: string[];
}

/** What runs of a graph wait for or may be ended by. */
export function heardBy({ steps, exit_conditions = [] }: Graph): Heard {
  const events = Object.values(steps).flatMap((node) =>
    node.type === "wait_for_event" ? [node.wait_for_event.event_name] : [],
  );
  const attributes: string[] = [];
  for (const condition of exit_conditions) noteExit(condition, events, attributes);
  return { events: [...new Set(events)], attributes: [...new Set(attributes)] };
}

function noteExit(condition: ExitCondition, events: string[], attributes: string[]): void {
  if ("attribute" in condition) attributes.push(...Object.keys(condition.attribute));
  else if ("event" in condition) events.push(condition.event.name);
  else if (isMap(condition.rule)) {
    const rule = compileRule(condition.rule);
    attributes.push(...rule.attributes);
    events.push(...rule.events.map(({ name }) => name));
  }
}
