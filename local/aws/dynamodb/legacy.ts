// Translates the legacy parameters from before expressions into parsed expressions.
import type { Comparator, Condition, Operand } from "./conditions.ts";
import { invalidParameter, validation } from "./errors.ts";
import type { KeyTest } from "./key-conditions.ts";
import { addNumbers } from "./numbers.ts";
import type { Binding, Path } from "./paths.ts";
import { bindCondition, type Predicate } from "./predicates.ts";
import type { UpdatePlan } from "./update-plans.ts";
import {
  type AttributeValue,
  attributeOf,
  checkAttributeName,
  compareValues,
  type Item,
  normalizeValue,
  setOf,
  typeOf,
} from "./values.ts";

interface Comparison {
  ComparisonOperator?: string;
  AttributeValueList?: AttributeValue[];
  Value?: AttributeValue;
  Exists?: boolean;
}
export type Comparisons = Record<string, Comparison>;
export type AttributeUpdates = Record<string, { Action?: "ADD" | "PUT" | "DELETE"; Value?: AttributeValue }>;

const COMPARATORS: Record<string, Comparator> = { EQ: "=", NE: "<>", LE: "<=", LT: "<", GE: ">=", GT: ">" };
const FUNCTIONS: Record<string, string> = {
  NULL: "attribute_not_exists",
  NOT_NULL: "attribute_exists",
  CONTAINS: "contains",
  NOT_CONTAINS: "contains",
  BEGINS_WITH: "begins_with",
};
const SCALARS = ["S", "N", "B"];
const TYPES: Record<string, string[]> = {
  ...Object.fromEntries(
    ["LE", "LT", "GE", "GT", "CONTAINS", "NOT_CONTAINS", "IN", "BETWEEN"].map((op) => [op, SCALARS]),
  ),
  BEGINS_WITH: ["S", "B"],
};
const COUNTS: Record<string, number> = { NULL: 0, NOT_NULL: 0, BETWEEN: 2 };

/** Rejects a malformed comparison. @returns its values in their stored form. */
function checkedValues(operator: string, given: readonly AttributeValue[]): AttributeValue[] {
  const values = given.map((value) => normalizeValue(value));
  const wanted = COUNTS[operator] ?? 1;
  if (operator === "IN" ? values.length === 0 : values.length !== wanted)
    throw invalidParameter(`Invalid number of argument(s) for the ${operator} ComparisonOperator`);
  const types = values.map(typeOf);
  if (types.some((type) => type !== types[0]))
    throw invalidParameter("AttributeValues inside AttributeValueList must be of same type");
  const wrong = types.find((type) => TYPES[operator] && !TYPES[operator].includes(type));
  if (wrong) throw invalidParameter(`ComparisonOperator ${operator} is not valid for ${wrong} AttributeValue type`);
  if (operator === "BETWEEN" && (compareValues(values[0]!, values[1]!) ?? 0) > 0)
    throw validation(
      "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound",
    );
  return values;
}

interface Checked {
  name: string;
  operator: string;
  values: AttributeValue[];
}

const checkedFilter = (filter: Comparisons): Checked[] =>
  Object.entries(filter).map(([name, { ComparisonOperator: operator = "", AttributeValueList = [] }]) => {
    checkAttributeName(name);
    return { name, operator, values: checkedValues(operator, AttributeValueList) };
  });

function checkedExpectation(name: string, expectation: Comparison): Checked {
  const { ComparisonOperator: operator, AttributeValueList: listed, Value, Exists } = expectation;
  const refuse = (what: string) => invalidParameter(`${what} for Attribute: ${name}`);
  if (listed && Value) throw refuse("Value and AttributeValueList cannot be used together");
  if (operator !== undefined) {
    if (Exists !== undefined) throw refuse("Exists and ComparisonOperator cannot be used together");
    if (!listed && !Value && COUNTS[operator] !== 0)
      throw refuse(`Value or AttributeValueList must be used with ComparisonOperator: ${operator}`);
    return { name, operator, values: checkedValues(operator, listed ?? (Value ? [Value] : [])) };
  }
  if (listed) throw refuse("AttributeValueList can only be used with a ComparisonOperator");
  if (Exists === false) {
    if (Value) throw refuse("Value cannot be used when Exists is false");
    return { name, operator: "NULL", values: [] };
  }
  if (!Value) throw refuse(`Value must be provided when Exists is ${Exists ?? "null"}`);
  return { name, operator: "EQ", values: checkedValues("EQ", [Value]) };
}

const CHOICES = 100;

/** The test that conditions, filters and expectations make on an item. */
function predicateOf(checked: readonly Checked[], conditionalOperator: unknown): Predicate {
  const values: AttributeValue[] = [];
  const constant = (value: AttributeValue): Operand => ({ kind: "value", ref: String(values.push(value) - 1) });
  const binding: Binding = { path: (path: Path) => path, value: (ref) => values[Number(ref)]! };
  const predicates = checked.map(({ name, operator, values: own }): Predicate => {
    const bound = (tree: Condition) => bindCondition(tree, binding);
    const path: Operand = { kind: "path", path: [name] };
    const operands = own.map(constant);
    const [first, second] = operands as [Operand, Operand];
    if (operator === "IN") {
      // Unlike an expression, a comparison accepts any number of values.
      const parts: Predicate[] = [];
      for (let from = 0; from < operands.length; from += CHOICES)
        parts.push(bound({ kind: "in", operand: path, choices: operands.slice(from, from + CHOICES) }));
      return (item) => parts.some((holds) => holds(item));
    }
    if (operator === "BETWEEN") return bound({ kind: "between", operand: path, low: first, high: second });
    const comparator = COMPARATORS[operator];
    if (comparator) return bound({ kind: "compare", comparator, left: path, right: first });
    const holds = bound({ kind: "call", name: FUNCTIONS[operator]!, args: [path, ...operands] });
    // Both are false for an absent attribute.
    return operator === "NOT_CONTAINS" ? (item) => attributeOf(item, name) !== undefined && !holds(item) : holds;
  });
  return conditionalOperator === "OR"
    ? (item) => predicates.some((holds) => holds(item))
    : (item) => predicates.every((holds) => holds(item));
}

/** Rejects a conditional operator that has nothing to combine. */
function checkOperator(conditionalOperator: unknown, comparisons: Comparisons | undefined): void {
  if (conditionalOperator === undefined) return;
  const count = Object.keys(comparisons ?? {}).length;
  if (count === 0) throw validation("ConditionalOperator cannot be used without Filter or Expected");
  if (count === 1)
    throw validation("ConditionalOperator can only be used when Filter or Expected has two or more elements");
}

/** The condition of `Expected`. */
export function readExpected(expected: Comparisons | undefined, conditionalOperator: unknown): Predicate | undefined {
  for (const name in expected) checkAttributeName(name);
  const checked = Object.entries(expected ?? {}).map(([name, one]) => checkedExpectation(name, one));
  checkOperator(conditionalOperator, expected);
  return checked.length > 0 ? predicateOf(checked, conditionalOperator) : undefined;
}

/** The filter of `QueryFilter` and `ScanFilter`. */
export function readFilter(
  filter: Comparisons | undefined,
  conditionalOperator: unknown,
): { passes: Predicate; paths: Path[] } | undefined {
  const checked = checkedFilter(filter ?? {});
  checkOperator(conditionalOperator, filter);
  if (checked.length === 0) return undefined;
  return { passes: predicateOf(checked, conditionalOperator), paths: checked.map(({ name }) => [name]) };
}

const KEY_OPERATORS: Record<string, KeyTest["operator"]> = {
  EQ: "=",
  LE: "<=",
  LT: "<",
  GE: ">=",
  GT: ">",
  BETWEEN: "between",
  BEGINS_WITH: "begins_with",
};

/** The tests of `KeyConditions`; the key schema decides which of them apply to a key. */
export function readKeyConditions(conditions: Comparisons): KeyTest[] {
  const checked = checkedFilter(conditions);
  if (checked.length < 1 || checked.length > 2) throw validation("Conditions can be of length 1 or 2 only");
  return checked.map(({ name, operator, values }) => {
    return { name, operator: KEY_OPERATORS[operator] ?? "none", values };
  });
}

/** The paths of `AttributesToGet`. */
export function readAttributesToGet(names: readonly string[] | undefined): Path[] | undefined {
  if (!names) return undefined;
  for (const name of names) checkAttributeName(name);
  const repeat = names.find((name, at) => names.indexOf(name) < at);
  if (repeat !== undefined) throw invalidParameter(`Duplicate value in attribute name: ${repeat}`);
  return names.map((name) => [name]);
}

const ADDABLE = ["L", "SS", "NS", "BS", "N"];
const DELETABLE = ["SS", "NS", "BS"];

/** The update of `AttributeUpdates`. */
export function readAttributeUpdates(updates: AttributeUpdates): UpdatePlan | undefined {
  const changes = Object.entries(updates).map(([name, { Action: action = "PUT", Value }]) => {
    checkAttributeName(name);
    const value = Value && normalizeValue(Value);
    if (!value && action !== "DELETE")
      throw invalidParameter("Only DELETE action is allowed when no attribute value is specified");
    const type = value && typeOf(value);
    if (type && action === "DELETE" && !DELETABLE.includes(type))
      throw invalidParameter(`DELETE action with value is not supported for the type ${type}`);
    if (type && action === "ADD" && !ADDABLE.includes(type))
      throw invalidParameter(`ADD action is not supported for the type ${type}`);
    return { name, action, value, type };
  });
  if (changes.length === 0) return undefined;
  return {
    paths: changes.map(({ name }) => [name]),
    types: changes.map(({ name, type }) => ({ path: [name], type })),
    takesOnly: changes.every(({ action }) => action === "DELETE"),
    apply: (item) => {
      const updated: Item = { ...item };
      for (const { name, action, value } of changes) {
        const made = action === "PUT" ? value : value && changed(attributeOf(item, name), action, value);
        if (made) updated[name] = made;
        else delete updated[name];
      }
      return updated;
    },
  };
}

/** The value of an attribute after adding to it or deleting from it. */
function changed(old: AttributeValue | undefined, action: string, value: AttributeValue): AttributeValue | undefined {
  const type = typeOf(value);
  if (old && typeOf(old) !== type) throw validation("Type mismatch for attribute to update");
  if (value.N !== undefined) return { N: addNumbers(old?.N ?? "0", value.N) };
  if (value.L) return { L: [...(old?.L ?? []), ...value.L] };
  const setType = type as "SS" | "NS" | "BS";
  const members = new Set(old?.[setType]);
  for (const member of value[setType]!) action === "ADD" ? members.add(member) : members.delete(member);
  return members.size > 0 ? setOf(setType, members) : undefined;
}
