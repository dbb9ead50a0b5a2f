// The grammar of segment rules (RUL-1 to RUL-13): the tree and the flat form.

import { DAY } from "../kernel/clock.ts";
import { isJsonObject } from "../kernel/objects.ts";
import { durationText, MAX_DURATION } from "./durations.ts";
import { MAX_EVENT_NAME_CHARACTERS, OWN_EVENTS } from "./event-limits.ts";
import {
  choice,
  described,
  type Grammar,
  list,
  named,
  namedObject,
  number,
  object,
  type Path,
  problemsIn,
  type Report,
  text,
} from "./grammar.ts";
import { checkJson } from "./json-limits.ts";
import { AttributePredicate } from "./predicate-grammar.ts";
import { type Predicate, validatePredicate } from "./predicates.ts";

/** The most nested nodes, and the most nodes in a rule. */
export const RULE_DEPTH = 10;
export const RULE_NODES = 200;
/** Nested containers of a body with the deepest rule: three for each group, five for the leaf, and the body itself. */
export const RULE_JSON_DEPTH = 3 * RULE_DEPTH + 6;
/** The highest count in a frequency. */
const MAX_OCCURRENCES = 10_000;

/** A condition on attributes, with at least one. */
const attributes: Grammar = {
  check: (value, path, report) => {
    AttributePredicate.check(value, path, report);
    if (isJsonObject(value) && Object.keys(value).length === 0) report(path, "must have at least one attribute key");
  },
  schema: () => ({
    ...AttributePredicate.schema(),
    minProperties: 1,
    description: "At least one key with its operators",
  }),
};

const eventName = text({
  about: "The name of the event",
  min: 1,
  max: MAX_EVENT_NAME_CHARACTERS,
  refusal: "must be a string that is not empty",
  never: OWN_EVENTS,
});
const count = (what: { about: string; default?: number }) => number({ ...what, min: 0, max: MAX_OCCURRENCES });

const frequency = object({
  about: "How often, both bounds included. Left out: at least once. `{max: 0}` means never",
  fields: { min: count({ about: "At least this often" }), max: count({ about: "At most this often" }) },
  refusal: "must be an object with min, max or both",
  stranger: "is not a field of a frequency",
  minProperties: 1,
  also: ({ min, max }, path, report) => {
    if (min === undefined && max === undefined) report(path, "must have min, max or both");
    else if (Number(min) > Number(max)) report(path, "must not have a min above its max");
  },
});

export const EventCondition = namedObject("EventCondition", {
  about: "How often an event happened in a window of time.",
  fields: {
    name: eventName,
    within: durationText({
      about:
        "The window that ends now: whole minutes, hours or days, such as `30m`, `24h` or `7d`, at most 3650 days. Left " +
        "out: all time, on plans without a lookback limit",
    }),
    frequency,
    where: described({ about: "Counts only events whose properties match" }, AttributePredicate),
  },
  required: ["name"],
  missing: "is required",
  refusal: "must be an object with a name",
  stranger: "is not a field of an event condition",
});

export const AttributeRule = namedObject("AttributeRule", {
  about: "Holds for subscribers whose attributes match.",
  fields: { attribute: attributes },
  required: ["attribute"],
});

export const EventRule = namedObject("EventRule", {
  about: "Holds for subscribers who did something, or did not.",
  fields: { event: described({ about: "What was done, how often and since when" }, EventCondition) },
  required: ["event"],
});

const group = object({
  about: "The nodes and how they combine",
  fields: {
    op: choice({
      about: "`and`: all nodes hold. `or`: at least one does",
      of: ["and", "or"],
      refusal: "must be and or or",
    }),
    nodes: list({
      about: "One or more nodes, groups included",
      of: { check: checkNode, schema: () => RuleTree.schema() },
      min: 1,
      refusal: "must have at least one node",
    }),
  },
  required: ["op", "nodes"],
  refusal: "must be an object with op and nodes",
  stranger: "is not a field of a group",
});

export const GroupRule = namedObject("GroupRule", { about: "Combines nodes.", fields: { group }, required: ["group"] });

const rules: ReadonlyMap<string, Grammar> = new Map([
  ["attribute", AttributeRule],
  ["event", EventRule],
  ["group", GroupRule],
]);

function checkNode(value: unknown, path: Path, report: Report): undefined {
  const depth = path.filter((step) => typeof step === "number").length + 1;
  if (!isJsonObject(value)) return report(path, "must be an object with one of attribute, event, group");
  if (depth > RULE_DEPTH) return report(path, `must not be nested deeper than ${RULE_DEPTH} nodes`);
  const [kind, ...more] = Object.keys(value);
  if (kind === undefined || more.length > 0) return report(path, "must have exactly one of attribute, event, group");
  if (depth > 1 && isFlat(value)) return report(path, "must not be the flat form inside a group");
  const rule = rules.get(kind);
  if (rule) rule.check(value, path, report);
  else report([...path, kind], "is not one of attribute, event, group");
}

export const RuleTree = named("RuleNode", {
  check: checkNode,
  schema: () => ({
    description: "A node of a rule. It has exactly one of `attribute`, `event` and `group`.",
    anyOf: [...rules.values()].map((rule) => rule.schema()),
  }),
});

const FLAT_OPERATORS = ["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin", "exists"];
const stranger = "is not a field of the flat form";
const scalar = { type: ["string", "number", "boolean", "null"] };

const flatAttribute = object({
  about: "A condition on one attribute.",
  fields: {
    key: text({ about: "The key of the attribute", min: 1, refusal: "must be a string that is not empty" }),
    operator: choice({
      about: "How the attribute compares with `value`",
      of: FLAT_OPERATORS,
      refusal: `must be one of ${FLAT_OPERATORS.join(", ")}`,
      default: "eq",
    }),
    value: described(
      {
        about: "What it compares with: a list for `in` and `nin`. Only `exists` needs none; its default is `true`",
      },
      { check: () => undefined, schema: () => ({ anyOf: [scalar, { type: "array", items: scalar }] }) },
    ),
  },
  required: ["key"],
  refusal: "must be an object with key, operator and value",
  stranger,
  also: ({ key, operator = "eq", value }, path, report) => {
    if (typeof key !== "string" || !FLAT_OPERATORS.some((flatOperator) => flatOperator === operator)) return;
    if (value === undefined && operator !== "exists") return report([...path, "value"], "is required");
    const wrong = validatePredicate(predicateOf({ key, operator, value }));
    if (wrong) report([...path, wrong.path === key ? "key" : "value"], wrong.reason);
  },
});

/** Not a literal: the key may be `__proto__`, which must be refused like any other bad key. */
export const predicateOf = ({ key, operator = "eq", value }: Record<string, unknown>): Predicate =>
  Object.fromEntries([[String(key), { [`$${operator}`]: value === undefined ? true : value }]]);

const flatEvent = object({
  about: "A condition on how often one event happened.",
  fields: {
    name: eventName,
    operator: choice({
      about: "Compares the number of events",
      of: ["gte", "lte", "eq"],
      refusal: "must be one of gte, lte, eq",
      default: "gte",
    }),
    count: count({ about: "The number of events", default: 1 }),
    within_days: number({
      about: "Counts only events of this many days. Left out: of all time, on plans without a lookback limit",
      min: 1,
      max: MAX_DURATION / DAY,
    }),
  },
  required: ["name"],
  missing: "is required",
  refusal: "must be an object with a name",
  stranger,
});

export const FlatRule = namedObject("FlatRule", {
  about: "The flat form: one attribute, one event or both, which then must both hold. It cannot be part of a group.",
  fields: { attribute: flatAttribute, event: flatEvent },
  stranger: "must not be combined with the flat form",
  minProperties: 1,
});

/** A rule of either form, told by its first problem. The check recurses no deeper than `RULE_JSON_DEPTH`. */
export const SegmentRule = named("SegmentRule", {
  check: (value, path, report) => {
    if (!isJsonObject(value)) return report(path, "must be an object");
    const unsafe = checkJson(value, { depth: RULE_JSON_DEPTH });
    if (unsafe) return report([...path, unsafe.path], unsafe.reason);
    if (countNodes(value) > RULE_NODES) return report(path, `must have at most ${RULE_NODES} nodes`);
    const [first] = problemsIn(isFlat(value) ? FlatRule : RuleTree, value);
    if (first) report([...path, ...first.path], first.reason);
  },
  schema: () => ({
    description: `Who belongs to a segment: a tree of at most ${RULE_NODES} nodes and ${RULE_DEPTH} levels, or the flat form.`,
    anyOf: [...rules.values(), FlatRule].map((rule) => rule.schema()),
  }),
});

const FLAT_EVENT_FIELDS = ["operator", "count", "within_days"];

/** AMB-51: whether a rule has the flat form. A key named `key` with an operator object as its value is that of a tree. */
export function isFlat({ attribute, event }: { attribute?: unknown; event?: unknown }): boolean {
  const hasKey = isJsonObject(attribute) && Object.hasOwn(attribute, "key") && !isJsonObject(attribute.key);
  return hasKey || (isJsonObject(event) && FLAT_EVENT_FIELDS.some((field) => Object.hasOwn(event, field)));
}

/** The number of nodes in a value that may be a tree. It recurses no deeper than `RULE_JSON_DEPTH`. */
function countNodes(value: unknown): number {
  const nodes =
    isJsonObject(value) && isJsonObject(value.group) && Array.isArray(value.group.nodes) ? value.group.nodes : [];
  return nodes.reduce<number>((sum, node) => sum + countNodes(node), 1);
}

export const EventExpectation = namedObject("EventExpectation", {
  about: "An event, how often and since when.",
  fields: {
    name: text({ about: "The name of the event" }),
    within_seconds: number({ about: "The length of the window in seconds. Left out: all time" }),
    frequency: object({
      about: "How often, both bounds included",
      fields: {
        min: number({ about: "At least this often" }),
        max: number({ about: "At most this often. Left out: without limit" }),
      },
      required: ["min"],
    }),
    where: described({ about: "Conditions on the properties of the event" }, AttributePredicate),
  },
  required: ["name", "frequency"],
});
