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
}

export type Shape = Record<string, Rule>;

const NAME_FORM = /^[a-zA-Z0-9_.-]+$/;
const MAX_NAME = 255;

export const text: Rule = { type: "String" };
export const flag: Rule = { type: "Boolean" };
export const map: Rule = { type: "Map" };
export const list: Rule = { type: "List" };
export const needed = (rule: Rule): Rule => ({ ...rule, required: true });
export const choice = (...oneOf: string[]): Rule => ({ type: "String", oneOf });
export const count = (least: number, most?: number): Rule => ({
  type: "Integer",
  least,
  ...(most !== undefined && { most }),
});

export const ITEM_TABLE: Rule = { type: "String", required: true, least: 1, most: MAX_NAME, form: NAME_FORM };
export const NEW_NAME: Rule = { type: "String", required: true, least: 3, most: MAX_NAME, form: NAME_FORM };
export const CONSUMED = choice("INDEXES", "TOTAL", "NONE");
export const COLLECTION_METRICS = choice("SIZE", "NONE");
export const RETURN_VALUES = choice("ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW");
export const ON_FAILURE = choice("ALL_OLD", "NONE");

/** Refuses a request that does not fit; `owner` names the operation or nested structure. */
export function checkParameters(input: Wire, shape: Shape, owner: string, at = ""): void {
  for (const name in input) {
    const rule = shape[name];
    if (!rule) throw validation(`The embedded service does not support the parameter ${name} of ${owner}.`);
    if (input[name] !== undefined && input[name] !== null) checkType(input[name], rule.type);
  }
  const faults = faultsOf(input, shape, at);
  if (faults.length > 0) throw violations(faults);
}

export const violations = (faults: readonly string[]) =>
  validation(`${faults.length} validation error${faults.length > 1 ? "s" : ""} detected: ${faults.join("; ")}`);

/** What a request violates, as DynamoDB words it. */
export function faultsOf(input: Wire, shape: Shape, at = ""): string[] {
  const faults: string[] = [];
  for (const name in shape) {
    const rule = shape[name]!;
    const held = input[name];
    const where = at + name.charAt(0).toLowerCase() + name.slice(1);
    if (held === undefined || held === null) {
      if (rule.required) faults.push(`Value null at '${where}' failed to satisfy constraint: Member must not be null`);
    } else if (rule !== text && rule !== map && rule !== flag && rule !== list) {
      for (const constraint of constraintsBroken(held, rule))
        faults.push(`Value '${shown(held)}' at '${where}' failed to satisfy constraint: ${constraint}`);
    }
  }
  return faults;
}

function constraintsBroken(held: unknown, { oneOf, least, most, form, type }: Rule): string[] {
  const broken: string[] = [];
  if (oneOf && !oneOf.includes(String(held)))
    broken.push(`Member must satisfy enum value set: [${oneOf.join(", ")}]`);
  const measure = type === "Integer" ? "value" : "length";
  const size = type === "Integer" ? Number(held) : sizeOf(held);
  if (form && size > 0 && !form.test(String(held)))
    broken.push(`Member must satisfy regular expression pattern: ${form.source.slice(1, -1)}`);
  if (least !== undefined && size < least) broken.push(`Member must have ${measure} greater than or equal to ${least}`);
  if (most !== undefined && size > most) broken.push(`Member must have ${measure} less than or equal to ${most}`);
  return broken;
}

const sizeOf = (held: unknown): number =>
  typeof held === "string" || Array.isArray(held) ? held.length : Object.keys(held as object).length;

function shown(held: unknown): string {
  if (Array.isArray(held)) return `[${held.map(shown).join(", ")}]`;
  if (typeof held !== "object" || held === null) return String(held);
  const members = Object.entries(held).map(([name, value]) => `${name}=${shown(value)}`);
  return `{${members.join(", ")}}`;
}

/** Refuses JSON of another type than the parameter's, as the real service's parser does. */
function checkType(held: unknown, type: JsonType): void {
  const actual = Array.isArray(held) ? "List" : typeof held === "object" ? "Map" : typeof held;
  const fits = actual === type || (type === "Integer" ? actual === "number" : actual === type.toLowerCase());
  if (!fits) throw serialization(typeMessage(held, actual, type));
}

function typeMessage(held: unknown, actual: string, type: JsonType): string {
  if (type === "Map" || type === "List")
    return actual === "Map" || actual === "List" ? "Start of structure or map found where not expected" : "Unexpected field type";
  if (actual === "List") return `Unrecognized collection type class java.lang.${type}`;
  if (actual === "Map") return "Start of structure or map found where not expected";
  if (actual === "string")
    return type === "Boolean" ? "Unexpected token received from parser" : `STRING_VALUE cannot be converted to ${type}`;
  if (actual === "boolean") return `${held ? "TRUE" : "FALSE"}_VALUE cannot be converted to ${type}`;
  return `${Number.isInteger(held) ? "NUMBER" : "DECIMAL"}_VALUE cannot be converted to ${type}`;
}
