// Document paths: parsing them from an expression, following them into an item, and selecting them from one.
import { isReserved } from "./reserved.ts";
import type { Cursor } from "./tokens.ts";
import { expressionFault } from "./tokens.ts";
import { type AttributeValue, attributeOf, type Item } from "./values.ts";

/** Names and list positions; before binding a name may still be a `#reference`. */
export type Path = readonly (string | number)[];

/** Resolves the names and values of a request in expressions, and records which were used. */
export interface Binding {
  path(path: Path): Path;
  value(ref: string): AttributeValue;
}

/** Errors that DynamoDB reports only after the whole expression is parsed, in its order of precedence. */
export interface Faults {
  parentheses?: string;
  section?: string;
  unknownFunction?: string;
  misusedFunction?: string;
  reserved?: string;
  range?: string;
  /** The number of operators and functions so far. */
  operators?: number;
}

const MAX_OPERATORS = 300;

/** Counts one more operator or function. */
export function countOperator(faults: Faults): void {
  faults.operators = (faults.operators ?? 0) + 1;
  if (faults.operators > MAX_OPERATORS)
    faults.range ??= `The expression contains too many operators; operator count: ${MAX_OPERATORS + 1}`;
}

const MAX_DEPTH = 32;

const MAX_INDEX = 2_147_483_647;

export const readPath = (cursor: Cursor, faults: Faults): Path => readSteps([readName(cursor, faults)], cursor, faults);

/** Whether a path goes on from here. */
export const goesOn = (cursor: Cursor): boolean => cursor.sees(".") || cursor.sees("[");

/** What follows the beginning of a path. */
export function readSteps(from: Path, cursor: Cursor, faults: Faults): Path {
  const path = [...from];
  for (;;) {
    if (cursor.takes(".")) path.push(readName(cursor, faults));
    else if (cursor.takes("[")) {
      const index = Number(cursor.expectKind("number").text);
      if (index > MAX_INDEX) faults.range ??= `List index is not within the allowable range; index: [${index}]`;
      path.push(index);
      cursor.expect("]");
    } else {
      if (path.length > MAX_DEPTH)
        faults.range ??= `The document path has too many nesting levels; nesting levels: ${path.length}`;
      return path;
    }
  }
}

function readName(cursor: Cursor, faults: Faults): string {
  const token = cursor.peek();
  if (token.kind !== "word" && token.kind !== "name") cursor.fail();
  if (token.kind === "word" && isReserved(token.text))
    faults.reserved ??= `Attribute name is a reserved keyword; reserved keyword: ${token.text}`;
  return cursor.next().text;
}

export const pathText = (path: Path): string =>
  `[${path.map((step) => (typeof step === "number" ? `[${step}]` : step)).join(", ")}]`;

export const samePath = (left: Path, right: Path): boolean =>
  left.length === right.length && left.every((step, at) => step === right[at]);

export function follow(item: Item, path: Path): AttributeValue | undefined {
  let value: AttributeValue | undefined;
  for (let at = 0; at < path.length; at++) {
    const step = path[at]!;
    if (typeof step === "number") value = value?.L?.[step];
    else {
      const map = at === 0 ? item : value?.M;
      value = map && attributeOf(map, step);
    }
    if (value === undefined) return undefined;
  }
  return value;
}

/** Rejects two paths of one expression that overlap, or that disagree on map or list. */
export function refuseOverlaps(paths: readonly Path[]): void {
  let conflict: string | undefined;
  for (let second = 1; second < paths.length; second++)
    for (let first = 0; first < second; first++) {
      const [one, two] = [paths[first]!, paths[second]!];
      const relation = relationOf(one, two);
      if (!relation) continue;
      const fault = `Two document paths ${relation} with each other; must remove or rewrite one of these paths; path one: ${pathText(one)}, path two: ${pathText(two)}`;
      if (relation === "overlap") throw expressionFault(fault);
      conflict ??= fault;
    }
  if (conflict) throw expressionFault(conflict);
}

function relationOf(one: Path, two: Path): "overlap" | "conflict" | undefined {
  const shared = Math.min(one.length, two.length);
  for (let at = 0; at < shared; at++) {
    if (typeof one[at] !== typeof two[at]) return "conflict";
    if (one[at] !== two[at]) return undefined;
  }
  return "overlap";
}

type Branches = Map<string | number, Branches>;

/** The parts of an item that a set of paths selects; a leaf selects the whole value. */
export function branchesOf(paths: readonly Path[]): Branches {
  const root: Branches = new Map();
  for (const path of paths) {
    let at = root;
    for (const step of path) {
      let next = at.get(step);
      if (!next) {
        next = new Map();
        at.set(step, next);
      }
      at = next;
    }
  }
  return root;
}

export function pick(item: Item, branches: Branches): Item {
  const picked: Item = {};
  for (const [name, inner] of branches) {
    const value = attributeOf(item, String(name));
    const part = value && pickValue(value, inner);
    if (part) picked[name] = part;
  }
  return picked;
}

function pickValue(value: AttributeValue, branches: Branches): AttributeValue | undefined {
  if (branches.size === 0) return value;
  if (value.M) {
    const names = new Map([...branches].filter(([step]) => typeof step === "string"));
    const map = pick(value.M, names);
    return Object.keys(map).length > 0 ? { M: map } : undefined;
  }
  if (!value.L) return undefined;
  const positions = [...branches].filter(([step]) => typeof step === "number") as [number, Branches][];
  positions.sort(([a], [b]) => a - b);
  const list: AttributeValue[] = [];
  for (const [position, inner] of positions) {
    const member = value.L[position];
    const part = member && pickValue(member, inner);
    if (part) list.push(part);
  }
  return list.length > 0 ? { L: list } : undefined;
}
