// Checks the members of a request: known, of the right JSON type, present, and within their constraints.
import type { Wire } from "../stand-in.ts";
import { serialization, validation } from "./errors.ts";

type JsonType = "String" | "Boolean" | "Integer" | "Map" | "List";

export interface Rule {
  type: JsonType;
  required?: boolean;
  oneOf?: readonly string[];
  /** Smallest value, or length of a text, list or map. */
  min?: number;
  max?: number;
  form?: RegExp;
  /** The allowed values as a message lists them, which then names neither value nor member. */
  listed?: string;
  /** Bounds that are checked before everything else and reported alone, by the member's own name. */
  ahead?: { min?: number; max?: number };
  /** The form of every key of a map. */
  keys?: Rule;
  /** The members of a structure. */
  inside?: Shape;
  /** The form of every value of a map. */
  values?: Rule;
  /** The form of every element of a list. */
  each?: Rule;
  /** The parser's name for the structure, or for the values of the map. */
  called?: string;
}

export type Shape = Record<string, Rule>;

const NAME_FORM = /^[a-zA-Z0-9_.-]+$/;
const MAX_NAME = 255;

export const text: Rule = { type: "String" };
export const flag: Rule = { type: "Boolean" };
export const MODEL = "com.amazonaws.dynamodb.v20120810";
export const map: Rule = { type: "Map", called: `${MODEL}.AttributeValue` };
const list: Rule = { type: "List" };
/** References to names of attributes. */
export const NAMES: Rule = { type: "Map", values: text, called: "java.lang.String" };
export const needed = (rule: Rule): Rule => ({ ...rule, required: true });
export const choice = (...oneOf: string[]): Rule => ({ type: "String", oneOf });
/** `called` is its name in the service's model, which the parser uses for an element of a list or map. */
export const structure = (inside: Shape, called?: string): Rule => ({
  type: "Map",
  inside,
  ...(called !== undefined && { called: `${MODEL}.${called}` }),
});
export const listOf = (each: Rule): Rule => ({ type: "List", each });
export const count = (min: number, max?: number): Rule => ({
  type: "Integer",
  min,
  ...(max !== undefined && { max }),
});

export const ITEM_TABLE: Rule = {
  type: "String",
  required: true,
  ahead: { min: 1 },
  min: 3,
  max: MAX_NAME,
  form: NAME_FORM,
};
export const NAME: Rule = { type: "String", min: 3, max: MAX_NAME, form: NAME_FORM };
export const CONSUMED = choice("INDEXES", "TOTAL", "NONE");
export const RETURN_VALUES: Rule = {
  ...choice("ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW"),
  listed: "[ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]",
};
export const ON_FAILURE = choice("ALL_OLD", "NONE");

export const isAbsent = (held: unknown): held is undefined | null => held === undefined || held === null;

/** Rejects an invalid request; `owner` is the operation or structure, `at` the position. */
export function checkParameters(input: Wire, shape: Shape, owner: string, at = ""): void {
  checkMembers(input, shape, owner);
  checkConstraints(input, shape, at);
}

/** The same for a request whose members were checked. */
export function checkConstraints(input: Wire, shape: Shape, at = ""): void {
  refuseAhead(input, shape);
  const faults = faultsIn(input, shape, at);
  if (faults.length > 0) throw violations(faults);
}

const violations = (faults: readonly string[]) =>
  validation(`${faults.length} validation error${faults.length > 1 ? "s" : ""} detected: ${faults.join("; ")}`);

/** Rejects unknown members, and what the service's parser cannot read. */
export function checkMembers(input: Wire, shape: Shape, owner: string): void {
  for (const name in input) {
    const rule = shape[name];
    if (!rule) throw validation(`The embedded service does not support the parameter ${name} of ${owner}.`);
    checkHeld(input[name], rule, name);
  }
}

/** `isElement`: it is in a list or a map. */
function checkHeld(held: unknown, rule: Rule, name: string, isElement = false): void {
  if (isAbsent(held)) return;
  checkType(held, rule, isElement);
  if (rule.inside) checkMembers(held as Wire, rule.inside, name);
  if (rule.values) for (const member of Object.values(held as Wire)) checkHeld(member, rule.values, name, true);
  if (rule.each) for (const member of held as unknown[]) checkHeld(member, rule.each, name, true);
}

function refuseAhead(input: Wire, shape: Shape): void {
  for (const name in shape) {
    const { ahead, type } = shape[name]!;
    if (!ahead || isAbsent(input[name])) continue;
    const [constraint] = constraintsBroken(input[name], { type, ...ahead });
    if (constraint) throw violations([`Value at '${name}' failed to satisfy constraint: ${constraint}`]);
  }
}

/** The violations of a structure, in DynamoDB's words. */
function faultsIn(input: Wire, shape: Shape, at: string): string[] {
  const faults: string[] = [];
  for (const name in shape) {
    const rule = shape[name]!;
    const held = input[name];
    if (isAbsent(held) ? rule.required : !isPlain(rule))
      faults.push(...faultsAt(held, rule, at + name.charAt(0).toLowerCase() + name.slice(1)));
  }
  return faults;
}

const isPlain = (rule: Rule): boolean => rule === text || rule === map || rule === flag || rule === list;

function faultsAt(held: unknown, rule: Rule, where: string): string[] {
  if (isAbsent(held)) return [`Value null at '${where}' failed to satisfy constraint: Member must not be null`];
  const faults = constraintsBroken(held, rule).map((constraint) =>
    rule.listed
      ? `Failed to satisfy constraint: Member must satisfy enum value set: ${rule.listed}`
      : `Value '${rule.keys ? JSON.stringify(held) : shown(held)}' at '${where}' failed to satisfy constraint: ${constraint}`,
  );
  const { inside, each, values } = rule;
  if (inside) faults.push(...faultsIn(held as Wire, inside, `${where}.`));
  if (each)
    for (const [i, member] of (held as unknown[]).entries())
      faults.push(...faultsAt(member, each, `${where}.${i + 1}.member`));
  if (values)
    for (const [key, value] of Object.entries(held as Wire))
      faults.push(...faultsAt(value, values, `${where}.${key}.member`));
  return faults;
}

function constraintsBroken(held: unknown, { oneOf, min, max, form, keys, type }: Rule): string[] {
  const broken: string[] = [];
  if (keys && Object.keys(held as object).some((key) => constraintsBroken(key, keys).length > 0))
    broken.push(
      `Map keys must satisfy constraint: [Member must have length less than or equal to ${keys.max}, Member must have length greater than or equal to ${keys.min}, Member must satisfy regular expression pattern: ${keys.form!.source.slice(1, -1)}]`,
    );
  if (oneOf && !oneOf.includes(String(held))) broken.push(`Member must satisfy enum value set: [${oneOf.join(", ")}]`);
  const isNumber = type === "Integer";
  const measure = isNumber ? "value" : "length";
  const size = isNumber ? Number(held) : sizeOf(held);
  if (form && size > 0 && !form.test(String(held)) && !isArn(held))
    broken.push(`Member must satisfy regular expression pattern: ${form.source.slice(1, -1)}`);
  if (min !== undefined && size < min) broken.push(`Member must have ${measure} greater than or equal to ${min}`);
  if (max !== undefined && size > max) broken.push(`Member must have ${measure} less than or equal to ${max}`);
  return broken;
}

const isArn = (held: unknown): boolean => String(held).startsWith("arn:aws:dynamodb:");

const sizeOf = (held: unknown): number =>
  typeof held === "string" || Array.isArray(held) ? held.length : Object.keys(held as object).length;

/** A value as the real service's messages show it. */
export function shown(held: unknown): string {
  if (Array.isArray(held)) return `[${held.map(shown).join(", ")}]`;
  if (typeof held !== "object" || held === null) return String(held);
  if ("KeyType" in held && "AttributeName" in held)
    return `KeySchemaElement(attributeName=${held.AttributeName}, keyType=${held.KeyType})`;
  const members = Object.entries(held).map(([name, value]) => `${name}=${shown(value)}`);
  return `{${members.join(", ")}}`;
}

/** Rejects JSON of another type than the parameter's, as the real service's parser does. */
function checkType(held: unknown, rule: Rule, isElement: boolean): void {
  const { type } = rule;
  const kind = typeof held === "object" ? "Map" : typeof held;
  const actual = Array.isArray(held) ? "List" : kind;
  const isNumber = type === "Integer";
  const fits = actual === type || (isNumber ? actual === "number" : actual === type.toLowerCase());
  if (fits) return;
  const isScalar = actual !== "List" && actual !== "Map";
  const isGeneric = type === "List" || (type === "Map" && !rule.inside);
  throw serialization(isElement && isScalar && isGeneric ? CAST : typeMessage(held, actual, rule, isElement));
}

/** The parser's error for an element that is not a list or map, in a list or map of these. */
const CAST =
  "class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to class java.lang.Class (sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and java.lang.Class are in module java.base of loader 'bootstrap')";

function typeMessage(held: unknown, actual: string, { type, inside, called }: Rule, isElement: boolean): string {
  if (type === "List") return actual === "Map" ? MISPLACED : "Unexpected field type";
  if (type === "Map" && actual !== "List")
    return inside && isElement ? "Unexpected value type in payload" : "Unexpected field type";
  if (type === "Map" && !called) return MISPLACED;
  if (type === "Map")
    return `Unrecognized collection type ${inside ? `class ${called}` : `java.util.Map<java.lang.String, ${called}>`}`;
  if (actual === "List") return `Unrecognized collection type class java.lang.${type}`;
  if (actual === "Map") return MISPLACED;
  if (actual === "string")
    return type === "Boolean" ? "Unexpected token received from parser" : `STRING_VALUE cannot be converted to ${type}`;
  if (actual === "boolean") return `${held ? "TRUE" : "FALSE"}_VALUE cannot be converted to ${type}`;
  return `${Number.isInteger(held) ? "NUMBER" : "DECIMAL"}_VALUE cannot be converted to ${type}`;
}

const MISPLACED = "Start of structure or map found where not expected";
