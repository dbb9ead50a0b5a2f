// One request's expressions: its names and values, bounded caches of parsed texts, and the checks across all of them.
import type { Wire } from "../stand-in.ts";
import { type Condition, readCondition } from "./conditions.ts";
import { inOlderWords, validation } from "./errors.ts";
import { inHashOrder } from "./hash-order.ts";
import { isAbsent } from "./parameters.ts";
import { type Binding, type Faults, type Path, readPath, refuseOverlaps } from "./paths.ts";
import { bindCondition, type Predicate } from "./predicates.ts";
import { expressionFault, isExpressionFault, readTokens } from "./tokens.ts";
import { bindUpdate, type UpdatePlan } from "./update-plans.ts";
import { readUpdate } from "./updates.ts";
import { type AttributeValue, type Item, MAX_NAME_BYTES, normalizeValue, TOO_LONG } from "./values.ts";

/** The members of a request that hold expressions. */
export interface ExpressionInput extends Wire {
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Item;
}

const CACHE_SIZE = 2000;
const MAX_REFERENCE = 255;

/** Caches the results of `read` for the most recently used texts. */
function remembered<T>(read: (text: string) => T): (text: string) => T {
  const cache = new Map<string, T>();
  return (text) => {
    const cached = cache.get(text);
    if (cached !== undefined) return cached;
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
  const fault = faults.reserved ?? faults.range;
  if (fault) throw expressionFault(fault);
  return paths;
});

interface Expressions {
  condition(text: string | undefined): Predicate | undefined;
  filter(text: string | undefined): { passes: Predicate; paths: Path[] } | undefined;
  update(text: string | undefined): UpdatePlan | undefined;
  projection(text: string | undefined): Path[] | undefined;
  keyCondition(text: string): { tree: Condition; binding: Binding };
  /** Rejects unused names and values. Call it after the last expression. @returns the paths of the expressions. */
  finish(): readonly Path[];
}

const NAME_FORM = /^#[A-Za-z0-9_]+$/;
const VALUE_FORM = /^:[A-Za-z0-9_]+$/;

/**
 * Reads what the expressions of a request share. `kinds` are those of the operation, `older` means that it still runs
 * the older validation layer, and `before` runs before any expression is parsed.
 */
export function readExpressions(
  input: ExpressionInput,
  kinds: readonly string[],
  { older = false, before }: { older?: boolean; before?(): void } = {},
): Expressions {
  const names = input.ExpressionAttributeNames;
  const given = input.ExpressionAttributeValues;
  checkUse(input, kinds, older);
  before?.();
  checkForm(names, "ExpressionAttributeNames", NAME_FORM);
  checkForm(given, "ExpressionAttributeValues", VALUE_FORM);
  for (const ref in names) checkName(names[ref]!, ref);
  const values: Item = {};
  for (const ref in given)
    values[ref] = older ? wrapped(ref, () => normalizeValue(given[ref]!)) : normalizeValue(given[ref]!);

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
      return { passes, paths: [...seen] };
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
    keyCondition: (text) =>
      named("KeyConditionExpression", () => {
        const tree = conditionOf(text);
        bindCondition(tree, binding);
        return { tree, binding };
      }),
    finish: () => {
      refuseUnused(names, "ExpressionAttributeNames", used);
      refuseUnused(given, "ExpressionAttributeValues", used);
      return seen;
    },
  };
}

/** Puts the kind of expression before its error. */
export function named<T>(kind: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (isExpressionFault(error)) throw validation(`Invalid ${kind}: ${error.fault}`);
    throw error;
  }
}

/** Rejects names and values without an expression that could use them. */
function checkUse(input: ExpressionInput, kinds: readonly string[], older: boolean): void {
  const present = kinds.filter((kind) => !isAbsent(input[kind]));
  if (present.length > 0 && !input.ExpressionAttributeValues) return;
  if (input.ExpressionAttributeNames && present.length === 0)
    throw validation("ExpressionAttributeNames can only be specified when using expressions");
  const users = kinds.filter((kind) => kind !== "ProjectionExpression");
  if (input.ExpressionAttributeValues && !users.some((kind) => present.includes(kind)))
    throw validation(
      `ExpressionAttributeValues can only be specified when using expressions${older ? `: ${users.join(" and ")} ${users.length > 1 ? "are" : "is"} null` : ""}`,
    );
}

function checkForm(map: object | undefined, member: string, form: RegExp): void {
  if (!map) return;
  const keys = Object.keys(map);
  if (keys.length === 0) throw validation(`${member} must not be empty`);
  for (const key of keys)
    if (!form.test(key)) throw validation(`${member} contains invalid key: Syntax error; key: "${key}"`);
  const long = keys.find((key) => key.length > MAX_REFERENCE);
  if (long)
    throw validation(
      `${member} contains invalid key: The expression attribute map contains a key that is too long; size of key: ${long.length}`,
    );
}

/** Rejects a name that no attribute can have. */
function checkName(name: string, ref: string): void {
  const refuse = (what: string) =>
    validation(`ExpressionAttributeNames contains invalid value: ${what} for key ${ref}`);
  if (name === "") throw refuse("Empty attribute name");
  if (name.length > MAX_NAME_BYTES) throw refuse(TOO_LONG);
}

/** The older layer names the value that it rejects. */
function wrapped(ref: string, work: () => AttributeValue): AttributeValue {
  try {
    return inOlderWords(work);
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "ValidationException") throw error;
    throw validation(`ExpressionAttributeValues contains invalid value: ${error.message} for key ${ref}`);
  }
}

function refuseUnused(map: object | undefined, member: string, used: Set<string>): void {
  if (!map) return;
  const unused = Object.keys(map).filter((key) => !used.has(key));
  if (unused.length > 0)
    throw validation(`Value provided in ${member} unused in expressions: keys: {${inHashOrder(unused).join(", ")}}`);
}
