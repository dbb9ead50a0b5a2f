// The grammar of segment rules (RUL-1 to RUL-13): the tree and the flat form are validated and read as a tree of nodes.
// Journeys use the same grammar for eligibility, branches and exits.
import { hasAtMost } from "./characters.ts";
import { MAX_DURATION, parseDuration } from "./durations.ts";
import { fieldPath } from "./field-path.ts";
import { checkJson } from "./json-limits.ts";
import { isMap, type Predicate, type PredicateProblem, validatePredicate } from "./predicates.ts";

/** The most nested nodes, and the most nodes in a rule. */
export const RULE_DEPTH = 10;
export const RULE_NODES = 200;
/** Nested containers of a body with the deepest rule: three for each group, five for the leaf, and the body itself. */
export const RULE_JSON_DEPTH = 3 * RULE_DEPTH + 6;
/** The highest count in a frequency. */
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

/** The path of what is wrong (`group.nodes[1].event.within`, or empty for the whole) and the reason. */
export type RuleProblem = PredicateProblem;
type Read<T> = T | RuleProblem;

export const isProblem = (read: object): read is RuleProblem => "reason" in read;

/** Reads a rule of either form as a tree of nodes, or returns its problem. It recurses no deeper than `RULE_DEPTH`. */
export function parseRule(value: unknown): Read<RuleNode> {
  if (!isMap(value)) return problem("", "must be an object");
  const unsafe = checkJson(value, { depth: RULE_JSON_DEPTH });
  if (unsafe) return unsafe;
  return isFlat(value) ? readFlat(value) : readNode(value, "", 1, { nodes: 0 });
}

/** The leaves of a rule, in their order. */
export const leavesOf = (node: RuleNode): RuleLeaf[] => (node.kind === "group" ? node.nodes.flatMap(leavesOf) : [node]);

const problem = (path: string, reason: string): RuleProblem => ({ path, reason });

/** The first field that is not one of these, if any. */
const strangerIn = (value: object, fields: readonly string[]) =>
  Object.keys(value).find((key) => !fields.includes(key));

function readNode(value: unknown, path: string, depth: number, seen: { nodes: number }): Read<RuleNode> {
  if (!isMap(value)) return problem(path, "must be an object with one of attribute, event, group");
  if (depth > RULE_DEPTH) return problem(path, `must not be nested deeper than ${RULE_DEPTH} nodes`);
  if (++seen.nodes > RULE_NODES) return problem("", `must have at most ${RULE_NODES} nodes`);
  const [kind, ...more] = Object.keys(value);
  if (kind === undefined || more.length > 0) return problem(path, "must have exactly one of attribute, event, group");
  if (depth > 1 && isFlat(value)) return problem(path, "must not be the flat form inside a group");
  const inner = fieldPath(path, kind);
  if (kind === "attribute") return readAttribute(value.attribute, inner);
  if (kind === "event") return readEvent(value.event, inner);
  if (kind === "group") return readGroup(value.group, inner, depth, seen);
  return problem(inner, "is not one of attribute, event, group");
}

function readGroup(value: unknown, path: string, depth: number, seen: { nodes: number }): Read<GroupNode> {
  if (!isMap(value)) return problem(path, "must be an object with op and nodes");
  const stranger = strangerIn(value, ["op", "nodes"]);
  if (stranger !== undefined) return problem(fieldPath(path, stranger), "is not a field of a group");
  const { op, nodes } = value;
  if (op !== "and" && op !== "or") return problem(`${path}.op`, "must be and or or");
  if (!Array.isArray(nodes) || nodes.length === 0) return problem(`${path}.nodes`, "must have at least one node");
  const read: RuleNode[] = [];
  for (const [i, node] of nodes.entries()) {
    const one = readNode(node, fieldPath(path, "nodes", i), depth + 1, seen);
    if (isProblem(one)) return one;
    read.push(one);
  }
  return { kind: "group", op, nodes: read };
}

function readAttribute(value: unknown, path: string): Read<AttributeNode> {
  const read = readPredicate(value, path);
  if (isProblem(read)) return read;
  if (Object.keys(read.predicate).length === 0) return problem(path, "must have at least one attribute key");
  return { kind: "attribute", path, predicate: read.predicate };
}

function readPredicate(value: unknown, path: string): Read<{ predicate: Predicate }> {
  const wrong = validatePredicate(value);
  // Without a problem it is a predicate.
  if (!wrong) return { predicate: value as Predicate };
  return problem(fieldPath(path, wrong.path), wrong.reason);
}

const EVENT_FIELDS = ["name", "within", "frequency", "where"];

function readEvent(value: unknown, path: string): Read<EventNode> {
  if (!isMap(value)) return problem(path, "must be an object with a name");
  const stranger = strangerIn(value, EVENT_FIELDS);
  if (stranger !== undefined) return problem(fieldPath(path, stranger), "is not a field of an event condition");
  const name = readName(value.name, path);
  if (typeof name === "object") return name;
  const duration = typeof value.within === "string" ? parseDuration(value.within) : undefined;
  if (value.within !== undefined && duration === undefined)
    return problem(`${path}.within`, "must be a whole number of minutes, hours or days, such as 30m, 24h or 7d");
  const frequency = readFrequency(value.frequency, `${path}.frequency`);
  if (isProblem(frequency)) return frequency;
  const where = value.where === undefined ? undefined : readPredicate(value.where, `${path}.where`);
  if (where && isProblem(where)) return where;
  return { kind: "event", path, name, within: duration, ...frequency, where: where?.predicate };
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
  if (stranger !== undefined) return problem(fieldPath(path, stranger), "is not a field of a frequency");
  const { min, max } = value;
  if (min === undefined && max === undefined) return problem(path, "must have min, max or both");
  for (const [field, count] of Object.entries(value))
    if (!isCount(count)) return problem(`${path}.${field}`, `must be a whole number from 0 to ${MAX_OCCURRENCES}`);
  const read = { min: isCount(min) ? min : 0, max: isCount(max) ? max : undefined };
  return read.max !== undefined && read.min > read.max ? problem(path, "must not have a min above its max") : read;
}

const isCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MAX_OCCURRENCES;

/** AMB-51: whether a rule has the flat form. A key named `key` with an operator object as its value is that of a tree. */
function isFlat({ attribute, event }: Record<string, unknown>): boolean {
  const hasKey = isMap(attribute) && Object.hasOwn(attribute, "key") && !isMap(attribute.key);
  return hasKey || (isMap(event) && FLAT_EVENT_FIELDS.some((field) => Object.hasOwn(event, field)));
}

const FLAT_EVENT_FIELDS = ["operator", "count", "within_days"];
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
  const [only, ...more] = nodes;
  return only && more.length === 0 ? only : { kind: "group", op: "and", nodes };
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
  // Not a literal: the key may be `__proto__`, which must be refused like any other bad key.
  const predicate = Object.fromEntries([[key, { [`$${operator}`]: operand }]]);
  const wrong = validatePredicate(predicate);
  if (wrong) return problem(wrong.path === key ? "attribute.key" : "attribute.value", wrong.reason);
  return { kind: "attribute", path: "attribute", predicate };
}

function readFlatEvent(value: unknown): Read<EventNode> {
  if (!isMap(value)) return problem("event", "must be an object with a name");
  const stranger = strangerIn(value, ["name", ...FLAT_EVENT_FIELDS]);
  if (stranger !== undefined) return problem(`event.${stranger}`, "is not a field of the flat form");
  const { operator = "gte", count = 1, within_days } = value;
  const name = readName(value.name, "event");
  if (typeof name === "object") return name;
  if (operator !== "gte" && operator !== "lte" && operator !== "eq")
    return problem("event.operator", "must be one of gte, lte, eq");
  if (!isCount(count)) return problem("event.count", `must be a whole number from 0 to ${MAX_OCCURRENCES}`);
  if (within_days !== undefined && !isDays(within_days))
    return problem("event.within_days", `must be a whole number from 1 to ${MAX_DURATION / DAY_MS}`);
  return {
    kind: "event",
    path: "event",
    name,
    within: within_days === undefined ? undefined : within_days * DAY_MS,
    min: operator === "lte" ? 0 : count,
    max: operator === "gte" ? undefined : count,
    where: undefined,
  };
}

const isDays = (value: unknown): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= 1 && value * DAY_MS <= MAX_DURATION;
