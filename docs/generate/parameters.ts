// The parameters of an operation in the OpenAPI document: path, query and headers.
import type { Operation } from "./contents.ts";
import { EXAMPLE_ID, exampleOf } from "./examples.ts";
import { type JsonSchema, schemaOf } from "./json-schema.ts";
import { queryFields } from "./sentences/queries.ts";

/** `readParams` answers 404 to a longer one. */
const MAX_ID_CHARACTERS = 128;

export const pathParameters = (route: string) =>
  [...route.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name: name!,
    in: "path",
    required: true,
    schema: { type: "string", maxLength: MAX_ID_CHARACTERS } as JsonSchema,
    example: EXAMPLE_ID,
  }));

export function queryParameters(
  { shape }: Operation["endpoint"],
  isStream: boolean,
): ReturnType<typeof pathParameters> {
  if (!shape.query) return [];
  const { properties = {}, required = [] } = schemaOf(shape.query, "input");
  const given = (shape.example?.query ?? {}) as Record<string, unknown>;
  const fields = Object.entries(properties).map(([name, schema]) => {
    const example = given[name] ?? (required.includes(name) ? exampleOf(schema, {}, { name }) : undefined);
    return {
      name,
      in: "query",
      required: required.includes(name),
      schema,
      description: [queryFields[name], schema.description].filter(Boolean).join(". "),
      ...(example !== undefined && { example: String(example) }),
    };
  });
  const resume = {
    name: "Last-Event-ID",
    in: "header",
    required: false,
    schema: { type: "string", maxLength: 1_024 } as JsonSchema,
  };
  return [...fields, ...(isStream ? [{ ...resume, description: "Id of the last frame seen" }] : [])] as ReturnType<
    typeof pathParameters
  >;
}

export const headersOf = ({ shape }: Operation["endpoint"]): ReturnType<typeof pathParameters> =>
  shape.idempotent
    ? [
        {
          name: "Idempotency-Key",
          in: "header",
          required: false,
          schema: { type: "string", minLength: 1, maxLength: 255 },
          example: "order-4711",
        },
      ]
    : [];
