// Marks a schema that is an open object to valibot and has a full grammar in the reference (docs/generate/grammars.ts).
// The validators of shared/rules check the content of a request, with their own words and paths.
import * as v from "valibot";

/** The grammars that schemas of endpoints and stored items refer to. */
export type GrammarName =
  | "AttributePredicate"
  | "ClauseCondition"
  | "ContentByChannel"
  | "DevicePredicate"
  | "EntryRules"
  | "Expectation"
  | "JourneyGraph"
  | "JourneyTrigger"
  | "SegmentRule"
  | "Target"
  | "WebhookData"
  | "WebhookEvent";

// @__NO_SIDE_EFFECTS__
export const grammar = <Input>(name: GrammarName): v.MetadataAction<Input, { readonly grammar: GrammarName }> =>
  v.metadata({ grammar: name });
