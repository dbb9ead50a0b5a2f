// Checks an update against the request's names and values, and applies it to an item.
import { validation } from "./errors.ts";
import { addNumbers } from "./numbers.ts";
import { type Binding, follow, type Path, pathText, refuseOverlaps, samePath } from "./paths.ts";
import { expressionFault } from "./tokens.ts";
import type { UpdateAction, UpdateOperand } from "./updates.ts";
import { type AttributeValue, attributeOf, constantType, type Item, setOf, typeOf, type ValueType } from "./values.ts";

export interface UpdatePlan {
  paths: Path[];
  /** Known before the item is read: the type that each whole attribute would get. */
  types: { path: Path; type: ValueType | undefined }[];
  /** The update only removes: if there is no item, it creates none. */
  takesOnly: boolean;
  /** The updated item; `item` itself is not changed. */
  apply(item: Item): Item;
}

type ReadOperand = (item: Item) => AttributeValue;

type Action =
  | { kind: "set"; path: Path; read: ReadOperand; type: ValueType | undefined }
  | { kind: "remove"; path: Path }
  | { kind: "add" | "delete"; path: Path; value: AttributeValue; type: ValueType };

const LONG_NAMES: Partial<Record<ValueType, string>> = {
  S: "STRING",
  N: "NUMBER",
  B: "BINARY",
  NULL: "NULL",
  BOOL: "BOOLEAN",
  L: "LIST",
  M: "MAP",
};

const wrongType = () => validation("An operand in the update expression has an incorrect data type");
const wrongPath = () => validation("The document path provided in the update expression is invalid for update");

export function bindUpdate(actions: readonly UpdateAction[], binding: Binding): UpdatePlan {
  const faults: string[] = [];
  const bound = actions.map((action) => bindAction(action, binding, faults));
  const paths = bound.map(({ path }) => path);
  refuseOverlaps(paths);
  if (faults[0]) throw expressionFault(faults[0]);
  return {
    paths,
    types: bound.map((action) => ({ path: action.path, type: "type" in action ? action.type : undefined })),
    takesOnly: actions.every(({ kind }) => kind === "remove" || kind === "delete"),
    apply: (item) => applyActions(bound, item),
  };
}

function bindAction(action: UpdateAction, binding: Binding, faults: string[]): Action {
  const path = binding.path(action.path);
  if (action.kind === "remove") return { kind: "remove", path };
  if (action.kind === "set") return { ...bindOperand(action.operand, binding, faults), kind: "set", path };
  const value = binding.value(action.ref);
  const type = typeOf(value);
  const refused = LONG_NAMES[type];
  if (refused && !(action.kind === "add" && type === "N"))
    faults.push(
      `Incorrect operand type for operator or function; operator: ${action.kind.toUpperCase()}, operand type: ${refused}, typeSet: ALLOWED_FOR_${action.kind.toUpperCase()}_OPERAND`,
    );
  return { kind: action.kind, path, value, type };
}

interface BoundOperand {
  read: ReadOperand;
  type: ValueType | undefined;
  path?: Path;
}

function bindOperand(operand: UpdateOperand, binding: Binding, faults: string[]): BoundOperand {
  if (operand.kind === "value") {
    const value = binding.value(operand.ref);
    return { read: () => value, type: constantType(value) };
  }
  if (operand.kind === "path") {
    const path = binding.path(operand.path);
    return { path, type: undefined, read: (item) => follow(item, path) ?? missing() };
  }
  const { name } = operand;
  const args = operand.args.map((arg) => bindOperand(arg, binding, faults));
  const [first, second] = args as [BoundOperand, BoundOperand];
  if (args.length !== 2) {
    faults.push(
      `Incorrect number of operands for operator or function; operator or function: ${name}, number of operands: ${args.length}`,
    );
    return first;
  }
  if (name === "if_not_exists") {
    const { path } = first;
    if (!path) faults.push(`Operator or function requires a document path; operator or function: ${name}`);
    if (path && second.path && samePath(path, second.path))
      faults.push(
        `The first operand must be distinct from the remaining operands for this operator or function; operator: ${name}, first operand: ${pathText(path)}`,
      );
    return { type: second.type, read: (item) => (path && follow(item, path)) ?? second.read(item) };
  }
  const wanted = name === "list_append" ? "L" : "N";
  for (const { type } of args)
    if (type && type !== wanted)
      faults.push(
        `Incorrect operand type for operator or function; operator or function: ${name}, operand type: ${type}`,
      );
  return { type: wanted, read: (item) => combine(name, first.read(item), second.read(item)) };
}

function missing(): never {
  throw validation("The provided expression refers to an attribute that does not exist in the item");
}

function combine(name: string, left: AttributeValue, right: AttributeValue): AttributeValue {
  if (name === "list_append") {
    if (!left.L || !right.L) throw wrongType();
    return { L: [...left.L, ...right.L] };
  }
  if (left.N === undefined || right.N === undefined) throw wrongType();
  return { N: addNumbers(left.N, right.N, name === "+" ? 1 : -1) };
}

/** Every operand is read from the old item; list positions refer to the old list. */
function applyActions(actions: readonly Action[], item: Item): Item {
  const changes = actions.map((action) => ({ action, value: newValue(action, item) }));
  const draft = draftOf(item);
  for (const { action, value } of changes) if (value) draft.put(action.path, value);
  for (const { action, value } of changes) if (!value) draft.remove(action.path);
  return draft.finish();
}

/** The value at the path after the action; undefined if there is none. */
function newValue(action: Action, item: Item): AttributeValue | undefined {
  if (action.kind === "remove") return undefined;
  if (action.kind === "set") return action.read(item);
  const { type, value } = action;
  const old = follow(item, action.path);
  if (old && typeOf(old) !== type) throw wrongType();
  if (action.kind === "add" && type === "N") return { N: addNumbers(old?.N ?? "0", value.N!) };
  const setType = type as "SS" | "NS" | "BS";
  const members = new Set(old?.[setType]);
  for (const member of value[setType]!) {
    if (action.kind === "add") members.add(member);
    else members.delete(member);
  }
  return members.size > 0 ? setOf(setType, members) : undefined;
}

/** A copy of an item that copies only the maps and lists on the paths it changes. */
function draftOf(item: Item) {
  const root: AttributeValue = { M: { ...item } };
  const own = new Set<AttributeValue>([root]);
  const holes = new Map<AttributeValue[], Set<number>>();
  const appends = new Map<AttributeValue[], [number, AttributeValue][]>();

  const ownedParent = (path: Path): AttributeValue => {
    let parent = root;
    for (const step of path.slice(0, -1)) {
      const inner = childOf(parent, step);
      if (!inner) throw wrongPath();
      let copy = inner;
      if (!own.has(inner)) {
        if (inner.M) copy = { M: { ...inner.M } };
        else if (inner.L) copy = { L: [...inner.L] };
        own.add(copy);
        if (typeof step === "number") parent.L![step] = copy;
        else parent.M![step] = copy;
      }
      parent = copy;
    }
    if (typeof path.at(-1) === "number" ? !parent.L : !parent.M) throw wrongPath();
    return parent;
  };

  return {
    put: (path: Path, value: AttributeValue) => {
      const parent = ownedParent(path);
      const step = path.at(-1)!;
      if (typeof step === "string") parent.M![step] = value;
      else if (step < parent.L!.length) parent.L![step] = value;
      else appends.set(parent.L!, [...(appends.get(parent.L!) ?? []), [step, value]]);
    },
    remove: (path: Path) => {
      const parent = ownedParent(path);
      const step = path.at(-1)!;
      if (typeof step === "string") delete parent.M![step];
      else if (step < parent.L!.length) holes.set(parent.L!, (holes.get(parent.L!) ?? new Set()).add(step));
    },
    finish: (): Item => {
      for (const [list, added] of appends) for (const [, value] of added.sort(([a], [b]) => a - b)) list.push(value);
      for (const [list, gone] of holes) {
        const kept = list.filter((_, position) => !gone.has(position));
        list.splice(0, list.length, ...kept);
      }
      return root.M!;
    },
  };
}

function childOf(parent: AttributeValue, step: string | number): AttributeValue | undefined {
  if (typeof step === "number") return parent.L?.[step];
  return parent.M && attributeOf(parent.M, step);
}
