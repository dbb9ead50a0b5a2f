// The full schemas of what the declarations only mark with `grammar` (GEN-16). They describe what the validators of
// shared/rules take; test/grammars.test.ts compares the two.
import type { GrammarName } from "../../shared/contract/grammar.ts";
import { EXAMPLE_ID } from "./examples.ts";
import { contents } from "./grammars/contents.ts";
import { journeys } from "./grammars/journeys.ts";
import { predicates } from "./grammars/predicates.ts";
import { segmentRules } from "./grammars/segment-rules.ts";
import { webhookSchemas } from "./grammars/webhooks.ts";
import type { JsonSchema } from "./json-schema.ts";

const targets: Record<string, JsonSchema> = {
  Target: {
    description: "Who is addressed: all subscribers, those of a list, or those of a segment.",
    oneOf: [
      { $ref: "#/components/schemas/AllTarget" },
      { $ref: "#/components/schemas/ListTarget" },
      { $ref: "#/components/schemas/SegmentTarget" },
    ],
    discriminator: {
      propertyName: "type",
      mapping: {
        all: "#/components/schemas/AllTarget",
        list: "#/components/schemas/ListTarget",
        segment: "#/components/schemas/SegmentTarget",
      },
    },
    examples: [{ type: "all" }, { type: "list", list_id: EXAMPLE_ID }, { type: "segment", segment_id: EXAMPLE_ID }],
  },
  AllTarget: {
    type: "object",
    description: "All subscribers of the workspace.",
    properties: { type: { type: "string", const: "all", description: "The kind of target" } },
    required: ["type"],
    additionalProperties: false,
  },
  ListTarget: {
    type: "object",
    description: "The subscribers of a list.",
    properties: {
      type: { type: "string", const: "list", description: "The kind of target" },
      list_id: { type: "string", format: "uuid", description: "Id of the list" },
    },
    required: ["type", "list_id"],
    additionalProperties: false,
  },
  SegmentTarget: {
    type: "object",
    description: "The members of a segment.",
    properties: {
      type: { type: "string", const: "segment", description: "The kind of target" },
      segment_id: { type: "string", format: "uuid", description: "The segment" },
    },
    required: ["type", "segment_id"],
    additionalProperties: false,
  },
};

const expectations: Record<string, JsonSchema> = {
  Expectation: {
    description: "What a clause of a rule asks for: the operators on an attribute, or an event and how often.",
    anyOf: [{ $ref: "#/components/schemas/Operators" }, { $ref: "#/components/schemas/EventExpectation" }],
  },
  EventExpectation: {
    type: "object",
    description: "An event, how often and since when.",
    properties: {
      name: { type: "string", description: "The name of the event" },
      within_seconds: { type: "integer", description: "The length of the window in seconds. Left out: all time" },
      frequency: {
        type: "object",
        description: "How often, both bounds included",
        properties: {
          min: { type: "integer", description: "At least this often" },
          max: { type: "integer", description: "At most this often. Left out: without limit" },
        },
        required: ["min"],
        additionalProperties: false,
      },
      where: {
        $ref: "#/components/schemas/AttributePredicate",
        description: "Conditions on the properties of the event",
      },
    },
    required: ["name", "frequency"],
    additionalProperties: false,
  },
  ClauseCondition: {
    description: "The operators on an attribute, or on a version of a device.",
    anyOf: [{ $ref: "#/components/schemas/Operators" }, { $ref: "#/components/schemas/VersionOperators" }],
  },
};

export const grammars: Record<GrammarName, JsonSchema> & Record<string, JsonSchema> = {
  ...predicates,
  ...segmentRules,
  ...journeys,
  ...webhookSchemas,
  ...targets,
  ...expectations,
  ...contents,
} as Record<GrammarName, JsonSchema>;

const openObject: JsonSchema = { type: "object", additionalProperties: {} };

/**
 * Grammars of fields that the first release described as open objects. To the compatibility check they stay open objects:
 * what they hold was always checked by shared/rules (docs/decisions/0035).
 */
export const openInReleases: ReadonlyMap<string, JsonSchema> = new Map<GrammarName, JsonSchema>([
  ["AttributePredicate", openObject],
  ["ClauseCondition", {}],
  ["DevicePredicate", openObject],
  ["Expectation", openObject],
  ["JourneyGraph", openObject],
  ["SegmentRule", openObject],
  ["WebhookData", openObject],
  ["WebhookEvent", openObject],
]);
