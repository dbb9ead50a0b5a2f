// The names of fields in a schema: the list of all pages is made of them, and the script in the browser looks for them.
import type { JsonSchema } from "../../shared/rules/json-schema.ts";

/**
 * All names of fields in a schema, in its items, values and variants. The browser runs this function too, as text: it
 * uses nothing but its arguments.
 * @param whole what a reference refers to; any other schema itself
 */
export function namesIn(
  schema: JsonSchema | undefined,
  whole: (schema: JsonSchema) => JsonSchema,
  seen: Set<JsonSchema> = new Set(),
): string[] {
  if (!schema || typeof schema !== "object" || seen.has(schema)) return [];
  seen.add(schema);
  const own = whole(schema);
  const variants = own.oneOf ?? own.anyOf ?? [];
  const inside = [...Object.values(own.properties ?? {}), own.items, own.additionalProperties, ...variants];
  if (own !== schema) inside.push(own);
  return [
    ...Object.keys(own.properties ?? {}),
    ...inside.flatMap((one) => namesIn(one as JsonSchema | undefined, whole, seen)),
  ];
}
