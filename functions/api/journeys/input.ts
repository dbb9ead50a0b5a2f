// What a journey may be made of: what a draft may lack, and what activation asks for (JNY-8 to JNY-15, AMB-8, AMB-61).
import * as v from "valibot";
import { invalid } from "../../../shared/http/errors.ts";
import { JsonObject } from "../../../shared/http/schemas.ts";
import type { PlanName } from "../../../shared/plans.ts";
import type { Store } from "../../../shared/resources.ts";
import { type EntryRules, type Graph, type Severity, triggerTypes } from "../../../shared/rules/journey-graph.ts";
import { entryRuleProblems, graphProblems, triggerProblems } from "../../../shared/rules/journey-paths.ts";
import { validateTemplate } from "../../../shared/rules/render.ts";
import { RULE_JSON_DEPTH, RULE_NODES } from "../../../shared/rules/segment-rules.ts";
import { requireChannels } from "../../../shared/store/channels/channels.ts";
import { type Definition, MAX_NAME_CHARACTERS } from "../../../shared/store/journeys/journeys.ts";
import { targetExists } from "../../../shared/store/lists/targets.ts";
import { requireTemplate } from "../../../shared/store/sends/templates.ts";

/** So that a version with all its texts and rules is one item of the table. */
const MAX_BYTES = 131_072;

/** Rules lie inside of steps, and there may be many of both. */
export const JOURNEY_LIMITS = { depth: RULE_JSON_DEPTH + 4, keys: 60 * RULE_NODES };

const Text = v.string("must be a string");

export const JourneyInput = v.strictObject({
  name: v.pipe(
    Text,
    v.trim(),
    v.nonEmpty("must not be empty"),
    v.maxLength(MAX_NAME_CHARACTERS, `must have at most ${MAX_NAME_CHARACTERS} characters`),
  ),
  trigger: v.strictObject({
    type: v.picklist(triggerTypes, `must be one of ${triggerTypes.join(", ")}`),
    segment_id: v.optional(Text),
    event_name: v.optional(v.pipe(Text, v.maxLength(256, "must have at most 256 characters"))),
  }),
  entry_rules: v.nullish(
    v.strictObject({
      eligibility: v.nullish(JsonObject),
      allow_reentry: v.optional(v.boolean("must be true or false")),
      reentry_window: v.nullish(Text),
    }),
  ),
  steps: JsonObject,
});

type Problem = { severity: Severity; path: string; reason: string };

/** What a request describes. @throws 422 naming the field for anything as severe as these. */
export function definitionOf(
  { name, trigger, entry_rules = null, steps }: v.InferOutput<typeof JourneyInput>,
  refused: readonly Severity[],
): Definition {
  if (Buffer.byteLength(JSON.stringify({ trigger, entry_rules, steps })) > MAX_BYTES)
    throw invalid({ steps: `must have at most ${MAX_BYTES} bytes in all` });
  const definition = { name, trigger, entry_rules: entry_rules as EntryRules | null, steps };
  refuse(problemsOf(definition), refused);
  return definition;
}

/** @throws 422 for whatever keeps a journey from being run, 403 for a channel type outside the plan. */
export async function requireRunnable(store: Store, plan: PlanName, definition: Definition): Promise<void> {
  refuse(problemsOf(definition), ["malformed", "wrong", "missing"]);
  const { trigger, steps } = definition;
  const segment_id = trigger.type === "event" ? undefined : trigger.segment_id;
  if (segment_id !== undefined && !(await targetExists(store, { type: "segment", segment_id })))
    throw invalid({ "trigger.segment_id": "no such segment in this workspace" });
  for (const node of Object.values((steps as unknown as Graph).steps)) {
    if (node.type !== "send") continue;
    const { channel_ids, template_id, content } = node.send;
    const path = `steps.steps.${node.id}.send`;
    await requireChannels(store, plan, channel_ids, `${path}.channel_ids`);
    if (template_id !== undefined) await requireTemplate(store, template_id);
    else
      for (const field of ["title", "body"] as const) {
        const trouble = content?.[field] ? validateTemplate(content[field]) : "must not be empty";
        if (trouble) throw invalid({ [`${path}.content.${field}`]: trouble });
      }
  }
}

function problemsOf({ trigger, entry_rules, steps }: Definition): Problem[] {
  const below = (field: string, problems: Problem[]) =>
    problems.map(({ path, ...rest }) => ({ ...rest, path: path === "" ? field : `${field}.${path}` }));
  return [
    ...below("trigger", triggerProblems(trigger)),
    ...below("entry_rules", entry_rules ? entryRuleProblems(entry_rules) : []),
    ...below("steps", graphProblems(steps)),
  ];
}

function refuse(problems: readonly Problem[], refused: readonly Severity[]): void {
  const named = problems.filter(({ severity }) => refused.includes(severity)).slice(0, 20);
  if (named.length > 0) throw invalid(Object.fromEntries(named.map(({ path, reason }) => [path, reason])));
}
