// Turns a condition tree and the request's names and values into a test on an item.
import type { Comparator, Condition, Operand } from "./conditions.ts";
import { type Binding, follow, type Path, pathText, samePath } from "./paths.ts";
import { expressionFault } from "./tokens.ts";
import { type AttributeValue, compareValues, constantType, equalValues, type Item, typeOf } from "./values.ts";

export type Predicate = (item: Item) => boolean;
type ReadOperand = (item: Item) => AttributeValue | undefined;

/** An operand with its names and values filled in. */
interface BoundOperand {
  read: ReadOperand;
  path?: Path;
  constant?: AttributeValue;
  call?: string;
}

const ARITY: Record<string, number> = {
  attribute_exists: 1,
  attribute_not_exists: 1,
  attribute_type: 2,
  begins_with: 2,
  contains: 2,
  size: 1,
};
const ATTRIBUTE_TYPES = ["B", "NULL", "SS", "BOOL", "L", "BS", "N", "NS", "S", "M"];
const SIZELESS = new Set(["N", "BOOL", "NULL"]);
const MAX_CHOICES = 100;

export function bindCondition(condition: Condition, binding: Binding): Predicate {
  switch (condition.kind) {
    case "and": {
      const [left, right] = [bindCondition(condition.left, binding), bindCondition(condition.right, binding)];
      return (item) => left(item) && right(item);
    }
    case "or": {
      const [left, right] = [bindCondition(condition.left, binding), bindCondition(condition.right, binding)];
      return (item) => left(item) || right(item);
    }
    case "not": {
      const inner = bindCondition(condition.condition, binding);
      return (item) => !inner(item);
    }
    case "compare": {
      const [left, right] = bindAll([condition.left, condition.right], binding);
      return comparison(condition.comparator, left!, right!);
    }
    case "between": {
      const [operand, low, high] = bindAll([condition.operand, condition.low, condition.high], binding);
      return between(operand!, low!, high!);
    }
    case "in": {
      const [operand, ...choices] = bindAll([condition.operand, ...condition.choices], binding);
      return oneOf(operand!, choices);
    }
    case "call":
      return test(condition.name, bindAll(condition.args, binding));
  }
}

const bindAll = (operands: Operand[], binding: Binding): BoundOperand[] =>
  operands.map((operand) => bindOperand(operand, binding));

function bindOperand(operand: Operand, binding: Binding): BoundOperand {
  if (operand.kind === "path") {
    const path = binding.path(operand.path);
    return { path, read: (item) => follow(item, path) };
  }
  if (operand.kind === "value") {
    const constant = binding.value(operand.ref);
    return { constant, read: () => constant };
  }
  const args = bindAll(operand.args, binding);
  checkArity(operand.name, args);
  const [measured] = args;
  const type = measured!.call ? "N" : constantType(measured!.constant);
  if (type && SIZELESS.has(type)) refuseType("size", type);
  return { call: operand.name, read: (item) => sizeValue(measured!.read(item)) };
}

function checkArity(name: string, args: readonly unknown[]): void {
  if (args.length !== ARITY[name])
    throw expressionFault(
      `Incorrect number of operands for operator or function; operator or function: ${name}, number of operands: ${args.length}`,
    );
}

function refuseType(operator: string, type: string): never {
  throw expressionFault(
    `Incorrect operand type for operator or function; operator or function: ${operator}, operand type: ${type}`,
  );
}

/** Rejects a constant of a type that no value of the operator could have. */
function checkOperand(operator: string, constant: AttributeValue | undefined, types: string[]): void {
  const type = constantType(constant);
  if (type && !types.includes(type)) refuseType(operator, type);
}

function checkDistinct(operator: string, [first, ...rest]: BoundOperand[]): void {
  const path = first?.path;
  if (path && rest.some((other) => other.path && samePath(path, other.path)))
    throw expressionFault(
      `The first operand must be distinct from the remaining operands for this operator or function; operator: ${operator}, first operand: ${pathText(path)}`,
    );
}

function sizeValue(value: AttributeValue | undefined): AttributeValue | undefined {
  if (!value) return undefined;
  const members = value.SS ?? value.NS ?? value.BS ?? value.L ?? (value.M && Object.keys(value.M));
  if (members) return { N: String(members.length) };
  if (value.S !== undefined) return { N: String(value.S.length) };
  if (value.B !== undefined) return { N: String(Buffer.from(value.B, "base64").length) };
  return undefined;
}

const ORDERED: Record<string, (order: number) => boolean> = {
  "<": (order) => order < 0,
  "<=": (order) => order <= 0,
  ">": (order) => order > 0,
  ">=": (order) => order >= 0,
};

function comparison(comparator: Comparator, left: BoundOperand, right: BoundOperand): Predicate {
  checkDistinct(comparator, [left, right]);
  const holds = ORDERED[comparator];
  if (!holds) {
    const equal = (item: Item) => {
      const [a, b] = [left.read(item), right.read(item)];
      return a !== undefined && b !== undefined && equalValues(a, b);
    };
    return comparator === "=" ? equal : (item) => !equal(item);
  }
  for (const { constant } of [left, right]) checkOperand(comparator, constant, ["S", "N", "B"]);
  return (item) => {
    const order = orderOf(left.read(item), right.read(item));
    return order !== undefined && holds(order);
  };
}

const orderOf = (a: AttributeValue | undefined, b: AttributeValue | undefined): number | undefined =>
  a && b ? compareValues(a, b) : undefined;

function between(operand: BoundOperand, low: BoundOperand, high: BoundOperand): Predicate {
  checkDistinct("BETWEEN", [operand, low, high]);
  for (const { constant } of [low, high]) checkOperand("BETWEEN", constant, ["S", "N", "B"]);
  if (low.constant && high.constant) checkBounds(low.constant, high.constant);
  return (item) => {
    const value = operand.read(item);
    const [above, below] = [orderOf(low.read(item), value), orderOf(value, high.read(item))];
    return above !== undefined && below !== undefined && above <= 0 && below <= 0;
  };
}

function checkBounds(low: AttributeValue, high: AttributeValue): void {
  const operands = `lower bound operand: ${boundText(low)}, upper bound operand: ${boundText(high)}`;
  if (typeOf(low) !== typeOf(high))
    throw expressionFault(`The BETWEEN operator requires same data type for lower and upper bounds; ${operands}`);
  if ((compareValues(low, high) ?? 0) > 0)
    throw expressionFault(
      `The BETWEEN operator requires upper bound to be greater than or equal to lower bound; ${operands}`,
    );
}

const boundText = (value: AttributeValue) => `AttributeValue: {${typeOf(value)}:${String(value[typeOf(value)])}}`;

function oneOf(operand: BoundOperand, choices: BoundOperand[]): Predicate {
  if (choices.length > MAX_CHOICES)
    throw expressionFault(`The IN operator is provided with too many operands; number of operands: ${choices.length}`);
  checkDistinct("IN", [operand, ...choices]);
  return (item) => {
    const value = operand.read(item);
    if (!value) return false;
    return choices.some((choice) => {
      const candidate = choice.read(item);
      return candidate !== undefined && equalValues(value, candidate);
    });
  };
}

function test(name: string, args: BoundOperand[]): Predicate {
  checkArity(name, args);
  checkDistinct(name, args);
  const [first, second] = args as [BoundOperand, BoundOperand];
  switch (name) {
    case "attribute_exists":
    case "attribute_not_exists": {
      if (!first.path)
        throw expressionFault(`Operator or function requires a document path; operator or function: ${name}`);
      const wanted = name === "attribute_exists";
      return (item) => (first.read(item) !== undefined) === wanted;
    }
    case "attribute_type":
      return hasType(first, second);
    case "begins_with":
      for (const { constant, call } of args) {
        checkOperand("begins_with", constant, ["S", "B"]);
        if (call) refuseType("begins_with", "N");
      }
      return (item) => begins(first.read(item), second.read(item));
    default:
      return (item) => contains(first.read(item), second.read(item));
  }
}

function hasType(operand: BoundOperand, wanted: BoundOperand): Predicate {
  const type = wanted.constant?.S;
  if (type === undefined)
    refuseType(
      "attribute_type",
      wanted.call ? "N" : (constantType(wanted.constant) ?? "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}"),
    );
  if (!ATTRIBUTE_TYPES.includes(type))
    throw expressionFault(
      `Invalid attribute type name found; type: ${type}, valid types: {${ATTRIBUTE_TYPES.join(",")}}`,
    );
  return (item) => {
    const value = operand.read(item);
    return value !== undefined && typeOf(value) === type;
  };
}

export function begins(value: AttributeValue | undefined, prefix: AttributeValue | undefined): boolean {
  if (value?.S !== undefined && prefix?.S !== undefined) return value.S.startsWith(prefix.S);
  if (value?.B === undefined || prefix?.B === undefined) return false;
  const start = Buffer.from(prefix.B, "base64");
  return Buffer.from(value.B, "base64").subarray(0, start.length).equals(start);
}

function contains(value: AttributeValue | undefined, part: AttributeValue | undefined): boolean {
  if (!value || !part) return false;
  if (value.S !== undefined && part.S !== undefined) return value.S.includes(part.S);
  if (value.B !== undefined && part.B !== undefined)
    return Buffer.from(value.B, "base64").includes(Buffer.from(part.B, "base64"));
  if (value.SS && part.S !== undefined) return value.SS.includes(part.S);
  if (value.NS && part.N !== undefined) return value.NS.includes(part.N);
  if (value.BS && part.B !== undefined) return value.BS.includes(part.B);
  return value.L?.some((member) => equalValues(member, part)) ?? false;
}
