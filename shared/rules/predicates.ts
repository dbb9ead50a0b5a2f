// Mongo-style predicates over a flat map of attributes or event properties (NTF-13, NTF-15, RUL-4, RUL-8, AMB-52, AMB-69).
import { isJsonObject } from "../kernel/objects.ts";
import { isRefusedKey } from "./json-limits.ts";
import type { JsonSchema } from "./json-schema.ts";
import { type Comparison, plainValues } from "./values.ts";

/** Attribute key → operator → operand; all conditions must hold. `{}` matches every subscriber. */
export type Predicate = Record<string, Record<string, unknown>>;

/** The path of a problem (`age.$in[2]`, or empty for the whole) and the reason, a sentence without a subject. */
export interface PredicateProblem {
  path: string;
  reason: string;
}

export const PREDICATE_KEYS = 50;
export const PREDICATE_OPERANDS = 200;

/** Tests the value of a key; undefined means the key is missing. */
type Test = (value: unknown) => boolean;

interface Operator {
  schema(comparison: Comparison): JsonSchema;
  problem(operand: unknown, comparison: Comparison): PredicateProblem | undefined;
  test(operand: unknown, comparison: Comparison): Test;
}

const equality = (isWanted: boolean): Operator => ({
  schema: ({ valueSchema }) => valueSchema,
  problem: (operand, comparison) => problemOf("", comparison.valueProblem(operand)),
  test: (operand, comparison) => (isWanted ? present : absent)(comparison.oneOf([operand])),
});

const membership = (isWanted: boolean): Operator => ({
  schema: ({ valueSchema }) => ({ type: "array", items: valueSchema }),
  problem: (operand, comparison) => {
    if (!Array.isArray(operand)) return { path: "", reason: "must be an array" };
    const wrong = operand.findIndex((item) => comparison.valueProblem(item) !== undefined);
    return wrong < 0 ? undefined : problemOf(`[${wrong}]`, comparison.valueProblem(operand[wrong]));
  },
  test: (operand, comparison) => (isWanted ? present : absent)(comparison.oneOf(Array.isArray(operand) ? operand : [])),
});

const order = (accepts: (difference: number) => boolean): Operator => ({
  schema: ({ orderSchema }) => orderSchema,
  problem: (operand, comparison) => problemOf("", comparison.orderProblem(operand)),
  test: (operand, comparison) => {
    const measure = comparison.against(operand);
    return present((value) => accepts(measure(value)));
  },
});

const existence: Operator = {
  schema: () => ({ type: "boolean" }),
  problem: (operand) => problemOf("", typeof operand === "boolean" ? undefined : "must be true or false"),
  test: (operand) => (value) => (value !== undefined) === operand,
};

const OPERATORS: ReadonlyMap<string, Operator & { about: string }> = new Map([
  ["$eq", { ...equality(true), about: "Equal to. A list matches if one of its elements does" }],
  ["$ne", { ...equality(false), about: "Not equal to. A missing value matches" }],
  ["$gt", { ...order((difference) => difference > 0), about: "Greater than, or later than" }],
  ["$gte", { ...order((difference) => difference >= 0), about: "Greater than, later than or equal to" }],
  ["$lt", { ...order((difference) => difference < 0), about: "Less than, or earlier than" }],
  ["$lte", { ...order((difference) => difference <= 0), about: "Less than, earlier than or equal to" }],
  ["$in", { ...membership(true), about: "Equal to one of these. An empty list matches no value" }],
  ["$nin", { ...membership(false), about: "Equal to none of these. A missing value matches" }],
  ["$exists", { ...existence, about: "Whether the key has a value. `null` is a value" }],
]);

/** The schema of the operators over the values of a comparison, each with its description. */
export const operatorSchemas = (comparison: Comparison): Record<string, JsonSchema> =>
  Object.fromEntries(
    [...OPERATORS].map(([name, { schema, about }]) => [name, { ...schema(comparison), description: about }]),
  );

/** The nine operators, for messages. */
export const PREDICATE_OPERATORS: readonly string[] = [...OPERATORS.keys()];

const REFUSED_LOGIC = new Set(["$and", "$or", "$nor", "$not", "$expr", "$where"]);

/**
 * A list matches by any of its elements, as in Mongo: `$eq` and `$in` test whether it contains the operand. An empty
 * list counts as itself.
 */
const present =
  (test: Test): Test =>
  (value) =>
    value !== undefined && (Array.isArray(value) && value.length > 0 ? value.some(test) : test(value));

const absent = (test: Test): Test => {
  const isPresent = present(test);
  return (value) => !isPresent(value);
};

/**
 * The problem of a predicate, or undefined. Unknown operators, an empty operator object, a bare value for a key,
 * operands of a wrong type, prototype keys, more than 50 keys or 200 operands (each element of `$in` and `$nin` counts)
 * are refused. `comparisonOf` picks the comparison for a key.
 */
export function validatePredicate(
  value: unknown,
  comparisonOf: (key: string) => Comparison = () => plainValues,
): PredicateProblem | undefined {
  if (!isJsonObject(value)) return { path: "", reason: "must be an object of keys with operators" };
  const keys = Object.keys(value);
  if (keys.length > PREDICATE_KEYS) return { path: "", reason: `must have at most ${PREDICATE_KEYS} keys` };
  let operands = 0;
  for (const key of keys) {
    if (isRefusedKey(key)) return { path: key, reason: "must not be used as a key" };
    if (REFUSED_LOGIC.has(key)) return { path: key, reason: "is not supported: all conditions must hold" };
    const operators = value[key];
    if (!isJsonObject(operators)) return { path: key, reason: `must be an object of operators such as {"$eq": …}` };
    const names = Object.keys(operators);
    if (names.length === 0) return { path: key, reason: "must have at least one operator" };
    for (const name of names) {
      const path = `${key}.${name}`;
      const operator = OPERATORS.get(name);
      if (!operator) return { path, reason: `is not an operator: use one of ${PREDICATE_OPERATORS.join(", ")}` };
      const operand = operators[name];
      operands += Array.isArray(operand) ? Math.max(1, operand.length) : 1;
      if (operands > PREDICATE_OPERANDS)
        return { path: "", reason: `must have at most ${PREDICATE_OPERANDS} operands` };
      const problem = operator.problem(operand, comparisonOf(key));
      if (problem) return { path: path + problem.path, reason: problem.reason };
    }
  }
  return undefined;
}

/**
 * Compiles a predicate. A missing attribute matches only `$ne`, `$nin` and `$exists: false`; booleans and null support
 * only equality; a stored null is present and equals only null. Throws TypeError if `validatePredicate` finds a
 * problem, so that a predicate that was stored without validation cannot match by accident.
 */
export function compilePredicate(
  predicate: unknown,
  comparisonOf: (key: string) => Comparison = () => plainValues,
): (attributes: Record<string, unknown>) => boolean {
  const problem = validatePredicate(predicate, comparisonOf);
  if (problem) throw new TypeError(`predicate ${problem.path}: ${problem.reason}`);
  // It was validated just above.
  const tests = Object.entries(predicate as Predicate).flatMap(([key, operators]) =>
    Object.entries(operators).flatMap(([name, operand]) => {
      const operator = OPERATORS.get(name);
      return operator ? [{ key, test: operator.test(operand, comparisonOf(key)) }] : [];
    }),
  );
  return (attributes) => tests.every(({ key, test }) => test(valueAt(attributes, key)));
}

const PATH_LEVELS = 4;

/**
 * The value of a key: its own, or the one at the end of a path through at most four levels of objects (AMB-148). If the
 * path leads through lists, all values that it reaches, as one list; undefined if there is none.
 */
export function valueAt(attributes: Record<string, unknown>, key: string): unknown {
  if (Object.hasOwn(attributes, key)) return attributes[key];
  const parts = key.split(".");
  if (parts.length === 1 || parts.length > PATH_LEVELS) return undefined;
  let reached: unknown[] = [attributes];
  let isThroughLists = false;
  for (const part of parts) {
    isThroughLists ||= reached.some(Array.isArray);
    reached = reached
      .flat()
      .flatMap((value) => (isJsonObject(value) && Object.hasOwn(value, part) ? [value[part]] : []));
  }
  if (reached.length === 0) return undefined;
  return isThroughLists ? reached.flat() : reached[0];
}

/** Every key that `valueAt` finds a value for: the attributes' own, and the paths through objects and lists. */
export function pathsIn(value: unknown, prefix = "", level = 1): string[] {
  const maps = [value].flat().filter(isJsonObject);
  return maps.flatMap((map) =>
    Object.entries(map).flatMap(([name, inner]) => {
      const path = `${prefix}${name}`;
      return level < PATH_LEVELS ? [path, ...pathsIn(inner, `${path}.`, level + 1)] : [path];
    }),
  );
}

/** The attributes that the value of a key can come from: the one of this name, and the first one of a path. */
export const attributesOfKey = (key: string): string[] => [...new Set([key, key.split(".", 1)[0] ?? key])];

const problemOf = (path: string, reason: string | undefined): PredicateProblem | undefined =>
  reason === undefined ? undefined : { path, reason };
