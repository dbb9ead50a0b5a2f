// A small JSON Schema validator: the keywords that our document uses, and an error for any other.
import type { JsonSchema } from "../../shared/rules/json-schema.ts";

type Schemas = Readonly<Record<string, JsonSchema>>;

const SILENT = new Set([
  "title",
  "description",
  "discriminator",
  "default",
  "examples",
  "contentMediaType",
  "contentSchema",
  "required",
  "x-personal",
]);

const formats: Record<string, RegExp> = {
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  "date-time": /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/,
  email: /^[^@\s]+@[^@\s]+$/,
  uri: /^[a-z]+:/,
};

const typeOf = (value: unknown): string => {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Number.isInteger(value) ? "integer" : typeof value;
};

/** @returns what is wrong, each with its place; nothing for a value that fits. */
export function faultsOf(schema: JsonSchema, value: unknown, schemas: Schemas, place = "$"): string[] {
  const fault = (words: string) => [`${place} ${words}`];
  const all = (ones: readonly JsonSchema[]) => ones.map((one) => faultsOf(one, value, schemas, place));
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  const entries = isObject ? Object.entries(value) : [];
  const parts = Array.isArray(value) ? value : entries;
  const size = typeof value === "string" ? [...value].length : parts.length;
  const within = (applies: boolean, holds: boolean, words: string) => (applies && !holds ? fault(words) : []);

  const judges: Record<string, () => string[]> = {
    $ref: () => {
      const named = schemas[schema.$ref!.split("/").at(-1)!];
      return named ? faultsOf(named, value, schemas, place) : fault(`refers to ${schema.$ref}, which is not there`);
    },
    type: () => {
      const types = [schema.type!].flat();
      const type = typeOf(value);
      return types.includes(type) || (type === "integer" && types.includes("number"))
        ? []
        : fault(`is ${type}, not ${types}`);
    },
    const: () => within(true, value === schema.const, `is not ${JSON.stringify(schema.const)}`),
    enum: () => within(true, schema.enum!.includes(value), `is none of ${schema.enum}`),
    format: () =>
      within(typeof value === "string", formats[schema.format!]!.test(String(value)), `is no ${schema.format}`),
    pattern: () =>
      within(typeof value === "string", new RegExp(schema.pattern!, "u").test(String(value)), `does not match`),
    minLength: () => within(typeof value === "string", size >= schema.minLength!, "is too short"),
    maxLength: () => within(typeof value === "string", size <= schema.maxLength!, "is too long"),
    minItems: () => within(Array.isArray(value), size >= schema.minItems!, "has too few"),
    maxItems: () => within(Array.isArray(value), size <= schema.maxItems!, "has too many"),
    minProperties: () => within(isObject, size >= schema.minProperties!, "has too few keys"),
    maxProperties: () => within(isObject, size <= schema.maxProperties!, "has too many keys"),
    minimum: () => within(typeof value === "number", Number(value) >= schema.minimum!, "is too small"),
    maximum: () => within(typeof value === "number", Number(value) <= schema.maximum!, "is too large"),
    items: () =>
      Array.isArray(value) && schema.items
        ? value.flatMap((item, i) => faultsOf(schema.items as JsonSchema, item, schemas, `${place}[${i}]`))
        : [],
    properties: () => [
      ...entries.flatMap(([name, one]) => {
        const known = schema.properties?.[name];
        return known ? faultsOf(known, one, schemas, `${place}.${name}`) : [];
      }),
    ],
    additionalProperties: () =>
      entries
        .filter(([name]) => !Object.hasOwn(schema.properties ?? {}, name))
        .flatMap(([name, one]) => {
          if (typeof schema.additionalProperties === "object")
            return faultsOf(schema.additionalProperties, one, schemas, `${place}.${name}`);
          return schema.additionalProperties === false ? [`${place}.${name} is not known`] : [];
        }),
    propertyNames: () => entries.flatMap(([name]) => faultsOf(schema.propertyNames!, name, schemas, `${place} key`)),
    anyOf: () => (all(schema.anyOf!).some((faults) => faults.length === 0) ? [] : fault("fits none of anyOf")),
    oneOf: () =>
      within(true, all(schema.oneOf!).filter((faults) => faults.length === 0).length === 1, "fits not one of oneOf"),
    not: () => within(true, faultsOf(schema.not!, value, schemas, place).length > 0, "is what it must not be"),
    allOf: () => all(schema.allOf!).flat(),
  };
  const missing = isObject ? (schema.required ?? []).filter((name) => !Object.hasOwn(value, name)) : [];
  return [
    ...missing.map((name) => `${place}.${name} is missing`),
    ...Object.keys(schema)
      .filter((keyword) => !SILENT.has(keyword))
      .flatMap((keyword) => judges[keyword]?.() ?? fault(`has the keyword ${keyword}, which this judge does not know`)),
  ];
}
