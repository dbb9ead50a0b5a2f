// The grammars of the document (GEN-16): no field is a bare object, and the schemas take what the validators take.
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { grammars } from "../docs/generate/grammars.ts";
import { definitionOf, JourneyInput, journeyExample } from "../functions/api/journeys/input.ts";
import { ApiError } from "../shared/kernel/errors.ts";
import { isJsonObject } from "../shared/kernel/objects.ts";
import { contentProblems } from "../shared/rules/content-grammar.ts";
import type { JsonSchema } from "../shared/rules/json-schema.ts";
import { validatePredicate } from "../shared/rules/predicates.ts";
import { parseRule } from "../shared/rules/segment-rules.ts";
import { validateDevicePredicate } from "../shared/rules/versions.ts";
import { document } from "./support/document.ts";
import { faultsOf } from "./support/json-schema.ts";
import { partsOf } from "./support/schema-parts.ts";

/** What the specification, or another service, leaves free. */
const free: Record<string, string> = {
  attributes: "attributes of a subscriber are schemaless",
  properties: "properties of an event are free",
  data: "custom values of a message are free",
  value: "an attribute, or a field of a device, as it is stored",
  current: "what a GET returns of what was not changed (412)",
  actual: "an attribute as it is stored, or a count",
  id: "ignored in an event: the service sets it",
  source: "ignored in an event: the service sets it",
  received_at: "ignored in an event: the service sets it",
};
/** Bodies that others define: the provider of the chat app, JSON-RPC, OpenAPI; and the form of a hosted page. */
const foreign = ["/v1/inbound/chat-app/{channelId}", "/v1/mcp", "/openapi.json", "/p/{token}"];

it("no schema is a bare object, except where the specification leaves it free (GEN-16, RDA-18)", () => {
  const bare = partsOf(document).filter(
    ({ schema, name, path }) =>
      isBare(schema) && !Object.hasOwn(free, name) && !foreign.some((one) => path.includes(one)),
  );
  expect(bare.map(({ path }) => path)).toEqual([]);
});

function isBare({
  $ref,
  type,
  properties,
  additionalProperties,
  anyOf,
  oneOf,
  allOf,
  const: only,
  ...rest
}: JsonSchema) {
  if ($ref || anyOf || oneOf || allOf || only !== undefined || rest.enum || rest.not) return false;
  const types = [type ?? []].flat();
  if (types.length === 0) return true;
  if (types.includes("array")) return !rest.items && !rest.prefixItems;
  if (!types.includes("object") || Object.keys(properties ?? {}).length > 0) return false;
  return additionalProperties !== false && Object.keys(Object(additionalProperties)).length === 0;
}

const ALTERNATIVES = ["Expectation", "EventExpectation", "ClauseCondition"];

describe("every grammar", () => {
  const written = Object.entries(grammars).filter(
    ([name]) => !ALTERNATIVES.includes(name) && !/(Target|Event|Data)$/.test(name),
  );
  it.each(written)("%s has three worked examples, which it takes (GEN-16, RDA-18)", (_, schema) => {
    expect(schema.examples?.length).toBeGreaterThanOrEqual(3);
    for (const example of schema.examples ?? []) expect(faultsOf(schema, example, grammars)).toEqual([]);
  });
});

type Judge = (value: unknown) => boolean;

const isObject =
  (judge: (value: Record<string, unknown>) => boolean): Judge =>
  (value) =>
    isJsonObject(value) && judge(value);

/** What the schema cannot say: a step is stored under its id. */
const isBeyondSchema = (value: unknown) =>
  isJsonObject(value) &&
  isJsonObject(value.steps) &&
  Object.entries(value.steps).some(([id, step]) => isJsonObject(step) && step.id !== undefined && step.id !== id);

/** Whether a draft may be created with this part. */
function isTaken(part: object): boolean {
  const body = v.safeParse(JourneyInput, { ...journeyExample, ...part });
  if (!body.success) return false;
  try {
    definitionOf(body.output, ["malformed"]);
    return true;
  } catch (error) {
    if (error instanceof ApiError) return false;
    throw error;
  }
}

const judges: Record<string, Judge> = {
  AttributePredicate: (value) => !validatePredicate(value),
  DevicePredicate: (value) => !validateDevicePredicate(value),
  SegmentRule: isObject((value) => parseRule(value).kind !== "problem"),
  JourneyTrigger: (trigger) => isTaken({ trigger }),
  ContentByChannel: (content) => contentProblems(content).length === 0,
  EntryRules: isObject((entry_rules) => isTaken({ entry_rules })),
  JourneyGraph: (steps) => isTaken({ steps }),
};

describe("the validator of a grammar", () => {
  it.each(Object.entries(judges))("%s takes what the schema takes, and no more (GEN-16, RDA-18)", (name, judge) => {
    const schema = grammars[name]!;
    const differing = (schema.examples ?? []).flatMap(variantsOf).flatMap((value) => {
      if (isBeyondSchema(value)) return [];
      const [byRules, faults] = [judge(value), faultsOf(schema, value, grammars)];
      return byRules === (faults.length === 0) ? [] : [{ value: JSON.stringify(value), byRules, faults }];
    });
    expect(differing).toEqual([]);
  });
});

const STRANGERS = [null, 7, "7d", true, [], {}, { stranger: 1 }, ["a"]];

/** The value itself, and the value with one part left out, added or replaced by one of another type. */
function variantsOf(value: unknown): unknown[] {
  if (Array.isArray(value))
    return [
      value,
      ...STRANGERS,
      value.slice(1),
      ...value.flatMap((one, i) => variantsOf(one).map((variant) => value.with(i, variant))),
    ];
  if (!isJsonObject(value)) return [value, ...STRANGERS];
  const fields = Object.entries(value);
  return [
    value,
    ...STRANGERS,
    { ...value, stranger: {} },
    ...fields.map(([name]) => Object.fromEntries(fields.filter(([other]) => other !== name))),
    ...fields.flatMap(([name, one]) => variantsOf(one).map((variant) => ({ ...value, [name]: variant }))),
  ];
}
