// One request's expressions: its names and values, bounded caches of what was read, and the checks across them all.
import { type Condition, readCondition } from "./conditions.ts";
import { validation } from "./errors.ts";
import { type Binding, type Faults, type Path, readPath, refuseOverlaps } from "./paths.ts";
import { bindCondition, type Predicate } from "./predicates.ts";
import { expressionFault, isExpressionFault, readTokens } from "./tokens.ts";
import { bindUpdate, type UpdatePlan } from "./update-plans.ts";
import { readUpdate } from "./updates.ts";
import { type AttributeValue, type Item, normalizeValue } from "./values.ts";

/** The members of a request that expressions are made of. */
export interface ExpressionInput {
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Item;
}

const CACHE_SIZE = 2000;

/** Remembers what `read` made of the texts used last. */
function remembered<T>(read: (text: string) => T): (text: string) => T {
  const cache = new Map<string, T>();
  return (text) => {
    const known = cache.get(text);
    if (known !== undefined) return known;
    const made = read(text);
    if (cache.size >= CACHE_SIZE) cache.delete(cache.keys().next().value!);
    cache.set(text, made);
    return made;
  };
}

const conditionOf = remembered(readCondition);
const updateOf = remembered(readUpdate);
const projectionOf = remembered((text): Path[] => {
  const cursor = readTokens(text);
  const faults: Faults = {};
  const paths = [readPath(cursor, faults)];
  while (cursor.takes(",")) paths.push(readPath(cursor, faults));
  if (cursor.peek().kind !== "end") cursor.fail();
  if (faults.reserved) throw expressionFault(faults.reserved);
  return paths;
});

export interface Expressions {
  condition(text: string | undefined): Predicate | undefined;
  filter(text: string | undefined): { passes: Predicate; paths: Path[] } | undefined;
  update(text: string | undefined): UpdatePlan | undefined;
  projection(text: string | undefined): Path[] | undefined;
  keyCondition(text: string): { tree: Condition; binding: Binding };
  /** Refuses names and values no expression used; call it after the last expression. */
  finish(): void;
}

const NAME_FORM = /^#[A-Za-z0-9_]+$/;
const VALUE_FORM = /^:[A-Za-z0-9_]+$/;

export function readExpressions(input: ExpressionInput): Expressions {
  const names = input.ExpressionAttributeNames;
  const given = input.ExpressionAttributeValues;
  checkForm(names, "ExpressionAttributeNames", NAME_FORM);
  checkForm(given, "ExpressionAttributeValues", VALUE_FORM);
  const values: Item = {};
  for (const ref in given) values[ref] = normalizeConstant(ref, given[ref]!);

  const used = new Set<string>();
  let seen: Path[] = [];

  const name = (step: string): string => {
    const resolved = names && Object.hasOwn(names, step) ? names[step] : undefined;
    if (resolved === undefined)
      throw expressionFault(
        `An expression attribute name used in the document path is not defined; attribute name: ${step}`,
      );
    used.add(step);
    return resolved;
  };

  const binding: Binding = {
    path: (path) => {
      const bound = path.map((step) => (typeof step === "string" && step.startsWith("#") ? name(step) : step));
      seen.push(bound);
      return bound;
    },
    value: (ref) => {
      const value = Object.hasOwn(values, ref) ? values[ref] : undefined;
      if (!value)
        throw expressionFault(
          `An expression attribute value used in expression is not defined; attribute value: ${ref}`,
        );
      used.add(ref);
      return value;
    },
  };

  return {
    condition: (text) =>
      text === undefined ? undefined : named("ConditionExpression", () => bindCondition(conditionOf(text), binding)),
    filter: (text) => {
      if (text === undefined) return undefined;
      seen = [];
      const passes = named("FilterExpression", () => bindCondition(conditionOf(text), binding));
      return { passes, paths: seen };
    },
    update: (text) =>
      text === undefined ? undefined : named("UpdateExpression", () => bindUpdate(updateOf(text), binding)),
    projection: (text) =>
      text === undefined
        ? undefined
        : named("ProjectionExpression", () => {
            const paths = projectionOf(text).map(binding.path);
            refuseOverlaps(paths);
            return paths;
          }),
    keyCondition: (text) => ({ tree: named("KeyConditionExpression", () => conditionOf(text)), binding }),
    finish: () => {
      refuseUnused(names, "ExpressionAttributeNames", used);
      refuseUnused(given, "ExpressionAttributeValues", used);
    },
  };
}

/** Puts the kind of expression before a fault found in it. */
export function named<T>(kind: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (isExpressionFault(error)) throw validation(`Invalid ${kind}: ${error.fault}`);
    throw error;
  }
}

function checkForm(map: object | undefined, member: string, form: RegExp): void {
  if (!map) return;
  const keys = Object.keys(map);
  if (keys.length === 0) throw validation(`${member} must not be empty`);
  for (const key of keys)
    if (!form.test(key)) throw validation(`${member} contains invalid key: Syntax error; key: "${key}"`);
}

function normalizeConstant(ref: string, value: AttributeValue): AttributeValue {
  try {
    return normalizeValue(value);
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "ValidationException") throw error;
    if (error.message.startsWith("Nesting Levels")) throw error;
    throw validation(`ExpressionAttributeValues contains invalid value: ${error.message} for key ${ref}`);
  }
}

function refuseUnused(map: object | undefined, member: string, used: Set<string>): void {
  if (!map) return;
  const unused = Object.keys(map).filter((key) => !used.has(key));
  if (unused.length > 0)
    throw validation(`Value provided in ${member} unused in expressions: keys: {${unused.join(", ")}}`);
}
