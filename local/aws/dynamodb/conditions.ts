// Parses condition, filter and key condition expressions into a tree.
import { countOperator, type Faults, goesOn, type Path, readPath, readSteps } from "./paths.ts";
import { type Cursor, expressionFault, readTokens, refuseAbyss, type Token } from "./tokens.ts";

export type Comparator = "=" | "<>" | "<" | "<=" | ">" | ">=";

export type Operand =
  | { kind: "path"; path: Path }
  | { kind: "value"; ref: string }
  | { kind: "call"; name: string; args: Operand[] };

export type Condition =
  | { kind: "compare"; comparator: Comparator; left: Operand; right: Operand }
  | { kind: "between"; operand: Operand; low: Operand; high: Operand }
  | { kind: "in"; operand: Operand; choices: Operand[] }
  | { kind: "call"; name: string; args: Operand[] }
  | { kind: "and" | "or"; left: Condition; right: Condition }
  | { kind: "not"; condition: Condition };

type Node = Operand | Condition;

const COMPARATORS = new Set<string>(["=", "<>", "<", "<=", ">", ">="]);
const KEYWORDS = new Set(["AND", "OR", "NOT", "BETWEEN", "IN"]);
export const CONDITION_FUNCTIONS = new Set([
  "attribute_exists",
  "attribute_not_exists",
  "attribute_type",
  "begins_with",
  "contains",
  "size",
]);

/** The functions of update expressions, which a condition may not call. */
export const UPDATE_FUNCTIONS = new Set(["if_not_exists", "list_append"]);

/** Parses an expression. @throws syntax errors in DynamoDB's precedence, without the kind of expression. */
export function readCondition(text: string): Condition {
  const cursor = readTokens(text);
  refuseAbyss(cursor);
  const faults: Faults = {};
  const reader = conditionReader(cursor, faults);
  const node = reader.either();
  if (cursor.peek().kind !== "end") cursor.fail();
  const condition = reader.condition(node, cursor.peek());
  const fault =
    faults.parentheses ?? faults.unknownFunction ?? faults.misusedFunction ?? faults.reserved ?? faults.range;
  if (fault) throw expressionFault(fault);
  return condition;
}

function conditionReader(cursor: Cursor, faults: Faults) {
  const parenthesised = new Set<Node>();

  const condition = (node: Node, after: Token): Condition => {
    if (node.kind === "path" || node.kind === "value") return cursor.fail(after);
    if (node.kind === "call" && node.name === "size") misuse("size");
    return node;
  };

  const operand = (node: Node, after: Token): Operand => {
    if (node.kind === "path" || node.kind === "value") return node;
    if (node.kind !== "call") return cursor.fail(after);
    if (node.name !== "size") misuse(node.name);
    return node;
  };

  const misuse = (name: string) => {
    if (CONDITION_FUNCTIONS.has(name))
      faults.misusedFunction ??= `The function is not allowed to be used this way in an expression; function: ${name}`;
  };

  const either = (): Node => {
    let left = both();
    while (cursor.sees("OR")) {
      const token = cursor.next();
      countOperator(faults);
      left = { kind: "or", left: condition(left, token), right: condition(both(), cursor.peek()) };
    }
    return left;
  };

  const both = (): Node => {
    let left = negated();
    while (cursor.sees("AND")) {
      const token = cursor.next();
      countOperator(faults);
      left = { kind: "and", left: condition(left, token), right: condition(negated(), cursor.peek()) };
    }
    return left;
  };

  const negated = (): Node => {
    if (!cursor.takes("NOT")) return compared();
    countOperator(faults);
    return { kind: "not", condition: condition(negated(), cursor.peek()) };
  };

  const compared = (): Node => {
    const first = primary();
    const token = cursor.peek();
    if (token.kind === "symbol" && COMPARATORS.has(token.text)) {
      const left = operand(first, token);
      cursor.next();
      countOperator(faults);
      const right = operand(primary(), cursor.peek());
      return { kind: "compare", comparator: token.text as Comparator, left, right };
    }
    if (cursor.takes("BETWEEN")) {
      countOperator(faults);
      const low = operand(primary(), cursor.peek());
      cursor.expect("AND");
      return { kind: "between", operand: operand(first, token), low, high: operand(primary(), cursor.peek()) };
    }
    if (cursor.takes("IN")) {
      cursor.expect("(");
      countOperator(faults);
      return { kind: "in", operand: operand(first, token), choices: operands() };
    }
    return first;
  };

  const operands = (): Operand[] => {
    const list = [operand(primary(), cursor.peek())];
    while (cursor.takes(",")) list.push(operand(primary(), cursor.peek()));
    cursor.expect(")");
    return list;
  };

  const primary = (): Node => {
    const token = cursor.peek();
    if (cursor.takes("(")) {
      const inner = either();
      cursor.expect(")");
      if (parenthesised.has(inner)) faults.parentheses ??= "The expression has redundant parentheses;";
      if (inner.kind === "path" && goesOn(cursor)) return { ...inner, path: readSteps(inner.path, cursor, faults) };
      parenthesised.add(inner);
      return inner;
    }
    if (token.kind === "value") return { kind: "value", ref: cursor.next().text };
    if (token.kind === "word" && KEYWORDS.has(token.text.toUpperCase())) return cursor.fail();
    if (token.kind === "word" && cursor.second().text === "(") return call();
    return { kind: "path", path: readPath(cursor, faults) };
  };

  const call = (): Node => {
    const { text: name } = cursor.next();
    cursor.expect("(");
    countOperator(faults);
    if (UPDATE_FUNCTIONS.has(name))
      faults.misusedFunction ??= `The function is not allowed in a condition expression; function: ${name}`;
    else if (!CONDITION_FUNCTIONS.has(name)) faults.unknownFunction ??= `Invalid function name; function: ${name}`;
    return { kind: "call", name, args: operands() };
  };

  return { either, condition };
}
