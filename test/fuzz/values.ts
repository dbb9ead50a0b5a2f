// Values for requests: what a schema allows, and what it does not.
import type { JsonSchema } from "../../shared/rules/json-schema.ts";
import type { Random } from "../simulator/random.ts";
import { type Known, kindOfField } from "./known.ts";

export interface Source {
  random: Random;
  /** What a schema refers to, by the last part of the reference. */
  schemas: Readonly<Record<string, JsonSchema>>;
  known: Known;
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
  "a\r\nX-Injected: yes",
  "\u2028\u0085\u200b",
  "e\u0301\u00df\u0130\u01c5",
  "http://169.254.169.254/latest/",
  "javascript:alert(1)",
  "=cmd|' /C calc'!A0",
] as const;
const names = ["plan", "age", "__proto__", "constructor", "a.b", "$eq", "", "x".repeat(300), "\u0000"] as const;

/** A text that nobody expects. */
export const strangeText = ({ random }: Source): string => {
  if (random.chance(0.003)) return "\u00fc".repeat(220_000);
  return random.chance(0.03) ? "y".repeat(random.between(1_000, 5_000)) : random.pick(strange);
};

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
export function valueFor(source: Source, schema: JsonSchema, depth = 0, field = ""): unknown {
  const { random, schemas } = source;
  if (random.chance(WRONG / (depth + 1)) || depth > MAX_DEPTH) return anything(source);
  const inner: Inner = (one, name = field) => valueFor(source, one, depth + 1, name);
  if (schema.$ref !== undefined) {
    const named = schemas[schema.$ref.split("/").at(-1) ?? ""];
    return named ? inner(named) : null;
  }
  if (schema.const !== undefined) return schema.const;
  if (schema.examples?.length && random.chance(0.3)) return random.pick(schema.examples);
  if (schema.enum) return random.pick(schema.enum);
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives) return inner(random.pick(alternatives));
  const type = random.pick([schema.type ?? "object"].flat());
  if (type === "null") return null;
  if (type === "boolean") return random.chance(0.5);
  if (type === "integer" || type === "number") return numberFor(source, schema);
  if (type === "string") return textFor(source, schema, field);
  if (type === "array") {
    const items = schema.items;
    return typeof items === "object" ? Array.from({ length: lengthFor(random, schema) }, () => inner(items)) : [];
  }
  return objectFor(source, schema, inner);
}

/** A value that differs from another in one place. */
export function nearby(source: Source, schema: JsonSchema, value: unknown, field = ""): unknown {
  const { random, schemas } = source;
  const named = schema.$ref === undefined ? schema : (schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {});
  if (random.chance(0.2) || typeof value !== "object" || value === null)
    return random.chance(0.3) ? anything(source) : valueFor(source, named, 0, field);
  if (Array.isArray(value)) {
    const items = typeof named.items === "object" ? named.items : {};
    if (value.length === 0 || random.chance(0.2)) return [...value, valueFor(source, items, 1, field)];
    const at = random.between(0, value.length - 1);
    return value.map((one, n) => (n === at ? nearby(source, items, one, field) : one));
  }
  const { properties = {} } = named;
  const keys = [...Object.keys(value), ...Object.keys(properties)];
  if (keys.length === 0) return anything(source);
  const key = random.pick(keys);
  const { [key]: given, ...others } = value as Record<string, unknown>;
  if (random.chance(0.1)) return others;
  const next =
    given === undefined
      ? valueFor(source, properties[key] ?? {}, 1, key)
      : nearby(source, properties[key] ?? {}, given, key);
  return { ...others, [key]: next };
}

type Inner = (one: JsonSchema, field?: string) => unknown;

const lengthFor = (random: Random, { minItems = 0, maxItems = 3 }: JsonSchema): number =>
  random.chance(0.02)
    ? Math.min(maxItems, 1_000) + 1
    : random.between(minItems, Math.max(minItems, Math.min(maxItems, 3)));

function objectFor({ random }: Source, schema: JsonSchema, inner: Inner): unknown {
  const required = new Set(schema.required ?? []);
  const entries = Object.entries(schema.properties ?? {}).filter(([name]) =>
    required.has(name) ? !random.chance(WRONG / 4) : random.chance(0.5),
  );
  const { additionalProperties: free = false } = schema;
  const more = free === false ? [] : random.some(names, random.between(0, 2));
  return Object.fromEntries([
    ...entries.map(([name, one]): [string, unknown] => [name, inner(one, name)]),
    ...more.map((name): [string, unknown] => [name, inner(free === true ? {} : (free as JsonSchema), name)]),
  ]);
}

function numberFor({ random }: Source, { minimum = 0, maximum = 100 }: JsonSchema): number {
  if (random.chance(0.2)) return random.pick([minimum, maximum, minimum - 1, maximum + 1]);
  const to = Math.min(maximum, minimum + 1_000);
  return random.between(Math.ceil(minimum), Math.max(Math.ceil(minimum), Math.floor(to)));
}

function textFor(source: Source, schema: JsonSchema, field: string): string {
  const { random, known } = source;
  const { format, minLength = 0, maxLength, examples } = schema;
  if (examples?.length && random.chance(0.5)) return String(random.pick(examples));
  if (random.chance(0.1)) return strangeText(source);
  if (maxLength !== undefined && random.chance(0.03))
    return "z".repeat(Math.min(maxLength, 300_000) + random.between(0, 1));
  const kind = kindOfField(field);
  if (format === "uuid" || kind !== field || random.chance(0.1)) return known.pick(random, kind);
  if (format === "date-time") return new Date(Date.UTC(2026, 10, random.between(1, 40))).toISOString();
  if (format === "email") return `p${random.between(1, 9)}@shop.example`;
  if (format === "uri") return "https://hooks.example.com/in";
  return "abcdefghij".slice(0, Math.max(minLength, random.between(1, 10)));
}
