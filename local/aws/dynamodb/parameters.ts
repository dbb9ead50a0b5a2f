// Checks the members of a request: known, of the right JSON type, present, and within their constraints.
import type { Wire } from "../stand-in.ts";
import { serialization, validation } from "./errors.ts";

type JsonType = "String" | "Boolean" | "Integer" | "Map" | "List";

export interface Rule {
  type: JsonType;
  required?: boolean;
  oneOf?: readonly string[];
  /** Smallest value, or length of a text, list or map. */
  least?: number;
  most?: number;
  form?: RegExp;
  /** The allowed values as a message lists them, which then names neither value nor member. */
  listed?: string;
  /** Bounds that are checked before everything else and reported alone, by the member's own name. */
  ahead?: { least?: number; most?: number };
  /** What every key of a map must be. */
  keys?: Rule;
  /** The members of a structure. */
  inside?: Shape;
  /** What every value of a map must be. */
  values?: Rule;
  /** What every element of a list must be. */
  each?: Rule;
  /** What the parser calls the structure, or the values of the map. */
  called?: string;
}

export type Shape = Record<string, Rule>;

const NAME_FORM = /^[a-zA-Z0-9_.-]+$/;
const MAX_NAME = 255;

export const text: Rule = { type: "String" };
export const flag: Rule = { type: "Boolean" };
const MODEL = "com.amazonaws.dynamodb.v20120810";
export const map: Rule = { type: "Map", called: `${MODEL}.AttributeValue` };
export const list: Rule = { type: "List" };
/** References to names of attributes. */
export const NAMES: Rule = { type: "Map", values: text, called: "java.lang.String" };
export const needed = (rule: Rule): Rule => ({ ...rule, required: true });
export const choice = (...oneOf: string[]): Rule => ({ type: "String", oneOf });
export const structure = (inside: Shape): Rule => ({ type: "Map", inside });
export const listOf = (each: Rule): Rule => ({ type: "List", each });
export const count = (least: number, most?: number): Rule => ({
  type: "Integer",
  least,
  ...(most !== undefined && { most }),
});

export const ITEM_TABLE: Rule = {
  type: "String",
  required: true,
  ahead: { least: 1 },
  least: 3,
  most: MAX_NAME,
  form: NAME_FORM,
};
export const NAME: Rule = { type: "String", least: 3, most: MAX_NAME, form: NAME_FORM };
export const CONSUMED = choice("INDEXES", "TOTAL", "NONE");
export const COLLECTION_METRICS = choice("SIZE", "NONE");
export const RETURN_VALUES: Rule = {
  ...choice("ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW"),
  listed: "[ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]",
};
export const ON_FAILURE = choice("ALL_OLD", "NONE");

export const isAbsent = (held: unknown): held is undefined | null => held === undefined || held === null;

/** Refuses a request that does not fit; `owner` names the operation or structure, `at` where it stands. */
export function checkParameters(input: Wire, shape: Shape, owner: string, at = ""): void {
  checkMembers(input, shape, owner);
  refuseAhead(input, shape);
  const faults = faultsIn(input, shape, at);
  if (faults.length > 0) throw violations(faults);
}

const violations = (faults: readonly string[]) =>
  validation(`${faults.length} validation error${faults.length > 1 ? "s" : ""} detected: ${faults.join("; ")}`);

function checkMembers(input: Wire, shape: Shape, owner: string): void {
  for (const name in input) {
    const rule = shape[name];
    if (!rule) throw validation(`The embedded service does not support the parameter ${name} of ${owner}.`);
    checkHeld(input[name], rule, name);
  }
}

function checkHeld(held: unknown, rule: Rule, name: string): void {
  if (isAbsent(held)) return;
  checkType(held, rule);
  if (rule.inside) checkMembers(held as Wire, rule.inside, name);
  if (rule.values) for (const member of Object.values(held as Wire)) checkHeld(member, rule.values, name);
  if (rule.each) for (const member of held as unknown[]) checkHeld(member, rule.each, name);
}

function refuseAhead(input: Wire, shape: Shape): void {
  for (const name in shape) {
    const { ahead, type } = shape[name]!;
    if (!ahead || isAbsent(input[name])) continue;
    const [constraint] = constraintsBroken(input[name], { type, ...ahead });
    if (constraint) throw violations([`Value at '${name}' failed to satisfy constraint: ${constraint}`]);
  }
}

/** What a structure violates, as DynamoDB words it. */
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
  const own = constraintsBroken(held, rule).map((constraint) =>
    rule.listed
      ? `Failed to satisfy constraint: Member must satisfy enum value set: ${rule.listed}`
      : `Value '${rule.keys ? JSON.stringify(held) : shown(held)}' at '${where}' failed to satisfy constraint: ${constraint}`,
  );
  const inner = rule.inside
    ? faultsIn(held as Wire, rule.inside, `${where}.`)
    : rule.each
      ? (held as unknown[]).flatMap((member, position) =>
          faultsAt(member, rule.each!, `${where}.${position + 1}.member`),
        )
      : rule.values
        ? Object.entries(held as Wire).flatMap(([key, value]) =>
            faultsAt(value, rule.values!, `${where}.${key}.member`),
          )
        : [];
  return [...own, ...inner];
}

function constraintsBroken(held: unknown, { oneOf, least, most, form, keys, type }: Rule): string[] {
  const broken: string[] = [];
  if (keys && Object.keys(held as object).some((key) => constraintsBroken(key, keys).length > 0))
    broken.push(
      `Map keys must satisfy constraint: [Member must have length less than or equal to ${keys.most}, Member must have length greater than or equal to ${keys.least}, Member must satisfy regular expression pattern: ${keys.form!.source.slice(1, -1)}]`,
    );
  if (oneOf && !oneOf.includes(String(held))) broken.push(`Member must satisfy enum value set: [${oneOf.join(", ")}]`);
  const measure = type === "Integer" ? "value" : "length";
  const size = type === "Integer" ? Number(held) : sizeOf(held);
  if (form && size > 0 && !form.test(String(held)) && !isArn(held))
    broken.push(`Member must satisfy regular expression pattern: ${form.source.slice(1, -1)}`);
  if (least !== undefined && size < least) broken.push(`Member must have ${measure} greater than or equal to ${least}`);
  if (most !== undefined && size > most) broken.push(`Member must have ${measure} less than or equal to ${most}`);
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

/** Refuses JSON of another type than the parameter's, as the real service's parser does. */
function checkType(held: unknown, rule: Rule): void {
  const { type } = rule;
  const actual = Array.isArray(held) ? "List" : typeof held === "object" ? "Map" : typeof held;
  const fits = actual === type || (type === "Integer" ? actual === "number" : actual === type.toLowerCase());
  if (!fits) throw serialization(typeMessage(held, actual, rule));
}

function typeMessage(held: unknown, actual: string, { type, inside, called }: Rule): string {
  if (type === "List") return actual === "Map" ? MISPLACED : "Unexpected field type";
  if (type === "Map" && actual !== "List") return inside ? "Unexpected value type in payload" : "Unexpected field type";
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
