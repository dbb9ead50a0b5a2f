// A small valid value for a schema, which the reference shows if a declaration has no example.
import type { JsonSchema } from "../../shared/rules/json-schema.ts";

export const EXAMPLE_ID = "5f1b9c5e-2f5a-4f0e-9d3b-8a4c1e7d2b60";
export const EXAMPLE_TIME = "2026-11-20T12:00:00.000Z";

const byFormat: Record<string, string> = {
  uuid: EXAMPLE_ID,
  "date-time": EXAMPLE_TIME,
  email: "ada@example.com",
  uri: "https://example.com/",
};

const byName: [names: RegExp, value: string][] = [
  [/^external_id$/, "ada"],
  [/^(phone_number_id|waba_id)$/, "106540352242922"],
  [/^sender_id$/, "Shop"],
  [/^(id|.*_id|.*Id|.*_ids|.*Ids|not_found)$/, EXAMPLE_ID],
  [/^email$/, "ada@example.com"],
  [/^(name|.*_name)$/, "Spring sale"],
  [/^title$/, "Hello {{ subscriber.first_name }}"],
  [/^body$/, "It works."],
  [/password$/, "correct horse battery staple"],
  [/token$/, "q3Jx0TqVw8kYbN5ZrE1uLhC7sGdA2mPfXi4oR6tK9yB"],
  [/^timezone$/, "Europe/Berlin"],
  [/^next_cursor$/, ""],
  [/url$/, "https://example.com/"],
];

type Schemas = Readonly<Record<string, JsonSchema>>;

interface ExampleOptions {
  /** The name of the property, which decides the example of a text. */
  name?: string;
  /** Includes optional properties. */
  whole?: boolean;
}

/** @returns a value that the schema accepts, if the schema contains every rule. */
export function exampleOf(schema: JsonSchema, schemas: Schemas, asked: ExampleOptions = {}): unknown {
  const { name = "", whole = false } = asked;
  if (schema.$ref) return exampleOf(schemas[schema.$ref.split("/").at(-1)!] ?? {}, schemas, asked);
  if (schema.examples?.length) return schema.examples[0];
  if (schema.const !== undefined) return schema.const;
  if (schema.default !== undefined) return schema.default;
  if (schema.enum) return schema.enum[0];

  const [variant] = schema.anyOf ?? schema.oneOf ?? [];
  if (variant) return exampleOf(variant, schemas, asked);
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === "object") return objectOf(schema, schemas, whole);
  if (type === "array") {
    const count = schema.minItems ?? (whole ? 1 : 0);
    if (!schema.items) return (schema.prefixItems ?? []).map((item) => exampleOf(item, schemas, { whole }));
    const item = exampleOf(schema.items, schemas, { name, whole });
    return Array.from({ length: count }, () => item);
  }

  if (type === "integer" || type === "number") return Math.max(schema.minimum ?? 0, name === "sent" ? 1 : 0);
  if (type === "boolean") return true;
  if (type === "string") return textOf(schema, name);
  return type === "null" ? null : {};
}

function objectOf(
  { properties = {}, required = [], additionalProperties }: JsonSchema,
  schemas: Schemas,
  whole: boolean,
) {
  const shown = Object.entries(properties).filter(([name]) => whole || required.includes(name));
  const value = Object.fromEntries(shown.map(([name, one]) => [name, exampleOf(one, schemas, { name, whole })]));
  if (Object.keys(properties).length > 0 || typeof additionalProperties !== "object" || !whole) return value;
  return {
    key: Object.keys(additionalProperties).length === 0 ? "value" : exampleOf(additionalProperties, schemas, { whole }),
  };
}

function textOf({ format = "", pattern, minLength = 0, maxLength = 1_000 }: JsonSchema, name: string): string {
  const [, found] = byName.find(([names]) => names.test(name)) ?? [];
  const candidates = [byFormat[format], found, "text", "22:00", "/home", EXAMPLE_ID, "a".repeat(minLength)];
  const fits = (text: string | undefined) =>
    text !== undefined &&
    text.length >= minLength &&
    text.length <= maxLength &&
    (!pattern || new RegExp(pattern, "u").test(text));
  return candidates.find(fits) ?? "text";
}
