// The grammar of journeys: triggers, entry rules, steps, exit conditions. Checked by shared/rules/journey-graph.ts and
// journey-paths.ts. What only a draft may lack is optional here, and its sentence says so.

import { SAFETY_BOUNDS } from "../../../shared/rules/brake.ts";
import { MAX_EXIT_CONDITIONS, STEPS_OF_A_JOURNEY } from "../../../shared/rules/journey-graph.ts";
import type { JsonSchema } from "../json-schema.ts";
import { safetySentences } from "../sentences/safety.ts";
import { graphExamples, ids, stepExamples } from "./journey-examples.ts";

const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

const target = (description: string): JsonSchema => ({ type: "string", description });
const duration = (description: string): JsonSchema => ({
  type: "string",
  description: `${description}: whole minutes, hours or days, such as \`30m\`, \`24h\` or \`7d\`, at most 3650 days`,
});
const eventName: JsonSchema = {
  type: "string",
  maxLength: 256,
  description: "The name of the event. Required to activate",
};

const content: JsonSchema = {
  type: "object",
  description: "What it says. Required to activate, unless there is a `template_id`",
  properties: {
    title: { type: "string", description: "The title, with the Liquid subset" },
    body: { type: "string", description: "The body, with the Liquid subset" },
    by_channel: {
      ...ref("ContentByChannel"),
      description: "What some channels say instead of title and body",
    },
  },
  required: ["title", "body"],
  additionalProperties: false,
};

type StepType = keyof typeof stepExamples;

/** A step of a type: its id, its type and its settings under the name of the type. */
const step = (type: StepType, about: string, properties?: Record<string, JsonSchema>): JsonSchema => ({
  type: "object",
  description: about,
  properties: {
    id: {
      type: "string",
      minLength: 1,
      maxLength: 128,
      description: "The key of the step in `steps`. Required to activate",
    },
    type: { type: "string", const: type, description: "The kind of step" },
    ...(properties && {
      [type]: {
        type: "object",
        description: "The settings of the step. Required to activate",
        properties,
        additionalProperties: false,
      },
    }),
  },
  required: ["type"],
  additionalProperties: false,
  examples: [...stepExamples[type]],
});

const steps: Record<string, JsonSchema> = {
  SendStep: step("send", "Sends a message to the subscriber, then goes on.", {
    channel_ids: {
      type: "array",
      items: { type: "string" },
      maxItems: 20,
      description: "The channels, at least one of them. Required to activate",
    },
    template_id: { type: "string", description: "The template, instead of `content`" },
    content,
    category: {
      type: "string",
      enum: ["marketing", "transactional"],
      default: "marketing",
      description: "Marketing needs consent and keeps to quiet hours and frequency caps",
    },
    topic: { type: "string", description: "The key of a topic: the step is skipped for who is not in it" },
    safety: {
      type: "object",
      properties: Object.fromEntries(
        Object.entries(SAFETY_BOUNDS).map(([name, { min, max, isWhole }]) => [
          name,
          {
            type: isWhole ? "integer" : "number",
            minimum: min,
            maximum: max,
            description: safetySentences[name] ?? "",
          },
        ]),
      ),
      additionalProperties: false,
      description:
        "The limits at which the step halts. What is left out is the workspace's; without `safety` it has no brake. " +
        "`canary_percent` of the subscribers go on first, the others `canary_wait_minutes` after the first run arrived",
    },
    next: target("The step that follows. Left out or empty: the run is completed"),
  }),
  DelayStep: step("delay", "Waits for a time, then goes on.", {
    duration: duration("How long. Required to activate"),
    next: target("The step that follows. Required to activate"),
  }),
  BranchStep: step("branch", "Goes one of two ways, by a rule that is evaluated when the run arrives.", {
    condition: { ...ref("SegmentRule"), description: "The rule. Required to activate" },
    // biome-ignore lint/suspicious/noThenProperty: it is a field of the API
    then: target("The step that follows if the rule holds. Required to activate"),
    else: target("The step that follows if it does not. Left out or empty: the run is completed"),
  }),
  WaitForEventStep: step("wait_for_event", "Waits until the subscriber has an event, or for a time.", {
    event_name: eventName,
    within: duration("How long it waits; if left out, without limit"),
    where: {
      ...ref("AttributePredicate"),
      description:
        "Only an event whose properties match counts. `{{trigger.order_id}}` stands for that property of the event that " +
        "triggered the run",
    },
    on_event: target("The step that follows the event. Required to activate"),
    on_timeout: target("The step that follows when the time is over. Left out or empty: the run is completed"),
  }),
  ExitStep: step("exit", "Completes the run."),
  UntypedStep: {
    type: "object",
    description: "A step of a draft whose type is not chosen yet. It cannot be activated.",
    properties: {
      id: { type: "string", description: "The key of the step in `steps`" },
      type: { not: {}, description: "Not set" },
    },
    examples: [{ id: "later" }, { id: "new_step" }, {}],
  },
};

const stepNames = ["SendStep", "DelayStep", "BranchStep", "WaitForEventStep", "ExitStep"];

const mapping = (names: Record<string, string>) =>
  Object.fromEntries(Object.entries(names).map(([type, name]) => [type, ref(name).$ref]));
const typed = (names: Record<string, string>) => ({
  oneOf: [...new Set(Object.values(names))].map(ref),
  discriminator: { propertyName: "type", mapping: mapping(names) },
});

export const journeys: Record<string, JsonSchema> = {
  JourneyTrigger: {
    description: "What starts a run for a subscriber.",
    ...typed({ segment_entered: "SegmentTrigger", segment_exited: "SegmentTrigger", event: "EventTrigger" }),
    examples: [
      { type: "event", event_name: "signed_up" },
      { type: "segment_entered", segment_id: ids.segment },
      { type: "segment_exited", segment_id: ids.segment },
    ],
  },
  SegmentTrigger: {
    type: "object",
    description: "The subscriber enters a segment, or leaves it.",
    properties: {
      type: { type: "string", enum: ["segment_entered", "segment_exited"], description: "Which of the two" },
      segment_id: { type: "string", minLength: 1, maxLength: 128, description: "The segment. Required to activate" },
      event_name: { type: "string", maxLength: 256, description: "Not used by this trigger" },
    },
    required: ["type"],
    additionalProperties: false,
    examples: [
      { type: "segment_entered", segment_id: ids.segment },
      { type: "segment_exited", segment_id: ids.segment },
      { type: "segment_entered" },
    ],
  },
  EventTrigger: {
    type: "object",
    description: "The subscriber has an event.",
    properties: {
      type: { type: "string", const: "event", description: "The kind of trigger" },
      event_name: eventName,
      segment_id: { type: "string", minLength: 1, maxLength: 128, description: "Not used by this trigger" },
    },
    required: ["type"],
    additionalProperties: false,
    examples: [
      { type: "event", event_name: "signed_up" },
      { type: "event", event_name: "cart_left" },
      { type: "event", event_name: "order_paid" },
    ],
  },
  EntryRules: {
    type: "object",
    description: "Who may enter, and how often.",
    properties: {
      eligibility: {
        anyOf: [ref("SegmentRule"), { type: "null" }],
        description: "Only subscribers that match this rule at the trigger enter. Default: all",
      },
      allow_reentry: {
        type: "boolean",
        default: false,
        description: "Whether a subscriber whose run has ended may enter again",
      },
      reentry_window: {
        type: ["string", "null"],
        description:
          "The least time between two entries: whole minutes, hours or days, such as `24h`, at most 3650 days. Default: none",
      },
    },
    additionalProperties: false,
    examples: [
      { allow_reentry: true, reentry_window: "30d" },
      { eligibility: { attribute: { country: { $eq: "DE" } } } },
      { eligibility: { event: { name: "order_paid", frequency: { max: 0 } } }, allow_reentry: false },
    ],
  },
  JourneyGraph: {
    type: "object",
    description: "The steps of a journey, where it starts, and what ends it early. A draft may be incomplete.",
    properties: {
      start: { type: "string", description: "The id of the first step. Required to activate" },
      steps: {
        type: "object",
        description: `The steps by their ids, at most ${STEPS_OF_A_JOURNEY}`,
        additionalProperties: ref("JourneyStep"),
        maxProperties: STEPS_OF_A_JOURNEY,
      },
      exit_conditions: {
        type: "array",
        items: ref("ExitCondition"),
        maxItems: MAX_EXIT_CONDITIONS,
        description: "A run ends as `exited` as soon as one of them holds. Default: none",
      },
    },
    additionalProperties: false,
    examples: graphExamples,
  },
  JourneyStep: {
    description: "A step. Its settings stand under the name of its type.",
    anyOf: [...stepNames.map(ref), ref("UntypedStep")],
    examples: [stepExamples.send[0], stepExamples.branch[0], stepExamples.wait_for_event[0]],
  },
  ...steps,
  ExitCondition: {
    description: "Ends a run early. It has exactly one of `attribute`, `event` and `rule`.",
    anyOf: [ref("AttributeRule"), ref("EventExit"), ref("RuleExit")],
    examples: [
      { attribute: { plan: { $eq: "pro" } } },
      { event: { name: "order_paid" } },
      { rule: { event: { name: "app_opened", within: "7d", frequency: { min: 3 } } } },
    ],
  },
  EventExit: {
    type: "object",
    description: "Ends a run when the subscriber has an event after entering.",
    properties: {
      event: {
        type: "object",
        description: "The event",
        properties: {
          name: { type: "string", minLength: 1, maxLength: 256, description: "The name of the event" },
          where: { ...ref("AttributePredicate"), description: "Only an event whose properties match counts" },
        },
        required: ["name"],
        additionalProperties: false,
      },
    },
    required: ["event"],
    additionalProperties: false,
    examples: [
      { event: { name: "order_paid" } },
      { event: { name: "order_paid", where: { total: { $gte: 50 } } } },
      { event: { name: "unsubscribed" } },
    ],
  },
  RuleExit: {
    type: "object",
    description: "Ends a run when a rule of segments holds.",
    properties: { rule: { ...ref("SegmentRule"), description: "The rule" } },
    required: ["rule"],
    additionalProperties: false,
    examples: [
      { rule: { attribute: { plan: { $eq: "pro" } } } },
      { rule: { event: { name: "order_paid", within: "30d" } } },
      { rule: { attribute: { key: "age", operator: "lt", value: 18 } } },
    ],
  },
};
