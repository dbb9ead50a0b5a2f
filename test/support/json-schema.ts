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

interface JudgedValue {
  schema: JsonSchema;
  value: unknown;
  schemas: Schemas;
  place: string;
}

/** What a keyword finds wrong. */
type Judge = (given: JudgedValue) => string[];

const FITS: string[] = [];

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const within = (isWithin: boolean, { place }: JudgedValue, words: string): string[] =>
  isWithin ? FITS : [`${place} ${words}`];

/** The length of a text is counted in characters. A value of another type than the keyword is about always fits. */
const lengthWithin = (given: JudgedValue, holds: (length: number) => boolean, words: string) =>
  within(typeof given.value !== "string" || holds([...given.value].length), given, words);
const itemsWithin = (given: JudgedValue, holds: (length: number) => boolean, words: string) =>
  within(!Array.isArray(given.value) || holds(given.value.length), given, words);
const keysWithin = (given: JudgedValue, holds: (length: number) => boolean, words: string) =>
  within(!isObject(given.value) || holds(Object.keys(given.value).length), given, words);
const textIs = (given: JudgedValue, form: RegExp, words: string) =>
  within(typeof given.value !== "string" || form.test(given.value), given, words);

const entriesOf = (value: unknown): [string, unknown][] => (isObject(value) ? Object.entries(value) : []);

const fitsHowMany = (ones: readonly JsonSchema[], { value, schemas, place }: JudgedValue): number =>
  ones.filter((one) => faultsOf(one, value, schemas, place).length === 0).length;

const judges: Record<string, Judge> = {
  $ref: ({ schema, value, schemas, place }) => {
    const named = schemas[schema.$ref!.split("/").at(-1)!];
    return named ? faultsOf(named, value, schemas, place) : [`${place} refers to ${schema.$ref}, which is not there`];
  },
  type: ({ schema, value, place }) => {
    const types = schema.type!;
    const type = typeOf(value);
    const fits = (one: string) => one === type || (one === "number" && type === "integer");
    return (Array.isArray(types) ? types.some(fits) : fits(types)) ? FITS : [`${place} is ${type}, not ${types}`];
  },
  const: (given) => within(given.value === given.schema.const, given, `is not ${JSON.stringify(given.schema.const)}`),
  enum: (given) => within(given.schema.enum!.includes(given.value), given, `is none of ${given.schema.enum}`),
  format: (given) => textIs(given, formats[given.schema.format!]!, `is no ${given.schema.format}`),
  pattern: (given) => textIs(given, new RegExp(given.schema.pattern!, "u"), "does not match"),
  minLength: (given) => lengthWithin(given, (length) => length >= given.schema.minLength!, "is too short"),
  maxLength: (given) => lengthWithin(given, (length) => length <= given.schema.maxLength!, "is too long"),
  minItems: (given) => itemsWithin(given, (length) => length >= given.schema.minItems!, "has too few"),
  maxItems: (given) => itemsWithin(given, (length) => length <= given.schema.maxItems!, "has too many"),
  minProperties: (given) => keysWithin(given, (length) => length >= given.schema.minProperties!, "has too few keys"),
  maxProperties: (given) => keysWithin(given, (length) => length <= given.schema.maxProperties!, "has too many keys"),
  minimum: (given) =>
    within(typeof given.value !== "number" || given.value >= given.schema.minimum!, given, "is too small"),
  maximum: (given) =>
    within(typeof given.value !== "number" || given.value <= given.schema.maximum!, given, "is too large"),
  items: ({ schema: { items }, value, schemas, place }) =>
    Array.isArray(value) && items ? value.flatMap((item, i) => faultsOf(items, item, schemas, `${place}[${i}]`)) : FITS,
  properties: ({ schema, value, schemas, place }) =>
    entriesOf(value).flatMap(([name, one]) => {
      const known = schema.properties?.[name];
      return known ? faultsOf(known, one, schemas, `${place}.${name}`) : FITS;
    }),
  additionalProperties: ({ schema, value, schemas, place }) =>
    entriesOf(value)
      .filter(([name]) => !Object.hasOwn(schema.properties ?? {}, name))
      .flatMap(([name, one]) => {
        if (typeof schema.additionalProperties === "object")
          return faultsOf(schema.additionalProperties, one, schemas, `${place}.${name}`);
        return schema.additionalProperties === false ? [`${place}.${name} is not known`] : FITS;
      }),
  propertyNames: ({ schema, value, schemas, place }) =>
    entriesOf(value).flatMap(([name]) => faultsOf(schema.propertyNames!, name, schemas, `${place} key`)),
  anyOf: (given) => within(fitsHowMany(given.schema.anyOf!, given) > 0, given, "fits none of anyOf"),
  oneOf: (given) => within(fitsHowMany(given.schema.oneOf!, given) === 1, given, "fits not one of oneOf"),
  not: (given) => within(fitsHowMany([given.schema.not!], given) === 0, given, "is what it must not be"),
  allOf: ({ schema, value, schemas, place }) => schema.allOf!.flatMap((one) => faultsOf(one, value, schemas, place)),
};

/** The judges of each schema, which is asked thousands of times. */
const judgesOf = new WeakMap<JsonSchema, Judge[]>();

function judgesFor(schema: JsonSchema): Judge[] {
  const known = judgesOf.get(schema);
  if (known) return known;
  const made = Object.keys(schema)
    .filter((keyword) => !SILENT.has(keyword))
    .map(
      (keyword): Judge =>
        judges[keyword] ?? (({ place }) => [`${place} has the keyword ${keyword}, which this judge does not know`]),
    );
  judgesOf.set(schema, made);
  return made;
}

/** @returns what is wrong, each with its place; nothing for a value that fits. */
export function faultsOf(schema: JsonSchema, value: unknown, schemas: Schemas, place = "$"): string[] {
  const missing =
    schema.required && isObject(value) ? schema.required.filter((name) => !Object.hasOwn(value, name)) : [];
  const given = { schema, value, schemas, place };
  const faults = missing.map((name) => `${place}.${name} is missing`);
  for (const judge of judgesFor(schema)) for (const fault of judge(given)) faults.push(fault);
  return faults;
}
