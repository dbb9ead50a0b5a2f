// The components behind the references of `grammar(…)` in the declarations (GEN-16): the grammars of shared/rules, and
// shapes that several declarations share.
import { EntryRulesInput, EventTrigger, JourneyTrigger, SegmentTrigger } from "../../functions/api/journeys/input.ts";
import type { GrammarName } from "../../shared/contract/grammar.ts";
import { AnyTarget, targets } from "../../shared/contract/send-input.ts";
import { ContentByChannel, contentGrammars } from "../../shared/rules/content-grammar.ts";
import { type NamedGrammar, refTo } from "../../shared/rules/grammar.ts";
import { EventExit, ExitCondition, JourneyGraph, RuleExit } from "../../shared/rules/journey-grammar.ts";
import { JourneyStep, stepGrammars, UntypedStep } from "../../shared/rules/journey-steps.ts";
import type { JsonSchema } from "../../shared/rules/json-schema.ts";
import {
  AttributePredicate,
  DevicePredicate,
  Operators,
  VersionOperators,
} from "../../shared/rules/predicate-grammar.ts";
import {
  AttributeRule,
  EventCondition,
  EventExpectation,
  EventRule,
  FlatRule,
  GroupRule,
  RuleTree,
  SegmentRule,
} from "../../shared/rules/segment-grammar.ts";
import { VersionOperand } from "../../shared/rules/versions.ts";
import { schemasOf } from "./components.ts";
import { grammarExamples } from "./grammar-examples.ts";
import { webhookSchemas } from "./webhooks.ts";

const defined = (...grammars: readonly NamedGrammar[]): Record<string, JsonSchema> =>
  Object.fromEntries(grammars.map(({ name, definition }) => [name, definition()]));

const anyOf = (description: string, ...grammars: readonly NamedGrammar[]): JsonSchema => ({
  description,
  anyOf: grammars.map(({ name }) => refTo(name)),
});

/** A choice by `type` says which type is which of the others. */
function discriminated([name, schema]: [string, JsonSchema], all: Record<string, JsonSchema>): [string, JsonSchema] {
  const { description, oneOf, ...rest } = schema;
  if (!oneOf || schema.discriminator) return [name, schema];
  const mapping = Object.fromEntries(
    oneOf.flatMap(({ $ref = "" }) => {
      const { const: only, enum: several } = all[$ref.split("/").at(-1)!]?.properties?.type ?? {};
      return (several ?? [only]).map((type) => [String(type), $ref]);
    }),
  );
  return [
    name,
    { ...(description && { description }), oneOf, discriminator: { propertyName: "type", mapping }, ...rest },
  ];
}

const own: Record<string, JsonSchema> = {
  ...defined(Operators, AttributePredicate, VersionOperand, VersionOperators, DevicePredicate),
  ...defined(SegmentRule, RuleTree, AttributeRule, EventRule, EventCondition, GroupRule, FlatRule),
  ...schemasOf({ JourneyTrigger, SegmentTrigger, EventTrigger, EntryRules: EntryRulesInput }, "input"),
  ...defined(JourneyGraph, JourneyStep, ...stepGrammars.values(), UntypedStep, ExitCondition, EventExit, RuleExit),
  ...webhookSchemas,
  ...schemasOf({ Target: AnyTarget, ...targets }, "input"),
  Expectation: anyOf(
    "What a clause of a rule asks for: the operators on an attribute, or an event and how often.",
    Operators,
    EventExpectation,
  ),
  ...defined(EventExpectation),
  ClauseCondition: anyOf("The operators on an attribute, or on a version of a device.", Operators, VersionOperators),
  ...defined(ContentByChannel, ...contentGrammars),
};

export const grammars = Object.fromEntries(
  Object.entries(own).map(([name, schema]) => {
    const examples = schema.examples ?? grammarExamples[name];
    return discriminated([name, { ...schema, ...(examples && { examples }) }], own);
  }),
) as Record<GrammarName, JsonSchema> & Record<string, JsonSchema>;

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
