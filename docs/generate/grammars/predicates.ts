// The grammar of predicates: conditions on attributes, on properties of events and on devices. Checked by
// shared/rules/predicates.ts and shared/rules/versions.ts.
import { PREDICATE_KEYS, PREDICATE_OPERANDS } from "../../../shared/rules/predicates.ts";
import type { JsonSchema } from "../json-schema.ts";

const orderings = [
  ["$gt", "Greater than, or later than"],
  ["$gte", "Greater than, later than or equal to"],
  ["$lt", "Less than, or earlier than"],
  ["$lte", "Less than, earlier than or equal to"],
] as const;

/** The nine operators over operands of a kind. */
const operatorsOver = (value: JsonSchema, ordered: JsonSchema): Record<string, JsonSchema> => ({
  $eq: { ...value, description: "Equal to. A list matches if one of its elements does" },
  $ne: { ...value, description: "Not equal to. A missing value matches" },
  ...Object.fromEntries(orderings.map(([name, description]) => [name, { ...ordered, description }])),
  $in: { type: "array", items: value, description: "Equal to one of these. An empty list matches no value" },
  $nin: { type: "array", items: value, description: "Equal to none of these. A missing value matches" },
  $exists: { type: "boolean", description: "Whether the key has a value. `null` is a value" },
});

const part = (description: string): JsonSchema => ({
  type: "integer",
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description,
});

export const predicates: Record<string, JsonSchema> = {
  Operators: {
    type: "object",
    description:
      "One or more conditions on one value; all of them must hold. Values of different types are never equal, and a " +
      "number is not compared with a text. Two texts that are RFC 3339 timestamps compare as instants.",
    properties: operatorsOver({ type: ["string", "number", "boolean", "null"] }, { type: ["number", "string"] }),
    minProperties: 1,
    additionalProperties: false,
    examples: [{ $eq: "pro" }, { $gte: 18, $lt: 30 }, { $in: ["de", "at", "ch"] }],
  },
  AttributePredicate: {
    type: "object",
    description:
      `Conditions by key, all of which must hold. At most ${PREDICATE_KEYS} keys and ${PREDICATE_OPERANDS} operands; each ` +
      "element of `$in` and `$nin` counts. A missing value matches `$ne`, `$nin` and `$exists: false` only. `{}` matches " +
      "everything.",
    additionalProperties: { $ref: "#/components/schemas/Operators" },
    maxProperties: PREDICATE_KEYS,
    examples: [
      { plan: { $in: ["pro", "team"] } },
      { age: { $gte: 18 }, country: { $ne: "US" } },
      { last_login: { $gt: "2026-11-01T00:00:00Z" }, phone: { $exists: true } },
    ],
  },
  Version: {
    type: "object",
    description: "A version to compare with. A part that is missing is 0.",
    properties: {
      major: part("The first number"),
      minor: part("The second number"),
      patch: part("The third number"),
    },
    minProperties: 1,
    additionalProperties: false,
    examples: [{ major: 17 }, { major: 17, minor: 4 }, { major: 2, minor: 0, patch: 1 }],
  },
  VersionOperators: {
    type: "object",
    description: "One or more conditions on a version; all of them must hold. Versions compare part by part.",
    properties: operatorsOver({ $ref: "#/components/schemas/Version" }, { $ref: "#/components/schemas/Version" }),
    minProperties: 1,
    additionalProperties: false,
    examples: [
      { $gte: { major: 17 } },
      { $lt: { major: 2, minor: 4 } },
      { $in: [{ major: 16 }, { major: 17, minor: 1 }] },
    ],
  },
  DevicePredicate: {
    type: "object",
    description:
      "Conditions on a device by field, all of which must hold: `platform`, `model`, `locale`, `timezone`, " +
      "`environment`, `push_enabled` and the versions.",
    properties: {
      os_version: { $ref: "#/components/schemas/VersionOperators", description: "The version of the operating system" },
      sdk_version: { $ref: "#/components/schemas/VersionOperators", description: "The version of the SDK in the app" },
      app_version: { $ref: "#/components/schemas/VersionOperators", description: "The version of the app" },
    },
    additionalProperties: { $ref: "#/components/schemas/Operators" },
    maxProperties: PREDICATE_KEYS,
    examples: [
      { platform: { $eq: "ios" }, os_version: { $gte: { major: 17, minor: 4 } } },
      { app_version: { $lt: { major: 2 } } },
      { locale: { $in: ["de-DE", "de-AT"] }, model: { $exists: true } },
    ],
  },
};
