// What an experience may be made of (INX-2 to INX-20), checked field by field; what concerns several is in the store.
import * as v from "valibot";
import { MessageBody, MessageTitle } from "../../../shared/http/message-text.ts";
import { maxCharacters, TimestampInput, Uuid } from "../../../shared/http/schemas.ts";
import { validateTemplate } from "../../../shared/rules/render.ts";
import { checkUrlTemplate } from "../../../shared/rules/safe-url.ts";
import { MAX_NAME_CHARACTERS } from "../../../shared/store/experiences/experiences.ts";

/** INX-3. */
const MAX_ACTIONS = 4;
const MAX_SCREENS = 20;
const MAX_PRIORITY = 10;
const MAX_ID_CHARACTERS = 64;
const MAX_ACTION_TITLE = 200;
const MAX_SCREEN_CHARACTERS = 256;
const MAX_EVENT_NAME = 128;

const text = v.string("must be a string");

export const formats = ["banner", "modal", "inbox_only", "card", "fullscreen"] as const;
const triggers = ["immediate", "session_start", "event"] as const;
const frequencies = ["once", "once_per_session"] as const;

const pick = <const Options extends readonly string[]>(options: Options) =>
  v.picklist(options, `must be one of ${options.join(", ")}`);

/** May hold Liquid; what it becomes is looked at again when it is rendered. */
const Url = (kind: "link" | "image", { mayBeEmpty = false } = {}) =>
  v.pipe(
    text,
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed || (mayBeEmpty && dataset.value === "")) return;
      const trouble = validateTemplate(dataset.value) ?? checkUrlTemplate(dataset.value, kind);
      if (trouble) addIssue({ message: trouble });
    }),
  );

const ImageUrl = v.pipe(Url("image"), v.description("An http or https address, of an uploaded asset for example"));

const Action = v.strictObject({
  id: v.pipe(text, v.nonEmpty("must not be empty"), maxCharacters(MAX_ID_CHARACTERS)),
  title: v.pipe(
    text,
    v.nonEmpty("must not be empty"),
    maxCharacters(MAX_ACTION_TITLE),
    v.check((title) => validateTemplate(title) === undefined, "is not valid Liquid"),
  ),
  url: v.pipe(Url("link", { mayBeEmpty: true }), v.description("An empty one dismisses the message")),
});

const Actions = v.pipe(
  v.array(Action, "must be an array"),
  v.maxLength(MAX_ACTIONS, `must have at most ${MAX_ACTIONS} actions`),
  v.check((actions) => new Set(actions.map(({ id }) => id)).size === actions.length, "must not repeat an id"),
);

export const Content = v.strictObject({
  title: MessageTitle,
  body: v.optional(MessageBody),
  image_url: v.optional(ImageUrl),
  actions: v.optional(Actions),
});

export const Display = v.pipe(
  v.strictObject({
    trigger: v.optional(pick(triggers), "immediate"),
    trigger_event: v.optional(v.pipe(text, v.nonEmpty("must not be empty"), maxCharacters(MAX_EVENT_NAME))),
    frequency: v.optional(pick(frequencies), "once"),
    priority: v.optional(
      v.pipe(
        v.number("must be a number"),
        v.integer("must be a whole number"),
        v.minValue(1, "must be at least 1"),
        v.maxValue(MAX_PRIORITY, `must be at most ${MAX_PRIORITY}`),
      ),
    ),
    screens: v.optional(
      v.pipe(
        v.array(
          v.pipe(text, v.startsWith("/", "must start with /"), maxCharacters(MAX_SCREEN_CHARACTERS)),
          "must be an array",
        ),
        v.maxLength(MAX_SCREENS, `must have at most ${MAX_SCREENS} screens`),
      ),
    ),
  }),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const { value } = dataset;
    const wants = value.trigger === "event";
    if (wants === (value.trigger_event !== undefined)) return;
    const message = wants ? "is required when trigger is event" : "is only for the trigger event";
    const at = {
      type: "object",
      origin: "value",
      input: value,
      key: "trigger_event",
      value: value.trigger_event,
    } as const;
    addIssue({ message, path: [at] });
  }),
);

export const Audience = v.variant(
  "type",
  [
    v.strictObject({ type: v.literal("all") }),
    v.strictObject({ type: v.literal("list"), list_id: Uuid }),
    v.strictObject({ type: v.literal("segment"), segment_id: Uuid }),
  ],
  "must be all, list or segment",
);

export const VariantB = v.pipe(
  v.strictObject({ title: MessageTitle, body: v.optional(MessageBody), image_url: v.optional(ImageUrl) }),
  v.description("The whole of arm B's texts: what it leaves out, arm B has not"),
);

const Percentage = (from: number) =>
  v.pipe(
    v.number("must be a number"),
    v.integer("must be a whole number"),
    v.minValue(from, `must be at least ${from}`),
    v.maxValue(99, "must be at most 99"),
  );

const Name = v.pipe(text, v.trim(), v.nonEmpty("must not be empty"), maxCharacters(MAX_NAME_CHARACTERS));

/** INX-26: an empty one clears it. */
const Time = v.union([v.literal(""), TimestampInput], "must be an RFC 3339 timestamp, or empty for none");

const optional = {
  display: v.optional(Display),
  audience: v.optional(Audience),
  start_at: v.optional(Time),
  end_at: v.optional(Time),
  variant_b: v.optional(VariantB),
  split_percentage: v.optional(v.pipe(Percentage(1), v.description("Arm A's share"))),
  holdout_percentage: v.optional(Percentage(0)),
};

export const NewExperience = v.strictObject({ name: Name, format: pick(formats), content: Content, ...optional });

export const ExperienceChange = v.strictObject({
  name: v.optional(Name),
  format: v.optional(pick(formats)),
  content: v.optional(Content),
  ...optional,
  remove_variant_b: v.optional(v.boolean("must be true or false")),
});

export const CopyName = v.strictObject({ name: v.optional(Name) });
