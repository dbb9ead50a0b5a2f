// Values for requests: what a schema allows, and what it does not.
import type { JsonSchema } from "../../docs/generate/json-schema.ts";
import type { Random } from "../simulator/random.ts";

export interface Source {
  random: Random;
  schemas: Readonly<Record<string, JsonSchema>>;
  /** Ids that are worth a try: of resources that exist, and of another workspace. */
  ids: readonly string[];
}

const MAX_DEPTH = 6;
const WRONG = 0.08;

const strange = [
  "",
  " ",
  "\u0000",
  "\ud800",
  "../..",
  "%00",
  "{{ subscriber.first_name }}",
  "{% for a in (1..999999) %}x{% endfor %}",
  "{{ 'a' | append: 'b' ",
  "<script>alert(1)</script>",
  "T#other#COUNT",
  "x".repeat(300),
  "\u202e\u00e9\ud83d\ude00",
  "9999-12-31T23:59:59Z",
  "2026-02-30T00:00:00Z",
  "-1",
  "1e400",
  "__proto__",
  "constructor",
  "null",
] as const;

/** A text that nobody expects. */
export const strangeText = ({ random }: Source): string =>
  random.chance(0.03) ? "y".repeat(random.between(1_000, 5_000)) : random.pick(strange);

const anything = (source: Source): unknown => {
  const { random } = source;
  const makers = [
    () => null,
    () => random.chance(0.5),
    () => random.pick([0, -1, 1.5, 1e21, -1e308, 2 ** 53, Number.MAX_SAFE_INTEGER]),
    () => strangeText(source),
    () => [],
    () => [strangeText(source), null],
    () => ({}),
    () => ({ [strangeText(source)]: strangeText(source) }),
    () => nested(random.between(2, 40)),
  ];
  return random.pick(makers)();
};

const nested = (depth: number): unknown => (depth === 0 ? 1 : { a: nested(depth - 1) });

/** A value for a schema; now and then one that does not fit. */
export function valueFor(source: Source, schema: JsonSchema, depth = 0): unknown {
  const { random, schemas } = source;
  if (random.chance(WRONG) || depth > MAX_DEPTH) return anything(source);
  const inner = (one: JsonSchema) => valueFor(source, one, depth + 1);
  if (schema.$ref !== undefined) {
    const named = schemas[schema.$ref.split("/").at(-1) ?? ""];
    return named ? inner(named) : null;
  }
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return random.pick(schema.enum);
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives) return inner(random.pick(alternatives));
  const type = random.pick([schema.type ?? "object"].flat());
  if (type === "null") return null;
  if (type === "boolean") return random.chance(0.5);
  if (type === "integer" || type === "number") return numberFor(source, schema);
  if (type === "string") return textFor(source, schema);
  if (type === "array") {
    const items = schema.items;
    return typeof items === "object" && !Array.isArray(items)
      ? Array.from({ length: random.between(0, 3) }, () => inner(items as JsonSchema))
      : [];
  }
  return objectFor(source, schema, inner);
}

function objectFor({ random }: Source, schema: JsonSchema, inner: (one: JsonSchema) => unknown): unknown {
  const required = new Set(schema.required ?? []);
  const entries = Object.entries(schema.properties ?? {}).filter(([name]) =>
    required.has(name) ? !random.chance(WRONG / 4) : random.chance(0.5),
  );
  return Object.fromEntries(entries.map(([name, one]) => [name, inner(one)]));
}

function numberFor({ random }: Source, { minimum = 0, maximum = 100 }: JsonSchema): number {
  if (random.chance(0.2)) return random.pick([minimum, maximum, minimum - 1, maximum + 1]);
  const to = Math.min(maximum, minimum + 1_000);
  return random.between(Math.ceil(minimum), Math.max(Math.ceil(minimum), Math.floor(to)));
}

function textFor(source: Source, { format, minLength = 0, examples }: JsonSchema): string {
  const { random, ids } = source;
  if (examples?.length && random.chance(0.5)) return String(random.pick(examples));
  if (random.chance(0.1)) return strangeText(source);
  if (format === "uuid" || random.chance(0.3)) return random.pick(ids);
  if (format === "date-time") return new Date(Date.UTC(2026, 10, random.between(1, 40))).toISOString();
  if (format === "email") return `p${random.between(1, 9)}@shop.example`;
  if (format === "uri") return "https://hooks.example.com/in";
  return "abcdefghij".slice(0, Math.max(minLength, random.between(1, 10)));
}
