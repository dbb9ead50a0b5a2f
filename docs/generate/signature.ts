// What clients may rely on: every route with its callers, its input and output fields, and their bounds (D-VER).
import type { Deprecation } from "../../shared/http/deprecation.ts";
import { byText } from "../../shared/kernel/order.ts";
import type { JsonSchema } from "../../shared/rules/json-schema.ts";
import { openInReleases } from "./grammars.ts";
import type { OpenApi, OperationObject } from "./openapi.ts";

/** The type of a field as text, kept by a release: `string|null`, `enum=a,b`, `maxLength=200`; `?` if optional. */
export interface Field {
  types: string[];
  optional?: true;
  enum?: string[];
  bounds?: Record<string, number | string>;
}

export interface RouteSignature {
  by: string[];
  deprecated?: Pick<Deprecation, "since" | "sunset">;
  /** `query.limit`, `header.Idempotency-Key`, `body.content.title`, `body.items[].id`, `body.attributes.*` */
  in: Record<string, Field>;
  /** The same by status: `200.items[].id`. */
  out: Record<string, Field>;
}

export type Signature = Record<string, RouteSignature>;

const BOUNDS = [
  "minLength",
  "maxLength",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
  "multipleOf",
  "pattern",
  "format",
];
/** Deep enough for every shape. */
const DEEPEST = 8;

interface Shape {
  types: Set<string>;
  values: Set<string> | undefined;
  bounds: Record<string, number | string>;
  fields: Map<string, { shape: Shape; optional: boolean }>;
}

type Schemas = Readonly<Record<string, JsonSchema>>;

export function signatureOf({ paths, components }: OpenApi): Signature {
  const { schemas } = components;
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, RouteSignature] => [
      `${method.toUpperCase()} ${path}`,
      routeOf(operation, schemas),
    ]),
  );
  return Object.fromEntries(routes.sort(byText(([name]) => name)));
}

function routeOf(operation: OperationObject, schemas: Schemas): RouteSignature {
  const given: Record<string, Field> = {};
  const answered: Record<string, Field> = {};
  for (const { name, in: place, required, schema } of operation.parameters ?? [])
    put(given, `${place}.${name}`, shapeOf(schema, schemas), !required);
  const contents = Object.values(operation.requestBody?.content ?? {});
  for (const { schema } of contents) put(given, "body", shapeOf(schema, schemas), false);
  for (const [status, response] of Object.entries(operation.responses)) {
    if ("$ref" in response) continue;
    const [content] = Object.values(response.content ?? {});
    const schema = (content?.schema.contentSchema as JsonSchema | undefined) ?? content?.schema ?? { type: "nothing" };
    put(answered, status, shapeOf(schema, schemas), false);
  }
  return {
    by: operation.security.flatMap((credential) => Object.keys(credential)).sort(),
    ...(operation["x-deprecated"] && { deprecated: operation["x-deprecated"] }),
    in: given,
    out: answered,
  };
}

function put(into: Record<string, Field>, path: string, { types, values, bounds, fields }: Shape, optional: boolean) {
  into[path] = {
    types: [...types].sort(),
    ...(optional && { optional: true as const }),
    ...(values && { enum: [...values].sort() }),
    ...(Object.keys(bounds).length > 0 && { bounds }),
  };
  for (const [name, field] of [...fields].sort(byText(([name]) => name)))
    put(into, name === "[]" ? `${path}[]` : `${path}.${name}`, field.shape, field.optional);
}

function shapeOf(schema: JsonSchema, schemas: Schemas, depth = 0): Shape {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split("/").at(-1)!;
    return shapeOf(openInReleases.get(name) ?? schemas[name] ?? {}, schemas, depth);
  }
  const branches = schema.anyOf ?? schema.oneOf;
  if (branches) return branches.map((branch) => shapeOf(branch, schemas, depth)).reduce(eitherOf);
  if (schema.allOf) return schema.allOf.map((part) => shapeOf(part, schemas, depth)).reduce(bothOf);
  const values = schema.const === undefined ? schema.enum : [schema.const];
  const bounds = BOUNDS.flatMap((name) => (schema[name] === undefined ? [] : [[name, schema[name]]]));
  return {
    types: new Set([schema.type ?? "any"].flat()),
    values: values && new Set(values.map(String)),
    bounds: Object.fromEntries(bounds) as Shape["bounds"],
    fields: depth < DEEPEST ? fieldsOf(schema, schemas, depth + 1) : new Map(),
  };
}

function fieldsOf(schema: JsonSchema, schemas: Schemas, depth: number): Shape["fields"] {
  const { properties = {}, required = [], items, prefixItems = [], additionalProperties } = schema;
  const fields: Shape["fields"] = new Map();
  for (const [name, one] of Object.entries(properties))
    fields.set(name, { shape: shapeOf(one, schemas, depth), optional: !required.includes(name) });
  for (const one of [...prefixItems, ...(items ? [items] : [])])
    fields.set("[]", { shape: shapeOf(one, schemas, depth), optional: true });
  if (typeof additionalProperties === "object")
    fields.set("*", { shape: shapeOf(additionalProperties, schemas, depth), optional: true });
  return fields;
}

/** For two alternative shapes: what holds for both. */
function eitherOf(a: Shape, b: Shape): Shape {
  const [isNullA, isNullB] = [isNull(a), isNull(b)];
  const ofOne = isNullA ? b.values : isNullB && a.values;
  const values = a.values && b.values ? new Set([...a.values, ...b.values]) : ofOne;
  const boundsOfOne = isNullA ? b.bounds : a.bounds;
  const bounds = isNullA || isNullB ? boundsOfOne : loosest(a, b);
  const fields: Shape["fields"] = new Map();
  for (const name of new Set([...a.fields.keys(), ...b.fields.keys()])) {
    const [left, right] = [a.fields.get(name), b.fields.get(name)];
    const shape = left && right ? eitherOf(left.shape, right.shape) : (left ?? right)!.shape;
    const isAbsent = (!left && !isNullA) || (!right && !isNullB);
    fields.set(name, { shape, optional: isAbsent || left?.optional === true || right?.optional === true });
  }
  return { types: new Set([...a.types, ...b.types]), values: values || undefined, bounds, fields };
}

const isNull = ({ types }: Shape) => types.size === 1 && types.has("null");

/** Bounds that both have. If the types differ, all bounds, because each applies to its own type. */
function loosest(a: Shape, b: Shape): Shape["bounds"] {
  if (![...a.types].some((type) => b.types.has(type))) return { ...a.bounds, ...b.bounds };
  const shared = Object.entries(a.bounds).flatMap(([name, bound]): [string, number | string][] => {
    const other = b.bounds[name];
    if (other === undefined) return [];
    if (typeof bound !== "number" || typeof other !== "number") return bound === other ? [[name, bound]] : [];
    return [[name, /^(min|exclusiveMin)/.test(name) ? Math.min(bound, other) : Math.max(bound, other)]];
  });
  return Object.fromEntries(shared);
}

const bothOf = (a: Shape, b: Shape): Shape => ({
  types: a.types.has("any") ? b.types : a.types,
  values: a.values ?? b.values,
  bounds: { ...a.bounds, ...b.bounds },
  fields: new Map([...a.fields, ...b.fields]),
});
