// Parses update expressions into a list of actions.
import { CONDITION_FUNCTIONS, UPDATE_FUNCTIONS } from "./conditions.ts";
import { countOperator, type Faults, type Path, readPath } from "./paths.ts";
import { type Cursor, expressionFault, readTokens, refuseAbyss } from "./tokens.ts";

export type UpdateOperand =
  | { kind: "path"; path: Path }
  | { kind: "value"; ref: string }
  | { kind: "call"; name: string; args: UpdateOperand[] };

export type UpdateAction =
  | { kind: "set"; path: Path; operand: UpdateOperand }
  | { kind: "remove"; path: Path }
  | { kind: "add" | "delete"; path: Path; ref: string };

const SECTIONS = ["SET", "REMOVE", "ADD", "DELETE"] as const;

export function readUpdate(text: string): UpdateAction[] {
  const cursor = readTokens(text, false);
  refuseAbyss(cursor);
  const faults: Faults = {};
  const actions: UpdateAction[] = [];
  const sections = new Set<string>();
  while (cursor.peek().kind !== "end" || sections.size === 0) {
    const section = SECTIONS.find((word) => cursor.takes(word)) ?? cursor.fail();
    if (sections.has(section))
      faults.section ??= `The "${section}" section can only be used once in an update expression;`;
    sections.add(section);
    do actions.push(readAction(section, cursor, faults));
    while (cursor.takes(","));
  }
  const fault =
    faults.parentheses ??
    faults.reserved ??
    faults.unknownFunction ??
    faults.misusedFunction ??
    faults.section ??
    faults.range;
  if (fault) throw expressionFault(fault);
  return actions;
}

function readAction(section: (typeof SECTIONS)[number], cursor: Cursor, faults: Faults): UpdateAction {
  const path = readPath(cursor, faults);
  if (section === "REMOVE") return { kind: "remove", path };
  if (section === "SET") {
    cursor.expect("=");
    return { kind: "set", path, operand: readSum(cursor, faults) };
  }
  return { kind: section === "ADD" ? "add" : "delete", path, ref: cursor.expectKind("value").text };
}

function readSum(cursor: Cursor, faults: Faults): UpdateOperand {
  const left = readOperand(cursor, faults);
  for (const name of ["+", "-"])
    if (cursor.takes(name)) {
      countOperator(faults);
      return { kind: "call", name, args: [left, readOperand(cursor, faults)] };
    }
  return left;
}

/** `inside` says that it is an argument of a function. */
function readOperand(cursor: Cursor, faults: Faults, inside = false): UpdateOperand {
  if (cursor.takes("(")) {
    const isDoubled = cursor.sees("(");
    const inner = readSum(cursor, faults);
    if (isDoubled && cursor.sees(")") && inner.kind !== "call")
      faults.parentheses ??= "The expression has redundant parentheses;";
    cursor.expect(")");
    return inner;
  }
  if (cursor.peek().kind === "value") return { kind: "value", ref: cursor.next().text };
  if (cursor.peek().kind !== "word" || cursor.second().text !== "(")
    return { kind: "path", path: readPath(cursor, faults) };

  const { text: name } = cursor.next();
  cursor.expect("(");
  countOperator(faults);
  if (CONDITION_FUNCTIONS.has(name))
    faults.misusedFunction ??= `The function is not allowed in an update expression; function: ${name}`;
  else if (!UPDATE_FUNCTIONS.has(name)) faults.unknownFunction ??= `Invalid function name; function: ${name}`;
  else if (inside && name === "list_append")
    faults.misusedFunction ??= `The function is not allowed to be used this way in an expression; function: ${name}`;
  const args = [readOperand(cursor, faults, true)];
  while (cursor.takes(",")) args.push(readOperand(cursor, faults, true));
  cursor.expect(")");
  return { kind: "call", name, args };
}
