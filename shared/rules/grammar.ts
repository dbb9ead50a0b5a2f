// Grammars of JSON values. Each is stated once, and yields both the check of a value and its JSON Schema (GEN-16).

import { isJsonObject } from "../kernel/objects.ts";
import { hasAtMost } from "./characters.ts";
import { type FieldStep, fieldPath } from "./field-path.ts";
import type { JsonSchema } from "./json-schema.ts";

/** When a problem is refused: always, by PUT (AMB-8), or only if the definition must be complete (AMB-61). */
export type Severity = "malformed" | "wrong" | "missing";

export interface GrammarProblem {
  severity: Severity;
  path: FieldStep[];
  reason: string;
}

export type Path = readonly FieldStep[];

/** Records a problem; one without a severity is malformed. */
export type Report = (path: Path, reason: string, severity?: Severity) => undefined;

export interface Grammar {
  check(value: unknown, path: Path, report: Report): undefined;
  /** The JSON Schema, in which named grammars are references. */
  schema(): JsonSchema;
}

/** A grammar that is a component of the OpenAPI document. */
export interface NamedGrammar extends Grammar {
  name: string;
  definition(): JsonSchema;
}

export function problemsIn({ check }: Pick<Grammar, "check">, value: unknown): GrammarProblem[] {
  const problems: GrammarProblem[] = [];
  const report: Report = (path, reason, severity = "malformed") => {
    problems.push({ severity, path: [...path], reason });
    return undefined;
  };
  check(value, [], report);
  return problems;
}

export const refTo = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

export const named = (name: string, { check, schema }: Grammar): NamedGrammar => ({
  name,
  check,
  schema: () => refTo(name),
  definition: schema,
});

interface Described {
  /** The description in the reference. Bundles of functions are made without these texts. */
  about?: string;
}

export const described = ({ about }: Described, { check, schema }: Grammar): Grammar => ({
  check,
  schema: () => ({ ...schema(), ...describe(about) }),
});

const describe = (about: string | undefined): JsonSchema => (about === undefined ? {} : { description: about });

interface TextRules extends Described {
  min?: number;
  /** In characters. */
  max?: number;
  /** In bytes of UTF-8, in place of `max`. */
  maxBytes?: number;
  /** The refusal of a value that is no text. Default: separate refusals of a wrong type and an empty text. */
  refusal?: string;
  tooLong?: string;
  /** A forbidden beginning, and its refusal. */
  never?: { start: string; refusal: string };
}

const bytesOf = (value: string): number => new TextEncoder().encode(value).length;

/** A text of `min` to `max` characters. */
export const text = ({ about, min = 0, max, maxBytes, refusal, tooLong, never }: TextRules): Grammar => ({
  check: (value, path, report) => {
    if (typeof value !== "string") report(path, refusal ?? "must be a string");
    else if (value.length < min) report(path, refusal ?? "must not be empty");
    else if (max !== undefined && !hasAtMost(value, max))
      report(path, tooLong ?? `must have at most ${max} characters`);
    else if (maxBytes !== undefined && bytesOf(value) > maxBytes)
      report(path, `must have at most ${maxBytes} bytes of UTF-8`);
    else if (never && value.startsWith(never.start)) report(path, never.refusal);
  },
  schema: () => ({
    type: "string",
    ...(min > 0 && { minLength: min }),
    ...((max ?? maxBytes) !== undefined && { maxLength: max ?? maxBytes }),
    ...describe(about),
  }),
});

interface NumberRules extends Described {
  min?: number;
  max?: number;
  isWhole?: boolean;
  default?: number;
}

/** A number from `min` to `max`; whole, unless `isWhole` is false. */
export const number = ({ about, min, max, isWhole = true, default: fallback }: NumberRules): Grammar => ({
  check: (value, path, report) => {
    const isWithin = typeof value === "number" && value >= (min ?? value) && value <= (max ?? value);
    if (!isWithin || (isWhole && !Number.isInteger(value)))
      report(path, `must be a ${isWhole ? "whole number" : "number"} from ${min} to ${max}`);
  },
  schema: () => ({
    type: isWhole ? "integer" : "number",
    ...(min !== undefined && { minimum: min }),
    ...(max !== undefined && { maximum: max }),
    ...describe(about),
    ...(fallback !== undefined && { default: fallback }),
  }),
});

interface ChoiceRules extends Described {
  of: readonly string[];
  refusal: string;
  default?: string;
}

export const choice = ({ about, of, refusal, default: fallback }: ChoiceRules): Grammar => ({
  check: (value, path, report) => {
    if (typeof value !== "string" || !of.includes(value)) report(path, refusal);
  },
  schema: () => ({
    type: "string",
    enum: [...of],
    ...(fallback !== undefined && { default: fallback }),
    ...describe(about),
  }),
});

interface ListRules extends Described {
  of: Grammar;
  min?: number;
  max?: number;
  /** The refusal of a value that is no array, or has too few elements. */
  refusal?: string;
}

export const list = ({ about, of, min = 0, max, refusal = "must be an array" }: ListRules): Grammar => ({
  check: (value, path, report) => {
    if (!Array.isArray(value) || value.length < min) return report(path, refusal);
    if (max !== undefined && value.length > max) return report(path, `must be at most ${max}`);
    for (const [i, item] of value.entries()) of.check(item, [...path, i], report);
  },
  schema: () => ({
    type: "array",
    items: of.schema(),
    ...(min > 0 && { minItems: min }),
    ...(max !== undefined && { maxItems: max }),
    ...describe(about),
  }),
});

interface ObjectRules extends Described {
  fields: Readonly<Record<string, Grammar>>;
  required?: readonly string[];
  /** The refusal of a value that is no object. */
  refusal?: string;
  /** The refusal of an undeclared field. */
  stranger?: string;
  /** The refusal of a missing required field. Default: that of its own grammar. */
  missing?: string;
  /** A wrong required field is reported as a problem of the whole object. */
  isToldWhole?: boolean;
  minProperties?: number;
  /** A check over several fields. */
  also?: (value: Record<string, unknown>, path: Path, report: Report) => undefined;
}

/** An object of declared fields. */
export const object = (rules: ObjectRules): Grammar => ({
  check: (value, path, report) => {
    const { fields, required = [], missing, isToldWhole = false } = rules;
    const isWrong = (name: string) =>
      isJsonObject(value) && fields[name] && problemsIn(fields[name], value[name]).length > 0;
    if (!isJsonObject(value) || (isToldWhole && required.some(isWrong)))
      return report(path, rules.refusal ?? "must be an object");
    for (const key of Object.keys(value))
      if (!Object.hasOwn(fields, key)) report([...path, key], rules.stranger ?? "is not a known field");
    for (const [name, field] of Object.entries(fields)) {
      const property = Object.hasOwn(value, name) ? value[name] : undefined;
      if (property === undefined && !required.includes(name)) continue;
      if (property === undefined && missing !== undefined) report([...path, name], missing);
      else field.check(property, [...path, name], report);
    }
    rules.also?.(value, path, report);
  },
  schema: () => ({
    type: "object",
    ...describe(rules.about),
    properties: Object.fromEntries(Object.entries(rules.fields).map(([name, field]) => [name, field.schema()])),
    ...(rules.required && { required: [...rules.required] }),
    ...(rules.minProperties !== undefined && { minProperties: rules.minProperties }),
    additionalProperties: false,
  }),
});

/** An object that is a component of its own in the reference. */
export const namedObject = (name: string, rules: ObjectRules): NamedGrammar => named(name, object(rules));

/** A problem as refusals name it. */
export const problemAt = ({ path, reason }: Pick<GrammarProblem, "path" | "reason">) => ({
  path: fieldPath(...path),
  reason,
});
