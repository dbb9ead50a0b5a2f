// The grammar of segment rules (RUL-1 to RUL-13): tree and flat form, checked and brought into one tree of nodes.
// Journeys use the same grammar for eligibility, branches and exits.
import { hasAtMost } from "./characters.ts";
import { MAX_DURATION, parseDuration } from "./durations.ts";
import { checkJson } from "./json-limits.ts";
import { isMap, type Predicate, type PredicateProblem, validatePredicate } from "./predicates.ts";

/** Nodes on the way to the deepest one, and in the whole rule. */
export const RULE_DEPTH = 10;
export const RULE_NODES = 200;
/** Nested containers of a body that holds the deepest rule: three a group, five for the leaf, and the body itself. */
export const RULE_JSON_DEPTH = 3 * RULE_DEPTH + 6;
/** The largest number of times that a frequency may name. */
export const MAX_OCCURRENCES = 10_000;
const MAX_NAME_CHARACTERS = 256;
const DAY_MS = 86_400_000;

export interface AttributeNode {
  kind: "attribute";
  /** `group.nodes[0].attribute` */
  path: string;
  predicate: Predicate;
}

export interface EventNode {
  kind: "event";
  path: string;
  name: string;
  /** Milliseconds; undefined for all time. */
  within: number | undefined;
  min: number;
  max: number | undefined;
  where: Predicate | undefined;
}

export interface GroupNode {
  kind: "group";
  op: "and" | "or";
  nodes: RuleNode[];
}

export type RuleLeaf = AttributeNode | EventNode;
export type RuleNode = RuleLeaf | GroupNode;

/** Where a rule is wrong (`group.nodes[1].event.within`, or empty for the whole) and why, a sentence without subject. */
export type RuleProblem = PredicateProblem;
type Read<T> = T | RuleProblem;

export const isProblem = (read: object): read is RuleProblem => "reason" in read;

/** A rule in either form as a tree of nodes, or what is wrong with it. It recurses no deeper than `RULE_DEPTH`. */
export function parseRule(value: unknown): Read<RuleNode> {
  if (!isMap(value)) return problem("", "must be an object");
  const unsafe = checkJson(value, { depth: RULE_JSON_DEPTH });
  if (unsafe) return problem("", unsafe);
  return isFlat(value) ? readFlat(value) : readNode(value, "", 1, { nodes: 0 });
}

/** The leaves of a rule, in their order. */
export const leavesOf = (node: RuleNode): RuleLeaf[] => (node.kind === "group" ? node.nodes.flatMap(leavesOf) : [node]);

const problem = (path: string, reason: string): RuleProblem => ({ path, reason });
const within = (path: string, step: string) => (path === "" ? step : `${path}.${step}`);

/** The first field that is not one of these. */
const strangerIn = (value: object, fields: readonly string[]) =>
  Object.keys(value).find((key) => !fields.includes(key));

function readNode(value: unknown, path: string, depth: number, seen: { nodes: number }): Read<RuleNode> {
  if (!isMap(value)) return problem(path, "must be an object with one of attribute, event, group");
  if (depth > RULE_DEPTH) return problem(path, `must not be nested deeper than ${RULE_DEPTH} nodes`);
  if (++seen.nodes > RULE_NODES) return problem("", `must have at most ${RULE_NODES} nodes`);
  const [kind, ...more] = Object.keys(value);
  if (kind === undefined || more.length > 0) return problem(path, "must have exactly one of attribute, event, group");
  if (depth > 1 && isFlat(value)) return problem(path, "must not be the flat form inside a group");
  const inner = within(path, kind);
  if (kind === "attribute") return readAttribute(value.attribute, inner);
  if (kind === "event") return readEvent(value.event, inner);
  if (kind === "group") return readGroup(value.group, inner, depth, seen);
  return problem(inner, "is not one of attribute, event, group");
}

function readGroup(value: unknown, path: string, depth: number, seen: { nodes: number }): Read<GroupNode> {
  if (!isMap(value)) return problem(path, "must be an object with op and nodes");
  const stranger = strangerIn(value, ["op", "nodes"]);
  if (stranger !== undefined) return problem(within(path, stranger), "is not a field of a group");
  const { op, nodes } = value;
  if (op !== "and" && op !== "or") return problem(`${path}.op`, "must be and or or");
  if (!Array.isArray(nodes) || nodes.length === 0) return problem(`${path}.nodes`, "must have at least one node");
  const read: RuleNode[] = [];
  for (const [i, node] of nodes.entries()) {
    const one = readNode(node, `${path}.nodes[${i}]`, depth + 1, seen);
    if (isProblem(one)) return one;
    read.push(one);
  }
  return { kind: "group", op, nodes: read };
}

function readAttribute(value: unknown, path: string): Read<AttributeNode> {
  const wrong = predicateProblem(value, path);
  if (wrong) return wrong;
  if (Object.keys(value as Predicate).length === 0) return problem(path, "must have at least one attribute key");
  return { kind: "attribute", path, predicate: value as Predicate };
}

function predicateProblem(value: unknown, path: string): RuleProblem | undefined {
  const wrong = validatePredicate(value);
  return wrong && problem(wrong.path === "" ? path : within(path, wrong.path), wrong.reason);
}

const EVENT_FIELDS = ["name", "within", "frequency", "where"];

function readEvent(value: unknown, path: string): Read<EventNode> {
  if (!isMap(value)) return problem(path, "must be an object with a name");
  const stranger = strangerIn(value, EVENT_FIELDS);
  if (stranger !== undefined) return problem(within(path, stranger), "is not a field of an event condition");
  const name = readName(value.name, path);
  if (typeof name === "object") return name;
  const duration = typeof value.within === "string" ? parseDuration(value.within) : undefined;
  if (value.within !== undefined && duration === undefined)
    return problem(`${path}.within`, "must be a whole number of minutes, hours or days, such as 30m, 24h or 7d");
  const frequency = readFrequency(value.frequency, `${path}.frequency`);
  if (isProblem(frequency)) return frequency;
  const wrong = value.where === undefined ? undefined : predicateProblem(value.where, `${path}.where`);
  if (wrong) return wrong;
  const where = value.where as Predicate | undefined;
  return { kind: "event", path, name, within: duration, ...frequency, where };
}

function readName(name: unknown, path: string): string | RuleProblem {
  if (name === undefined) return problem(`${path}.name`, "is required");
  if (typeof name !== "string" || name === "") return problem(`${path}.name`, "must be a string that is not empty");
  if (!hasAtMost(name, MAX_NAME_CHARACTERS))
    return problem(`${path}.name`, `must have at most ${MAX_NAME_CHARACTERS} characters`);
  return name;
}

interface Frequency {
  min: number;
  max: number | undefined;
}

function readFrequency(value: unknown, path: string): Read<Frequency> {
  if (value === undefined) return { min: 1, max: undefined };
  if (!isMap(value)) return problem(path, "must be an object with min, max or both");
  const stranger = strangerIn(value, ["min", "max"]);
  if (stranger !== undefined) return problem(within(path, stranger), "is not a field of a frequency");
  const { min, max } = value;
  if (min === undefined && max === undefined) return problem(path, "must have min, max or both");
  for (const [field, times] of Object.entries(value))
    if (!isTimes(times)) return problem(`${path}.${field}`, `must be a whole number from 0 to ${MAX_OCCURRENCES}`);
  const read = { min: (min as number | undefined) ?? 0, max: max as number | undefined };
  return read.max !== undefined && read.min > read.max ? problem(path, "must not have a min above its max") : read;
}

const isTimes = (value: unknown): boolean =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MAX_OCCURRENCES;

/** AMB-51: what tells the flat form from a tree. A key named `key` with an operator object as value is a tree's. */
function isFlat({ attribute, event }: Record<string, unknown>): boolean {
  const hasKey = isMap(attribute) && Object.hasOwn(attribute, "key") && !isMap(attribute.key);
  return hasKey || (isMap(event) && FLAT_EVENT_MARKS.some((mark) => Object.hasOwn(event, mark)));
}

const FLAT_EVENT_MARKS = ["operator", "count", "within_days"];
const FLAT_OPERATORS = ["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin", "exists"];

function readFlat(value: Record<string, unknown>): Read<RuleNode> {
  const stranger = strangerIn(value, ["attribute", "event"]);
  if (stranger !== undefined) return problem(stranger, "must not be combined with the flat form");
  const nodes: RuleNode[] = [];
  for (const [given, read] of [
    [value.attribute, readFlatAttribute],
    [value.event, readFlatEvent],
  ] as const) {
    if (given === undefined) continue;
    const node = read(given);
    if (isProblem(node)) return node;
    nodes.push(node);
  }
  return nodes.length === 1 ? nodes[0]! : { kind: "group", op: "and", nodes };
}

function readFlatAttribute(value: unknown): Read<AttributeNode> {
  if (!isMap(value)) return problem("attribute", "must be an object with key, operator and value");
  const stranger = strangerIn(value, ["key", "operator", "value"]);
  if (stranger !== undefined) return problem(`attribute.${stranger}`, "is not a field of the flat form");
  const { key, operator = "eq" } = value;
  if (typeof key !== "string" || key === "") return problem("attribute.key", "must be a string that is not empty");
  if (typeof operator !== "string" || !FLAT_OPERATORS.includes(operator))
    return problem("attribute.operator", `must be one of ${FLAT_OPERATORS.join(", ")}`);
  if (value.value === undefined && operator !== "exists") return problem("attribute.value", "is required");
  const operand = value.value === undefined ? true : value.value;
  // Not a literal: the key may be `__proto__`, which is to be refused like any other bad one.
  const predicate = Object.fromEntries([[key, { [`$${operator}`]: operand }]]);
  const wrong = validatePredicate(predicate);
  if (wrong) return problem(wrong.path === key ? "attribute.key" : "attribute.value", wrong.reason);
  return { kind: "attribute", path: "attribute", predicate };
}

function readFlatEvent(value: unknown): Read<EventNode> {
  if (!isMap(value)) return problem("event", "must be an object with a name");
  const stranger = strangerIn(value, ["name", ...FLAT_EVENT_MARKS]);
  if (stranger !== undefined) return problem(`event.${stranger}`, "is not a field of the flat form");
  const { operator = "gte", count = 1, within_days } = value;
  const name = readName(value.name, "event");
  if (typeof name === "object") return name;
  if (operator !== "gte" && operator !== "lte" && operator !== "eq")
    return problem("event.operator", "must be one of gte, lte, eq");
  if (!isTimes(count)) return problem("event.count", `must be a whole number from 0 to ${MAX_OCCURRENCES}`);
  const days = within_days as number | undefined;
  const isDays = days === undefined || (Number.isInteger(days) && days >= 1 && days * DAY_MS <= MAX_DURATION);
  if (!isDays) return problem("event.within_days", `must be a whole number from 1 to ${MAX_DURATION / DAY_MS}`);
  const times = count as number;
  return {
    kind: "event",
    path: "event",
    name,
    within: days === undefined ? undefined : days * DAY_MS,
    min: operator === "lte" ? 0 : times,
    max: operator === "gte" ? undefined : times,
    where: undefined,
  };
}
