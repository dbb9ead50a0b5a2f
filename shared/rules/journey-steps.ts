// The grammar of a journey's steps (JND-1 to JND-7), each by itself. A draft may be incomplete: the missing parts are
// `missing`.

import { isJsonObject } from "../kernel/objects.ts";
import { SAFETY_BOUNDS } from "./brake.ts";
import { ContentByChannel } from "./content-grammar.ts";
import { NO_DURATION, parseDuration } from "./durations.ts";
import { MAX_EVENT_NAME_CHARACTERS, OWN_EVENTS } from "./event-limits.ts";
import { choice, described, type Grammar, type NamedGrammar, named, number, object, text } from "./grammar.ts";
import type { JourneyNode } from "./journey-graph.ts";
import type { JsonSchema } from "./json-schema.ts";
import { AttributePredicate } from "./predicate-grammar.ts";
import { SegmentRule } from "./segment-grammar.ts";

const MAX_CHANNELS = 20;
const NO_EVENT_NAME = `must be a string of at most ${MAX_EVENT_NAME_CHARACTERS} characters`;
export const MAX_ID_CHARACTERS = 128;

const targets = new Set<Grammar>();

/** The id of another step. */
function target({ about }: { about: string }): Grammar {
  const grammar = text({ about, refusal: "must be the id of a step" });
  targets.add(grammar);
  return grammar;
}

const duration = ({ about }: { about: string }): Grammar => ({
  check: (value, path, report) => {
    if (typeof value !== "string") report(path, "must be a string");
    else if (parseDuration(value) === undefined) report(path, NO_DURATION, "wrong");
  },
  schema: () => ({
    type: "string",
    description: `${about}: whole minutes, hours or days, such as \`30m\`, \`24h\` or \`7d\`, at most 3650 days`,
  }),
});

const channels: Grammar = {
  check: (value, path, report) => {
    if (!Array.isArray(value) || value.length > MAX_CHANNELS || value.some((name) => typeof name !== "string"))
      report(path, `must be an array of at most ${MAX_CHANNELS} ids of channels`);
    else if (value.length === 0) report(path, "must name at least one channel", "missing");
  },
  schema: () => ({
    type: "array",
    items: { type: "string" },
    maxItems: MAX_CHANNELS,
    description: "The channels, at least one of them. Required to activate",
  }),
};

const safety = object({
  about:
    "The limits at which the step halts. What is left out is the workspace's; without `safety` it has no brake. " +
    "`canary_percent` of the subscribers go on first, the others `canary_wait_minutes` after the first run arrived",
  fields: Object.fromEntries(Object.entries(SAFETY_BOUNDS).map(([name, bounds]) => [name, number(bounds)])),
});

const content = object({
  about: "What it says. Required to activate, unless there is a `template_id`",
  fields: {
    title: text({ about: "The title, with the Liquid subset" }),
    body: text({ about: "The body, with the Liquid subset" }),
    by_channel: described({ about: "What some channels say instead of title and body" }, ContentByChannel),
  },
  required: ["title", "body"],
  refusal: "must be an object with title and body",
  isToldWhole: true,
});

interface StepRules {
  about: string;
  name: string;
  /** Absent for a step without settings. */
  fields?: Readonly<Record<string, Grammar>>;
  required?: readonly string[];
}

const stepRules: Readonly<Record<JourneyNode["type"], StepRules>> = {
  send: {
    name: "SendStep",
    about: "Sends a message to the subscriber, then goes on.",
    fields: {
      channel_ids: channels,
      template_id: text({ about: "The template, instead of `content`" }),
      content,
      category: choice({
        about: "Marketing needs consent and keeps to quiet hours and frequency caps",
        of: ["marketing", "transactional"],
        refusal: "must be marketing or transactional",
        default: "marketing",
      }),
      topic: text({ about: "The key of a topic: the step is skipped for who is not in it" }),
      safety,
      next: target({ about: "The step that follows. Left out or empty: the run is completed" }),
    },
    required: ["channel_ids"],
  },
  delay: {
    name: "DelayStep",
    about: "Waits for a time, then goes on.",
    fields: {
      duration: duration({ about: "How long. Required to activate" }),
      next: target({ about: "The step that follows. Required to activate" }),
    },
    required: ["duration", "next"],
  },
  branch: {
    name: "BranchStep",
    about: "Goes one of two ways, by a rule that is evaluated when the run arrives.",
    fields: {
      condition: described({ about: "The rule. Required to activate" }, SegmentRule),
      // biome-ignore lint/suspicious/noThenProperty: it is a field of the API
      then: target({ about: "The step that follows if the rule holds. Required to activate" }),
      else: target({ about: "The step that follows if it does not. Left out or empty: the run is completed" }),
    },
    required: ["condition", "then"],
  },
  wait_for_event: {
    name: "WaitForEventStep",
    about: "Waits until the subscriber has an event, or for a time.",
    fields: {
      event_name: text({
        about: "The name of the event. Required to activate",
        max: MAX_EVENT_NAME_CHARACTERS,
        refusal: NO_EVENT_NAME,
        tooLong: NO_EVENT_NAME,
        never: OWN_EVENTS,
      }),
      within: duration({ about: "How long it waits; if left out, without limit" }),
      where: described(
        {
          about:
            "Only an event whose properties match counts. `{{trigger.order_id}}` stands for that property of the event that " +
            "triggered the run",
        },
        AttributePredicate,
      ),
      on_event: target({ about: "The step that follows the event. Required to activate" }),
      on_timeout: target({
        about: "The step that follows when the time is over. Left out or empty: the run is completed",
      }),
    },
    required: ["event_name", "on_event"],
  },
  exit: { name: "ExitStep", about: "Completes the run." },
};

export const stepTypes = Object.keys(stepRules) as JourneyNode["type"][];
const isStepType = (type: unknown): type is JourneyNode["type"] => stepTypes.some((stepType) => stepType === type);

/** The ids of the following steps, without empty ones. */
export function targetsOf(node: JourneyNode): string[] {
  const config: unknown = new Map<string, unknown>(Object.entries(node)).get(node.type);
  if (!isJsonObject(config)) return [];
  const fields = Object.entries(stepRules[node.type].fields ?? {});
  return fields.flatMap(([name, field]) => (targets.has(field) && config[name] ? [String(config[name])] : []));
}

/** The settings of a step, under the name of its type. */
const settings = (type: JourneyNode["type"], { fields = {}, required = [] }: StepRules): Grammar =>
  object({
    about: "The settings of the step. Required to activate",
    fields,
    stranger: `is not a field of ${type}`,
    also: (config, path, report) => {
      for (const key of required)
        if (config[key] === undefined || config[key] === "") report([...path, key], "is required", "missing");
      if (type === "send" && config.template_id === undefined && config.content === undefined)
        report(path, "must have content or a template_id", "missing");
    },
  });

const unchecked = (schema: JsonSchema): Grammar => ({ check: () => undefined, schema: () => schema });

const stepId = unchecked({
  type: "string",
  minLength: 1,
  maxLength: MAX_ID_CHARACTERS,
  description: "The key of the step in `steps`. Required to activate",
});

/** A step of a type. Its settings may be missing in a draft. */
const step = (type: JourneyNode["type"], rules: StepRules): NamedGrammar =>
  named(
    rules.name,
    object({
      about: rules.about,
      fields: {
        id: stepId,
        type: unchecked({ type: "string", const: type, description: "The kind of step" }),
        ...(rules.fields && { [type]: settings(type, rules) }),
      },
      required: ["type"],
      stranger: `is not a field of a step of type ${type}`,
      also: (node, path, report) => {
        if (rules.fields && node[type] === undefined) report([...path, type], "is required", "missing");
      },
    }),
  );

export const stepGrammars = new Map(stepTypes.map((type) => [type, step(type, stepRules[type])]));

/** A step without a type, only in a draft. */
export const UntypedStep = named(
  "UntypedStep",
  unchecked({
    type: "object",
    description: "A step of a draft whose type is not chosen yet. It cannot be activated.",
    properties: {
      id: { type: "string", description: "The key of the step in `steps`" },
      type: { not: {}, description: "Not set" },
    },
  }),
);

export const JourneyStep = named("JourneyStep", {
  check: (node, path, report) => {
    if (!isJsonObject(node)) return report(path, "must be an object");
    if (node.id === undefined) report([...path, "id"], "is required", "missing");
    const { type } = node;
    if (type === undefined) return report([...path, "type"], "is required", "missing");
    if (!isStepType(type)) return report([...path, "type"], `must be one of ${stepTypes.join(", ")}`);
    stepGrammars.get(type)?.check(node, path, report);
  },
  schema: () => ({
    description: "A step. Its settings stand under the name of its type.",
    anyOf: [...stepGrammars.values(), UntypedStep].map((grammar) => grammar.schema()),
  }),
});
