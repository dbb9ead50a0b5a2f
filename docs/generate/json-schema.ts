// From a declared shape to the JSON Schema of its input or output, for clients.
import { toJsonSchema } from "@valibot/to-json-schema";
import type { GenericSchema } from "valibot";
import { Timestamp, TimestampInput, Uuid } from "../../shared/contract/schemas.ts";
import { isEmailAddress, isInternationalAddress, isLocale, isPhoneNumber } from "../../shared/rules/contacts.ts";
import type { JsonSchema } from "../../shared/rules/json-schema.ts";
import { isTimeZone } from "../../shared/rules/time-zones.ts";

interface Action {
  type: string;
  message?: unknown;
  requirement?: unknown;
}

interface PipedSchema {
  pipe: readonly object[];
}

const actionOf = (schema: PipedSchema, n: number): unknown => schema.pipe[n];

/** Our own checks, as JSON Schema keywords or examples. */
const meanings: [is: (action: Action) => boolean, adds: JsonSchema][] = [
  [(action) => action === actionOf(TimestampInput, 1), { format: "date-time" }],
  [(action) => action === actionOf(Uuid, 1), { format: "uuid" }],
  [({ requirement }) => requirement === isEmailAddress, { format: "email" }],
  [({ requirement }) => requirement === isInternationalAddress, { format: "email" }],
  [
    ({ requirement }) => requirement === isPhoneNumber,
    { examples: ["+4915123456789"], description: "The phone number in E.164, as `+4915123456789`" },
  ],
  [({ requirement }) => requirement === isTimeZone, { examples: ["Europe/Berlin"], description: "An IANA time zone" }],
  [({ requirement }) => requirement === isLocale, { examples: ["de-DE"], description: "A BCP 47 language tag" }],
];

/** A text that must be digits is shown as an integer: paging parses its query this way. */
const WHOLE_NUMBER = "^[0-9]{1,9}$";

/** In the text of a class of characters. */
const CONTROLS = "\\u0000-\\u001f\\u007f-\\u009f";

const refTo = (name: string) => `#/components/schemas/${name}`;

/** What an action says that JSON Schema cannot see: a grammar (shared/contract/grammar.ts), the bound of a text of digits. */
const metadataOf = (action: object): { grammar?: string; maximum?: number; default?: unknown } =>
  (action as { metadata?: { grammar?: string; maximum?: number; default?: unknown } }).metadata ?? {};

/** @param refs names of shapes that are defined elsewhere in the document, by the shape itself. */
export function schemaOf(
  shape: GenericSchema,
  mode: "input" | "output",
  refs: Readonly<Record<string, GenericSchema>> = {},
): JsonSchema {
  const {
    $schema: _,
    $defs: __,
    ...schema
  } = toJsonSchema(shape, {
    target: "draft-2020-12",
    typeMode: mode,
    errorMode: "ignore",
    definitions: refs,
    overrideRef: ({ referenceId }) => refTo(referenceId),
    overrideSchema: ({ valibotSchema, jsonSchema }) =>
      valibotSchema === Timestamp ? { type: "string", format: "date-time" } : (jsonSchema as never),
    overrideAction: ({ valibotAction, jsonSchema }) => {
      const { grammar, maximum, default: fallback } = metadataOf(valibotAction);
      if (grammar) return { $ref: refTo(grammar) };
      if (fallback !== undefined) return { ...jsonSchema, default: fallback } as never;
      if (maximum !== undefined) return { ...jsonSchema, maximum };
      const [, adds] = meanings.find(([is]) => is(valibotAction as Action)) ?? [];
      if (adds?.format === "uuid") return { ...jsonSchema, format: "uuid", pattern: undefined } as never;
      return (adds ? { ...jsonSchema, ...adds } : undefined) as never;
    },
  }) as JsonSchema;
  return tidy(schema);
}

/**
 * A pattern that means the same with and without the flag `u`: of classes of Unicode, it refuses the control characters.
 */
const withoutClasses = (pattern: string): string =>
  pattern.replaceAll("\\P{C}", `[^${CONTROLS}]`).replaceAll("\\p{Cc}", CONTROLS);

/** A reference stands for the whole schema: only what is said about this use of it remains beside it. */
function tidy(schema: JsonSchema): JsonSchema {
  const { $ref, description, default: fallback } = schema;
  if ($ref) return { $ref, ...(description && { description }), ...(fallback !== undefined && { default: fallback }) };
  if (schema.pattern === WHOLE_NUMBER) {
    const said = {
      ...(schema.default !== undefined && { default: Number(schema.default) }),
      ...(schema.description && { description: schema.description }),
    };
    // A larger page is taken as the largest: then no number of digits is too large for a client to send.
    const maximum = /taken as/.test(schema.description ?? "") ? undefined : (schema.maximum ?? 999_999_999);
    return { type: "integer", minimum: 1, ...(maximum !== undefined && { maximum }), ...said };
  }
  const nullable = schema.anyOf?.length === 2 && schema.anyOf[1]?.type === "null" ? schema.anyOf[0] : undefined;
  if (nullable && typeof nullable.type === "string" && !nullable.enum && nullable.const === undefined) {
    const { anyOf: _, ...rest } = schema;
    return tidy({ ...nullable, ...rest, type: [nullable.type, "null"] });
  }
  const tidied = Object.entries(schema).flatMap(([key, value]): [string, unknown][] => {
    if (value === undefined || (key === "required" && (value as string[]).length === 0)) return [];
    if (key === "pattern") return [[key, withoutClasses(value as string)]];
    if (key === "propertyNames" && JSON.stringify(value) === '{"type":"string"}') return [];
    if (key === "properties")
      return [[key, Object.fromEntries(Object.entries(value as object).map(([name, one]) => [name, tidy(one)]))]];
    if (key === "anyOf" || key === "oneOf" || key === "allOf" || key === "prefixItems")
      return [[key, (value as JsonSchema[]).map(tidy)]];
    if ((key === "items" || key === "additionalProperties") && typeof value === "object")
      return [[key, tidy(value as JsonSchema)]];
    return [[key, value]];
  });
  const found = Object.fromEntries(tidied) as JsonSchema;
  if (found.const !== undefined && found.type === undefined) found.type = typeof found.const;
  return found;
}
