// Gives every field of the document its sentence: its declaration's own, else the one of its name.
import type { JsonSchema } from "../../shared/rules/json-schema.ts";
import { placeSentences } from "./sentences/places.ts";
import { sendSentences } from "./sentences/sends.ts";
import { workspaceSentences } from "./sentences/workspace.ts";

const sentences: Record<string, string> = {
  ...sendSentences,
  ...workspaceSentences,
  ...placeSentences,
};

/** The sentence of a field: of the longest end of its path that has one (`limits.events` before `events`). */
function sentenceOf(path: readonly string[]): string | undefined {
  const ends = path.map((_, i) => path.slice(i).join("."));
  const found = ends.find((end) => Object.hasOwn(sentences, end));
  return found === undefined ? undefined : sentences[found];
}

/** The schema with a description on each field that has none. @param path the name of the schema, and the fields above */
export function described(schema: JsonSchema, path: readonly string[]): JsonSchema {
  const { properties, items, additionalProperties, anyOf, oneOf } = schema;
  const below = (one: JsonSchema) => described(one, path);
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, one]) => {
          const own = [...path, name];
          const description = one.description ?? sentenceOf(own);
          return [name, { ...described(one, own), ...(description && { description }) }];
        }),
      ),
    }),
    ...(items && { items: below(items) }),
    ...(typeof additionalProperties === "object" && { additionalProperties: below(additionalProperties) }),
    ...(anyOf && { anyOf: anyOf.map(below) }),
    ...(oneOf && { oneOf: oneOf.map(below) }),
  };
}
