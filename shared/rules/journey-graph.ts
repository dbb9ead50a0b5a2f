// The definition of a journey: its trigger, entry rules, graph of steps and exit conditions (JNY-2, JND-1 to JND-8).
import { type Safety, safetyProblems } from "./brake.ts";
import { type ByChannel, contentProblems } from "./channel-content.ts";
import { hasAtMost } from "./characters.ts";
import { parseDuration } from "./durations.ts";
import { fieldPath } from "./field-path.ts";
import { isMap, type Predicate, validatePredicate } from "./predicates.ts";
import { isProblem, parseRule } from "./segment-rules.ts";

export const STEPS_OF_A_JOURNEY = 100;
export const MAX_EXIT_CONDITIONS = 20;
const MAX_ID_CHARACTERS = 128;
const MAX_NAME_CHARACTERS = 256;

export const triggerTypes = ["segment_entered", "segment_exited", "event"] as const;

export interface Trigger {
  type: (typeof triggerTypes)[number];
  segment_id?: string | undefined;
  event_name?: string | undefined;
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
    /** The limits at which it halts (F21). */
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

export type ExitCondition = { attribute: Predicate } | { event: { name: string; where?: Predicate } } | { rule: Rule };

export interface Graph {
  start: string;
  steps: Record<string, JourneyNode>;
  exit_conditions?: ExitCondition[];
}

/** When a problem is refused: always, by PUT (AMB-8), or only where the definition must be complete (AMB-61). */
export type Severity = "malformed" | "wrong" | "missing";

export interface GraphProblem {
  severity: Severity;
  /** `steps.welcome.send.next`, below the field `steps` of the request. */
  path: string;
  reason: string;
}

/** Records a problem. */
type Blame = (severity: Severity, path: string, reason: string) => undefined;

const nodeTypes = ["send", "delay", "branch", "wait_for_event", "exit"] as const;
const isNodeType = (type: unknown): type is JourneyNode["type"] => nodeTypes.some((one) => one === type);

/** The fields of a step's configuration: those that name another step, the others, and those that are required. */
const fields = {
  send: {
    targets: ["next"],
    others: ["channel_ids", "template_id", "content", "category", "topic", "safety"],
    required: ["channel_ids"],
  },
  delay: { targets: ["next"], others: ["duration"], required: ["duration", "next"] },
  branch: { targets: ["then", "else"], others: ["condition"], required: ["condition", "then"] },
  wait_for_event: {
    targets: ["on_event", "on_timeout"],
    others: ["event_name", "within", "where"],
    required: ["event_name", "on_event"],
  },
} as const;

/** The ids of the steps that a step may lead to, without empty ones. */
export function targetsOf(node: JourneyNode): string[] {
  if (node.type === "exit") return [];
  const config = configOf(node);
  return fields[node.type].targets.flatMap((field) => (config[field] ? [String(config[field])] : []));
}

/** The configuration of a step; it may be missing in a draft. */
function configOf(node: JourneyNode): Record<string, unknown> {
  const config: unknown = new Map<string, unknown>(Object.entries(node)).get(node.type);
  return isMap(config) ? config : {};
}

const DURATION = "must be a whole number of minutes, hours or days, such as 30m, 24h or 7d";

/** The problems of the steps and exit conditions of a graph, each by itself. For the paths see journey-paths.ts. */
export function partProblems(value: Record<string, unknown>): GraphProblem[] {
  const problems: GraphProblem[] = [];
  const blame: Blame = (severity, path, reason) => {
    problems.push({ severity, path, reason });
    return undefined;
  };
  for (const key of Object.keys(value))
    if (!["start", "steps", "exit_conditions"].includes(key)) blame("malformed", key, "is not a field of a graph");
  const { start, steps = {}, exit_conditions } = value;
  if (start !== undefined && typeof start !== "string") blame("malformed", "start", "must be a string");
  if (isMap(steps)) checkSteps(steps, blame);
  else blame("malformed", "steps", "must be an object of steps by their ids");
  if (exit_conditions !== undefined) checkExits(exit_conditions, blame);
  return problems;
}

function checkSteps(steps: Record<string, unknown>, blame: Blame): undefined {
  const entries = Object.entries(steps);
  if (entries.length > STEPS_OF_A_JOURNEY) blame("malformed", "steps", `must be at most ${STEPS_OF_A_JOURNEY} steps`);
  for (const [id, node] of entries) {
    const path = `steps.${id.slice(0, MAX_ID_CHARACTERS)}`;
    if (id === "" || id.length > MAX_ID_CHARACTERS)
      blame("malformed", path, `must have an id of 1 to ${MAX_ID_CHARACTERS} characters`);
    if (isMap(node)) checkNode(id, node, path, blame);
    else blame("malformed", path, "must be an object");
  }
}

function checkNode(id: string, node: Record<string, unknown>, path: string, blame: Blame): undefined {
  if (node.id === undefined) blame("missing", `${path}.id`, "is required");
  else if (node.id !== id) blame("malformed", `${path}.id`, "must be the key of the step");
  const { type } = node;
  if (type === undefined) return blame("missing", `${path}.type`, "is required");
  if (!isNodeType(type)) return blame("malformed", `${path}.type`, `must be one of ${nodeTypes.join(", ")}`);
  for (const key of Object.keys(node))
    if (key !== "id" && key !== "type" && (key !== type || type === "exit"))
      blame("malformed", `${path}.${key}`, `is not a field of a step of type ${type}`);
  if (type === "exit") return;
  const config = node[type];
  const at = `${path}.${type}`;
  if (config === undefined) return blame("missing", at, "is required");
  if (!isMap(config)) return blame("malformed", at, "must be an object");
  const { targets, others, required } = fields[type];
  for (const [key, value] of Object.entries(config)) {
    if (targets.some((field) => field === key)) {
      if (typeof value !== "string") blame("malformed", `${at}.${key}`, "must be the id of a step");
    } else if (others.some((field) => field === key)) checkField(key, value, `${at}.${key}`, blame);
    else blame("malformed", `${at}.${key}`, `is not a field of ${type}`);
  }
  for (const key of required)
    if (config[key] === undefined || config[key] === "") blame("missing", `${at}.${key}`, "is required");
  if (type === "send" && config.template_id === undefined && config.content === undefined)
    blame("missing", at, "must have content or a template_id");
}

function checkField(key: string, value: unknown, path: string, blame: Blame): undefined {
  if (key === "duration" || key === "within") {
    if (typeof value !== "string") blame("malformed", path, "must be a string");
    else if (parseDuration(value) === undefined) blame("wrong", path, DURATION);
  } else if (key === "event_name") {
    if (typeof value !== "string" || value.length > MAX_NAME_CHARACTERS)
      blame("malformed", path, `must be a string of at most ${MAX_NAME_CHARACTERS} characters`);
  } else if (key === "condition") checkRule(value, path, blame);
  else if (key === "where") checkPredicate(value, path, blame);
  else if (key === "template_id" || key === "topic") {
    if (typeof value !== "string") blame("malformed", path, "must be a string");
  } else if (key === "category") {
    if (value !== "marketing" && value !== "transactional")
      blame("malformed", path, "must be marketing or transactional");
  } else if (key === "safety") {
    for (const { field, reason } of safetyProblems(value)) blame("malformed", fieldPath(path, field), reason);
  } else if (key === "channel_ids") {
    if (!Array.isArray(value) || value.length > 20 || value.some((one) => typeof one !== "string"))
      blame("malformed", path, "must be an array of at most 20 ids of channels");
    else if (value.length === 0) blame("missing", path, "must name at least one channel");
  } else if (!isMap(value) || typeof value.title !== "string" || typeof value.body !== "string")
    blame("malformed", path, "must be an object with title and body");
  else checkContent(value, path, blame);
}

function checkContent(value: Record<string, unknown>, path: string, blame: Blame): undefined {
  for (const field of Object.keys(value))
    if (!["title", "body", "by_channel"].includes(field))
      blame("malformed", `${path}.${field}`, "is not a known field");
  if (value.by_channel === undefined) return;
  for (const problem of contentProblems(value.by_channel))
    blame("malformed", fieldPath(path, "by_channel", ...problem.path), problem.reason);
}

/** Records what is wrong with a rule in the grammar of segments. */
export function checkRule(value: unknown, path: string, blame: Blame): undefined {
  const read = isMap(value) ? parseRule(value) : { path: "", reason: "must be an object" };
  if (isProblem(read)) blame("malformed", fieldPath(path, read.path), read.reason);
}

function checkPredicate(value: unknown, path: string, blame: Blame): undefined {
  const problem = validatePredicate(value);
  if (problem) blame("malformed", fieldPath(path, problem.path), problem.reason);
}

function checkExits(value: unknown, blame: Blame): undefined {
  if (!Array.isArray(value)) return blame("malformed", "exit_conditions", "must be an array");
  if (value.length > MAX_EXIT_CONDITIONS)
    blame("malformed", "exit_conditions", `must be at most ${MAX_EXIT_CONDITIONS}`);
  for (const [i, condition] of value.entries()) {
    const path = fieldPath("exit_conditions", i);
    const [kind, ...more] = isMap(condition) ? Object.keys(condition) : [];
    if (!isMap(condition) || kind === undefined || more.length > 0)
      blame("malformed", path, "must have exactly one of attribute, event, rule");
    else if (kind === "attribute") {
      checkPredicate(condition.attribute, `${path}.attribute`, blame);
      if (isMap(condition.attribute) && Object.keys(condition.attribute).length === 0)
        blame("malformed", `${path}.attribute`, "must have at least one attribute key");
    } else if (kind === "rule") checkRule(condition.rule, `${path}.rule`, blame);
    else if (kind === "event") checkExitEvent(condition.event, `${path}.event`, blame);
    else blame("malformed", `${path}.${kind}`, "is not one of attribute, event, rule");
  }
}

function checkExitEvent(value: unknown, path: string, blame: Blame): undefined {
  if (
    !isMap(value) ||
    typeof value.name !== "string" ||
    value.name === "" ||
    !hasAtMost(value.name, MAX_NAME_CHARACTERS)
  )
    return blame("malformed", path, "must be an object with the name of an event");
  for (const key of Object.keys(value))
    if (key !== "name" && key !== "where") blame("malformed", `${path}.${key}`, "is not one of name, where");
  if (value.where !== undefined) checkPredicate(value.where, `${path}.where`, blame);
}
