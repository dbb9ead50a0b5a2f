// From a key condition expression to the partition key and the range of sort keys.
import type { Condition, Operand } from "./conditions.ts";
import { invalidParameter, validation } from "./errors.ts";
import { named } from "./expressions.ts";
import { type Sortable, sortable } from "./keys.ts";
import type { Binding } from "./paths.ts";
import { begins } from "./predicates.ts";
import type { Bounds } from "./rows.ts";
import { type KeyPart, type Keys, keyParts } from "./tables.ts";
import { expressionFault } from "./tokens.ts";
import { type AttributeValue, compareValues, typeOf } from "./values.ts";

export interface KeyTest {
  name: string;
  operator: "=" | "<" | "<=" | ">" | ">=" | "between" | "begins_with";
  values: AttributeValue[];
}

/** The sort keys of a query, as bounds and as a test. */
interface Stretch {
  bounds: Bounds;
  includes(value: AttributeValue): boolean;
}

const MIRRORED: Record<string, KeyTest["operator"]> = { "=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<=" };
const NEVER_KEYED = ["attribute_exists", "attribute_not_exists", "attribute_type", "contains"];
const invalid = (what: string) => validation(`Invalid condition in KeyConditionExpression: ${what}`);
const wrongOperator = (operator: string) => validation(`Invalid operator used in KeyConditionExpression: ${operator}`);

/** The tests a key condition expression (bound before) makes, at most one per attribute. */
export function keyTests(condition: Condition, binding: Binding): KeyTest[] {
  return named("KeyConditionExpression", () => {
    const tests = testsOf(condition, binding);
    if (new Set(tests.map(({ name }) => name)).size < tests.length)
      throw expressionFault("KeyConditionExpressions must only contain one condition per key");
    return tests;
  });
}

function testsOf(condition: Condition, binding: Binding): KeyTest[] {
  switch (condition.kind) {
    case "and":
      return [...testsOf(condition.left, binding), ...testsOf(condition.right, binding)];
    case "or":
    case "not":
    case "in":
      throw wrongOperator(condition.kind.toUpperCase());
    case "compare": {
      if (condition.comparator === "<>") throw wrongOperator("<>");
      const { left, right, comparator } = condition;
      const mirrored = left.kind === "value" && right.kind === "path";
      return [keyTest(mirrored ? MIRRORED[comparator]! : comparator, [left, right], binding)];
    }
    case "between": {
      if (condition.operand.kind !== "path")
        throw invalid("BETWEEN operator must have the key attribute as its first operand");
      return [keyTest("between", [condition.operand, condition.low, condition.high], binding)];
    }
    case "call":
      if (NEVER_KEYED.includes(condition.name)) throw wrongOperator(condition.name);
      if (condition.args[0]?.kind !== "path")
        throw invalid(`${condition.name} operator must have the key attribute as its first operand`);
      return [keyTest("begins_with", condition.args, binding)];
  }
}

function keyTest(operator: KeyTest["operator"], operands: Operand[], binding: Binding): KeyTest {
  let name: string | undefined;
  const values: AttributeValue[] = [];
  for (const operand of operands) {
    if (operand.kind === "call") throw validation("KeyConditionExpressions cannot contain nested operations");
    if (operand.kind === "value") {
      values.push(binding.value(operand.ref));
      continue;
    }
    if (name !== undefined) throw invalid("Multiple attribute names used in one condition");
    const [first, ...rest] = binding.path(operand.path);
    if (rest.length > 0) throw validation("KeyConditionExpressions cannot have conditions on nested attributes");
    name = String(first);
  }
  if (name === undefined) throw invalid("No key attribute specified");
  return { name, operator, values };
}

/**
 * Checks the tests against the keys. @returns the partition key value and the range, if any. `before` runs before the
 * test of each part of the key.
 */
export function keyRange(
  tests: KeyTest[],
  keys: Keys,
  before: (part: KeyPart) => void = () => undefined,
): { hash: AttributeValue; range: KeyTest | undefined } {
  const parts = keyParts(keys).length;
  if (tests.length > 2)
    throw validation(
      `The number of query conditions (${tests.length}) exceeds the number of key attributes defined in the schema (${parts})`,
    );
  const find = (part: KeyPart | undefined) => part && tests.find(({ name }) => name === part.name);
  const hash = find(keys.hash);
  const range = find(keys.range);
  before(keys.hash);
  if (!keys.range && tests.length > 1) throw validation("Query key condition not supported");
  if (!hash) throw validation(`Query condition missed key schema element: ${keys.hash.name}`);
  checkTypes(hash, keys.hash);
  if (hash.operator !== "=") throw validation("Query key condition not supported");
  if (keys.range) before(keys.range);
  if (tests.length > 1 && !range) throw validation(`Query condition missed key schema element: ${keys.range!.name}`);
  if (range) checkTypes(range, keys.range!);
  return { hash: hash.values[0]!, range };
}

function checkTypes({ values, name }: KeyTest, part: KeyPart): void {
  for (const value of values) {
    if (typeOf(value) !== part.type) throw invalidParameter("Condition parameter type does not match schema type");
    if (value.S === "" || value.B === "")
      throw invalidParameter(
        `The AttributeValue for a key attribute cannot contain an empty ${part.type === "S" ? "string" : "binary"} value. Key: ${name}`,
      );
  }
}

const MAX_KEY_BYTES = 1024;

/** Beyond every sort key that starts with `prefix`. */
const afterAll = (prefix: Sortable): Sortable =>
  typeof prefix === "string"
    ? prefix + "\u{10FFFF}".repeat(MAX_KEY_BYTES / 4)
    : Buffer.concat([prefix, Buffer.alloc(MAX_KEY_BYTES, 0xff)]);

export function stretchOf({ operator, values }: KeyTest): Stretch {
  const [low, high] = values as [AttributeValue, AttributeValue | undefined];
  const start = sortable(low);
  if (operator === "begins_with")
    return {
      bounds: { min: start, max: afterAll(start) },
      includes: (value) => begins(value, low),
    };
  if (operator === "between")
    return {
      bounds: { min: start, max: sortable(high!) },
      includes: (value) => order(value, low) >= 0 && order(value, high!) <= 0,
    };
  return { bounds: BOUNDS[operator](start), includes: (value) => HOLDS[operator](order(value, low)) };
}

const order = (a: AttributeValue, b: AttributeValue): number => compareValues(a, b) ?? Number.NaN;

const HOLDS = {
  "=": (at: number) => at === 0,
  "<": (at: number) => at < 0,
  "<=": (at: number) => at <= 0,
  ">": (at: number) => at > 0,
  ">=": (at: number) => at >= 0,
};

const BOUNDS = {
  "=": (at: Sortable) => ({ min: at, max: at }),
  "<": (at: Sortable) => ({ below: at }),
  "<=": (at: Sortable) => ({ max: at }),
  ">": (at: Sortable) => ({ above: at }),
  ">=": (at: Sortable) => ({ min: at }),
};
