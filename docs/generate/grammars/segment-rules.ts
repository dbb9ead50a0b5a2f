// The grammar of segment rules, which journeys use for eligibility, branches and exits too. Checked by
// shared/rules/segment-rules.ts.
import { MAX_DURATION } from "../../../shared/rules/durations.ts";
import { MAX_OCCURRENCES, RULE_DEPTH, RULE_NODES } from "../../../shared/rules/segment-rules.ts";
import type { JsonSchema } from "../json-schema.ts";

const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });
const DAY_MS = 86_400_000;
const MAX_NAME_CHARACTERS = 256;

const eventName: JsonSchema = {
  type: "string",
  minLength: 1,
  maxLength: MAX_NAME_CHARACTERS,
  description: "The name of the event",
};
const count = (description: string): JsonSchema => ({
  type: "integer",
  minimum: 0,
  maximum: MAX_OCCURRENCES,
  description,
});
const alternatives = (names: readonly string[], more: JsonSchema): JsonSchema => ({ ...more, anyOf: names.map(ref) });

const attributeExample = { attribute: { plan: { $in: ["pro", "team"] } } };
const eventExample = { event: { name: "order_paid", within: "30d", frequency: { min: 2 } } };
const groupExample = {
  group: {
    op: "and",
    nodes: [
      { attribute: { country: { $eq: "DE" } } },
      { event: { name: "cart_left", within: "24h", where: { total: { $gte: 50 } } } },
      { group: { op: "or", nodes: [{ attribute: { vip: { $eq: true } } }, { event: { name: "app_opened" } }] } },
    ],
  },
};
const flatExamples = [
  { attribute: { key: "plan", value: "pro" } },
  { event: { name: "order_paid", operator: "gte", count: 3, within_days: 30 } },
  { attribute: { key: "age", operator: "gte", value: 18 }, event: { name: "app_opened", within_days: 7 } },
];

const flatAttribute: JsonSchema = {
  type: "object",
  description: "A condition on one attribute.",
  properties: {
    key: { type: "string", minLength: 1, description: "The key of the attribute" },
    operator: {
      type: "string",
      enum: ["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin", "exists"],
      default: "eq",
      description: "How the attribute compares with `value`",
    },
    value: {
      anyOf: [
        { type: ["string", "number", "boolean", "null"] },
        { type: "array", items: { type: ["string", "number", "boolean", "null"] } },
      ],
      description: "What it compares with: a list for `in` and `nin`. Only `exists` needs none; its default is `true`",
    },
  },
  required: ["key"],
  additionalProperties: false,
};

const flatEvent: JsonSchema = {
  type: "object",
  description: "A condition on how often one event happened.",
  properties: {
    name: eventName,
    operator: {
      type: "string",
      enum: ["gte", "lte", "eq"],
      default: "gte",
      description: "Compares the number of events",
    },
    count: { ...count("The number of events"), default: 1 },
    within_days: {
      type: "integer",
      minimum: 1,
      maximum: MAX_DURATION / DAY_MS,
      description: "Counts only events of this many days. Left out: of all time, on plans without a lookback limit",
    },
  },
  required: ["name"],
  additionalProperties: false,
};

export const segmentRules: Record<string, JsonSchema> = {
  SegmentRule: alternatives(["AttributeRule", "EventRule", "GroupRule", "FlatRule"], {
    description: `Who belongs to a segment: a tree of at most ${RULE_NODES} nodes and ${RULE_DEPTH} levels, or the flat form.`,
    examples: [attributeExample, eventExample, groupExample],
  }),
  RuleNode: alternatives(["AttributeRule", "EventRule", "GroupRule"], {
    description: "A node of a rule. It has exactly one of `attribute`, `event` and `group`.",
    examples: [attributeExample, eventExample, groupExample],
  }),
  AttributeRule: {
    type: "object",
    description: "Holds for subscribers whose attributes match.",
    properties: {
      attribute: { ...ref("AttributePredicate"), minProperties: 1, description: "At least one key with its operators" },
    },
    required: ["attribute"],
    additionalProperties: false,
    examples: [
      attributeExample,
      { attribute: { country: { $eq: "DE" }, age: { $gte: 18 } } },
      { attribute: { phone: { $exists: false } } },
    ],
  },
  EventRule: {
    type: "object",
    description: "Holds for subscribers who did something, or did not.",
    properties: { event: { ...ref("EventCondition"), description: "What was done, how often and since when" } },
    required: ["event"],
    additionalProperties: false,
    examples: [
      { event: { name: "app_opened" } },
      eventExample,
      { event: { name: "app_opened", within: "14d", frequency: { max: 0 } } },
    ],
  },
  EventCondition: {
    type: "object",
    description: "How often an event happened in a window of time.",
    properties: {
      name: eventName,
      within: {
        type: "string",
        pattern: "^[1-9][0-9]{0,6}[mhd]$",
        description:
          "The window that ends now: whole minutes, hours or days, such as `30m`, `24h` or `7d`, at most 3650 days. Left " +
          "out: all time, on plans without a lookback limit",
      },
      frequency: {
        type: "object",
        description: "How often, both bounds included. Left out: at least once. `{max: 0}` means never",
        properties: { min: count("At least this often"), max: count("At most this often") },
        minProperties: 1,
        additionalProperties: false,
      },
      where: { ...ref("AttributePredicate"), description: "Counts only events whose properties match" },
    },
    required: ["name"],
    additionalProperties: false,
    examples: [
      { name: "app_opened" },
      { name: "order_paid", within: "30d", frequency: { min: 2, max: 5 } },
      { name: "order_paid", where: { total: { $gte: 100 }, currency: { $eq: "EUR" } } },
    ],
  },
  GroupRule: {
    type: "object",
    description: "Combines nodes.",
    properties: {
      group: {
        type: "object",
        description: "The nodes and how they combine",
        properties: {
          op: { type: "string", enum: ["and", "or"], description: "`and`: all nodes hold. `or`: at least one does" },
          nodes: {
            type: "array",
            items: ref("RuleNode"),
            minItems: 1,
            description: "One or more nodes, groups included",
          },
        },
        required: ["op", "nodes"],
        additionalProperties: false,
      },
    },
    required: ["group"],
    additionalProperties: false,
    examples: [
      groupExample,
      { group: { op: "or", nodes: [attributeExample, eventExample] } },
      { group: { op: "and", nodes: [attributeExample] } },
    ],
  },
  FlatRule: {
    type: "object",
    description:
      "The flat form: one attribute, one event or both, which then must both hold. It cannot be part of a group.",
    properties: { attribute: flatAttribute, event: flatEvent },
    minProperties: 1,
    additionalProperties: false,
    examples: flatExamples,
  },
};
