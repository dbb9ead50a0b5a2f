// Every schema in the document, with the name of its field and where it stands.
import type { OpenApi } from "../../docs/generate/openapi.ts";
import type { JsonSchema } from "../../shared/rules/json-schema.ts";

interface SchemaPart {
  schema: JsonSchema;
  /** The field that it is the schema of; empty for a whole body or a component. */
  name: string;
  path: string;
  /** Whether it is the schema of the field itself, not of its items, values or alternatives. */
  isField: boolean;
}

export function partsOf({ components, paths }: OpenApi): SchemaPart[] {
  const bodies = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { requestBody, responses, parameters = [] }]) => [
      ...parameters.flatMap(({ name, schema, description }) =>
        below(
          { ...schema, ...(description ? { description: String(description) } : {}) },
          name,
          `${method} ${path} ?${name}`,
        ),
      ),
      ...Object.values(requestBody?.content ?? {}).flatMap(({ schema }) => below(schema, "", `${method} ${path} body`)),
      ...Object.entries(responses).flatMap(([status, response]) =>
        "$ref" in response
          ? []
          : Object.values(response.content ?? {}).flatMap(({ schema }) =>
              below((schema.contentSchema as JsonSchema | undefined) ?? schema, "", `${method} ${path} ${status}`),
            ),
      ),
    ]),
  );
  const named = Object.entries(components.schemas).flatMap(([name, schema]) => below(schema, "", `#${name}`));
  return [...named, ...bodies];
}

function below(schema: JsonSchema, name: string, path: string, isField = false): SchemaPart[] {
  const { properties = {}, items, additionalProperties, anyOf = [], oneOf = [], allOf = [], prefixItems = [] } = schema;
  const isFree = typeof additionalProperties !== "object" || Object.keys(additionalProperties).length === 0;
  return [
    { schema, name, path, isField },
    ...Object.entries(properties).flatMap(([field, one]) => below(one, field, `${path}.${field}`, true)),
    ...(items ? below(items, name, `${path}[]`) : []),
    ...(isFree ? [] : below(additionalProperties, name, `${path}.*`)),
    ...[...anyOf, ...oneOf, ...allOf, ...prefixItems].flatMap((one) => below(one, name, path)),
  ];
}
