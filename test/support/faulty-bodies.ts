// Bodies and queries with one value that their schema refuses, derived from the schema and one that it takes.
import type { OperationObject } from "../../docs/generate/openapi.ts";
import type { JsonSchema } from "../../shared/rules/json-schema.ts";
import * as judge from "./json-schema.ts";

interface Fault {
  /** Where the wrong value stands, as a refusal names it: `content.actions[0].title`. */
  field: string;
  what: string;
  body: object;
  /** The nearest that the schema takes, where the value is beyond a bound. */
  atBound?: object;
}

type Schemas = Readonly<Record<string, JsonSchema>>;
type Path = readonly (string | number)[];
interface WrongValue {
  what: string;
  value: unknown;
  atBound?: unknown;
}
interface Wrong extends WrongValue {
  path: Path;
}

/** A field that is left out. */
const ABSENT = Symbol("absent");
const MAX_TEXT = 20_000;
const PERIODS = [
  ["from", "to"],
  ["start", "end"],
] as const;
const NO_CURSORS = ["", "no-cursor", "IjEi."];

/** @param taken a body of the schema: lists and maps are judged by their first value there */
export function faultsOf(schema: JsonSchema, taken: unknown, schemas: Schemas): Fault[] {
  return wrongIn(schema, taken, schemas, [])
    .map(({ path, what, value, atBound }) => ({
      field: path
        .reduce<string>((all, part) => (typeof part === "number" ? `${all}[${part}]` : `${all}.${part}`), "")
        .slice(1),
      what,
      body: changed(taken, path, value) as object,
      ...(atBound !== undefined && { atBound: changed(taken, path, atBound) as object }),
    }))
    .filter(({ body }) => judge.faultsOf(schema, body, schemas).length > 0);
}

/**
 * Queries in the same way. Whatever is written is a text, and no text is a cursor.
 * @param taken a query of the operation
 */
export function queryFaultsOf(
  { parameters = [] }: OperationObject,
  taken: Readonly<Record<string, string>>,
): (Omit<Fault, "body"> & { query: Record<string, string> })[] {
  const asked = parameters.filter((parameter) => parameter.in === "query");
  const schema: JsonSchema = {
    type: "object",
    properties: Object.fromEntries(asked.map((one) => [one.name, one.schema])),
    required: asked.filter((one) => one.required).map((one) => one.name),
  };
  const wrong = wrongIn(schema, taken, {}, []).filter(({ what }) => what !== "is no string");
  const cursors = asked
    .filter(({ name }) => name === "cursor")
    .flatMap(({ name }) => NO_CURSORS.map((value) => ({ path: [name], what: "is no cursor", value })));
  const single = [...wrong, ...cursors].map(({ path, what, value }) => ({
    field: String(path[0]),
    what,
    query: textsOf(changed(taken, path, value) as object),
  }));
  const periods = PERIODS.filter((period) => period.every((name) => asked.some((one) => one.name === name)));
  const backwards = periods.map(([begin, end]) => ({
    field: end,
    what: "ends before it begins",
    query: { ...taken, [begin]: "2026-02-02T00:00:00Z", [end]: "2026-02-01T00:00:00Z" },
  }));
  return [...single, ...backwards];
}

const textsOf = (query: object): Record<string, string> =>
  Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)]));

/** The schema itself, the one that is there beside `null`, or the alternative that takes the value. */
function resolved(schema: JsonSchema, taken: unknown, schemas: Schemas): JsonSchema {
  if (schema.$ref !== undefined) return resolved(schemas[schema.$ref.split("/").at(-1)!]!, taken, schemas);
  const alternatives = (schema.anyOf ?? schema.oneOf ?? []).filter(({ type }) => type !== "null");
  const fitting =
    alternatives.length === 1
      ? alternatives
      : alternatives.filter((alternative) => judge.faultsOf(alternative, taken, schemas).length === 0);
  if (fitting.length === 1) return resolved(fitting[0]!, taken, schemas);
  const types = [schema.type ?? []].flat().filter((type) => type !== "null");
  return types.length === 1 ? { ...schema, type: types[0]! } : schema;
}

function wrongIn(given: JsonSchema, taken: unknown, schemas: Schemas, path: Path): Wrong[] {
  // Whole bodies that are alternatives are refused as a whole.
  const schema = resolved(given, path.length === 0 ? undefined : taken, schemas);
  const own = path.length === 0 ? [] : valuesRefusedBy(schema, taken).map((wrong) => ({ path, ...wrong }));
  if (Array.isArray(taken) && taken.length > 0 && schema.items)
    return [...own, ...wrongIn(schema.items, taken[0], schemas, [...path, 0])];
  if (schema.properties === undefined) return [...own, ...wrongInMap(schema, taken, schemas, path)];
  const known = typeof taken === "object" && taken !== null ? (taken as Record<string, unknown>) : {};
  const fields = Object.entries(schema.properties).flatMap(([name, one]) =>
    wrongIn(one, known[name], schemas, [...path, name]),
  );
  const missing = (schema.required ?? []).map((name) => ({ path: [...path, name], what: "is missing", value: ABSENT }));
  const unknown = { path: [...path, "no_such_field"], what: "is unknown", value: 1 };
  return [...own, ...fields, ...missing, ...(schema.additionalProperties === false ? [unknown] : [])];
}

function wrongInMap({ additionalProperties }: JsonSchema, taken: unknown, schemas: Schemas, path: Path): Wrong[] {
  const [first] = Object.entries(Object(taken));
  if (typeof taken !== "object" || Array.isArray(taken) || !first || typeof additionalProperties !== "object")
    return [];
  const [name, value] = first;
  return wrongIn(additionalProperties, value, schemas, [...path, name]);
}

/** Free values are not judged. */
function valuesRefusedBy(schema: JsonSchema, taken: unknown): WrongValue[] {
  const { type, maxLength, minLength, minimum, maximum, maxItems, minItems, format } = schema;
  if (schema.enum !== undefined) return [{ what: "is none of its values", value: "no such value" }];
  if (typeof type !== "string") return [];
  const wrong: WrongValue[] = [
    { what: `is no ${type}`, value: type === "boolean" || type === "object" ? "text" : { is: "an object" } },
  ];
  if (format === "uuid") wrong.push({ what: "is no UUID", value: "no-uuid" });
  if (format === "date-time") wrong.push({ what: "is no time", value: "yesterday" });
  if (type === "string" && maxLength !== undefined && maxLength <= MAX_TEXT)
    wrong.push({
      what: `is longer than ${maxLength}`,
      value: "x".repeat(maxLength + 1),
      atBound: "x".repeat(maxLength),
    });
  if (type === "string" && minLength) wrong.push({ what: "is empty", value: "", atBound: "x".repeat(minLength) });
  if (minimum !== undefined) wrong.push({ what: `is below ${minimum}`, value: minimum - 1, atBound: minimum });
  if (maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER)
    wrong.push({ what: `is above ${maximum}`, value: maximum + 1, atBound: maximum });
  if (type === "integer") wrong.push({ what: "is no whole number", value: (minimum ?? 0) + 0.5 });
  if (minItems) wrong.push({ what: "is an empty list", value: [] });
  if (maxItems !== undefined && Array.isArray(taken) && taken.length > 0)
    wrong.push({
      what: `has more than ${maxItems}`,
      value: Array.from({ length: maxItems + 1 }, () => taken[0]),
      atBound: Array.from({ length: maxItems }, () => taken[0]),
    });
  return wrong;
}

/** The body with another value at a place. */
function changed(body: unknown, [part, ...below]: Path, value: unknown): unknown {
  if (part === undefined) return value;
  const copy = (typeof part === "number" ? [...(body as unknown[])] : { ...(body as object) }) as Record<
    string | number,
    unknown
  >;
  if (below.length > 0) copy[part] = changed(copy[part] ?? {}, below, value);
  else if (value === ABSENT) delete copy[part];
  else copy[part] = value;
  return copy;
}
