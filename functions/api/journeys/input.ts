// The definition of a journey in a request: what a draft may lack, and what activation requires (JNY-8 to JNY-15,
// AMB-8, AMB-61).
import * as v from "valibot";
import { grammar } from "../../../shared/contract/grammar.ts";
import { byChannelProblems } from "../../../shared/contract/message-content.ts";
import { Id, JsonObject, maxCharacters, NameUpTo, said, sentByClients } from "../../../shared/contract/schemas.ts";
import { invalid } from "../../../shared/kernel/errors.ts";
import { BLANK, isBlank } from "../../../shared/rules/characters.ts";
import { MAX_EVENT_NAME_CHARACTERS } from "../../../shared/rules/event-limits.ts";
import { fieldPath } from "../../../shared/rules/field-path.ts";
import type { Severity } from "../../../shared/rules/grammar.ts";
import { type Graph, triggerTypes } from "../../../shared/rules/journey-graph.ts";
import {
  beyondPlan,
  entryRuleProblems,
  graphProblems,
  isRunnable,
  triggerProblems,
} from "../../../shared/rules/journey-paths.ts";
import { type PlanName, plans } from "../../../shared/rules/plans.ts";
import { validateTemplate } from "../../../shared/rules/render.ts";
import { RULE_JSON_DEPTH, RULE_NODES } from "../../../shared/rules/segment-grammar.ts";
import { requireChannels } from "../../../shared/store/channels/channels.ts";
import type { StoreReader } from "../../../shared/store/context.ts";
import { type Definition, MAX_NAME_CHARACTERS } from "../../../shared/store/journeys/journeys.ts";
import { targetExists } from "../../../shared/store/lists/targets.ts";
import { requireTemplate } from "../../../shared/store/templates/templates.ts";
import { requireTopic } from "../../../shared/store/topics/topics.ts";

/** A version with all its texts and rules fits into one item of the table. */
const MAX_BYTES = 131_072;

/** Steps contain rules, and there may be many of both. */
export const JOURNEY_LIMITS = { depth: RULE_JSON_DEPTH + 4, keys: 60 * RULE_NODES };

const EventName = v.pipe(v.string(), maxCharacters(MAX_EVENT_NAME_CHARACTERS), sentByClients());

export const SegmentTrigger = said(
  "The subscriber enters a segment, or leaves it.",
  v.strictObject({
    type: said("Which of the two", v.picklist(["segment_entered", "segment_exited"])),
    segment_id: said("The segment. Required to activate", v.optional(Id)),
    event_name: said("Not used by this trigger: 422", v.optional(EventName)),
  }),
);

export const EventTrigger = said(
  "The subscriber has an event.",
  v.strictObject({
    type: said("The kind of trigger", v.literal("event")),
    event_name: said("The name of the event. Required to activate", v.optional(EventName)),
    segment_id: said("Not used by this trigger: 422", v.optional(Id)),
    max_age: v.pipe(
      v.optional(v.string()),
      v.metadata({ default: "72h" }),
      v.description(
        "An event that is older when it is received starts no run: whole minutes, hours or days, or `none`",
      ),
    ),
  }),
);

export const JourneyTrigger = said(
  "What starts a run for a subscriber.",
  v.variant("type", [SegmentTrigger, EventTrigger], `must be one of ${triggerTypes.join(", ")}`),
);

export const EntryRulesInput = said(
  "Who may enter, and how often.",
  v.strictObject({
    eligibility: said(
      "Only subscribers that match this rule at the trigger enter. Default: all",
      v.nullish(v.pipe(JsonObject, grammar("SegmentRule"))),
    ),
    allow_reentry: v.pipe(
      v.optional(v.boolean()),
      v.metadata({ default: false }),
      v.description("Whether a subscriber whose run has ended may enter again"),
    ),
    reentry_window: said(
      "The least time between two entries: whole minutes, hours or days, such as `24h`, at most 3650 days. Default: none",
      v.nullish(v.string()),
    ),
  }),
);

export const JourneyInput = v.strictObject({
  name: NameUpTo(MAX_NAME_CHARACTERS),
  trigger: v.pipe(JourneyTrigger, grammar("JourneyTrigger")),
  entry_rules: v.nullish(v.pipe(EntryRulesInput, grammar("EntryRules"))),
  steps: v.pipe(JsonObject, grammar("JourneyGraph")),
});

export const journeyExample = {
  name: "Welcome",
  trigger: { type: "event", event_name: "signed_up" },
  steps: {
    start: "welcome",
    steps: {
      welcome: {
        id: "welcome",
        type: "send",
        send: {
          channel_ids: ["5f1b9c5e-2f5a-4f0e-9d3b-8a4c1e7d2b60"],
          content: { title: "Welcome", body: "Hello {{ subscriber.first_name }}" },
          next: "pause",
        },
      },
      pause: { id: "pause", type: "delay", delay: { duration: "3d", next: "end" } },
      end: { id: "end", type: "exit" },
    },
  },
};

type Problem = { severity: Severity; path: string; reason: string };

/** Reads the definition in a request. @throws 422 naming the fields with a problem of one of these severities */
export function definitionOf(
  { name, trigger, entry_rules = null, steps }: v.InferOutput<typeof JourneyInput>,
  refused: readonly Severity[],
): Definition {
  if (Buffer.byteLength(JSON.stringify({ trigger, entry_rules, steps })) > MAX_BYTES)
    throw invalid({ steps: `must have at most ${MAX_BYTES} bytes in all: save a larger mail as a template` });
  const definition = { name, trigger, entry_rules, steps };
  const problems = problemsOf(definition).filter(({ severity }) => refused.includes(severity));
  if (problems.length > 0) throw refusalOf(problems);
  return definition;
}

/**
 * Requires a definition that can be run.
 * @returns its graph
 * @throws 422 for a definition that cannot be run, 403 for a channel type outside the plan
 */
export async function requireRunnable(store: StoreReader, plan: PlanName, definition: Definition): Promise<Graph> {
  const { trigger, entry_rules, steps } = definition;
  const problems = problemsOf(definition);
  if (problems.length > 0 || !isRunnable(steps)) throw refusalOf(problems);
  const beyond = beyondPlan(entry_rules, steps, plans[plan]);
  if (beyond.length > 0) throw refusalOf(beyond);
  const segment_id = trigger.type === "event" ? undefined : trigger.segment_id;
  if (segment_id !== undefined && !(await targetExists(store, { type: "segment", segment_id })))
    throw invalid({ "trigger.segment_id": "no such segment in this workspace" });
  for (const node of Object.values(steps.steps)) {
    if (node.type !== "send") continue;
    const { channel_ids, template_id, content, topic } = node.send;
    const path = `steps.steps.${node.id}.send`;
    await requireChannels(store, plan, channel_ids, `${path}.channel_ids`);
    await requireTopic(store, topic, `${path}.topic`);
    if (template_id !== undefined) await requireTemplate(store, template_id, `${path}.template_id`);
    else {
      for (const field of ["title", "body"] as const) {
        const text = content?.[field] ?? "";
        const isMissing = field === "title" ? isBlank(text) : text === "";
        const problem = isMissing ? BLANK : validateTemplate(text);
        if (problem) throw invalid({ [`${path}.content.${field}`]: problem });
      }
      const [wrong] = byChannelProblems(content?.by_channel ?? {});
      if (wrong) throw invalid({ [fieldPath(path, "content.by_channel", ...wrong.path)]: wrong.reason });
    }
  }
  return steps;
}

function problemsOf({ trigger, entry_rules, steps }: Definition): Problem[] {
  const below = (field: string, problems: Problem[]) =>
    problems.map(({ path, ...rest }) => ({ ...rest, path: fieldPath(field, path) }));
  return [
    ...below("trigger", triggerProblems(trigger)),
    ...below("entry_rules", entry_rules ? entryRuleProblems(entry_rules) : []),
    ...below("steps", graphProblems(steps)),
  ];
}

const MAX_PROBLEMS_NAMED = 20;

const refusalOf = (problems: readonly Pick<Problem, "path" | "reason">[]) =>
  invalid(Object.fromEntries(problems.slice(0, MAX_PROBLEMS_NAMED).map(({ path, reason }) => [path, reason])));
