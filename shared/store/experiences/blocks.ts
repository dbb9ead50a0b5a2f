// The blocks of an experience (INX-2 to INX-20), in requests, in the store and in responses alike.
import * as v from "valibot";
import { grammar } from "../../contract/grammar.ts";
import { MessageBody, MessageTitle } from "../../contract/message-text.ts";
import { atField, maxCharacters, OneOf, said, Uuid, WholeNumber } from "../../contract/schemas.ts";
import { validateTemplate } from "../../rules/render.ts";
import { checkUrlTemplate, URL_LENGTH } from "../../rules/safe-url.ts";
import { formats } from "./items.ts";

/** INX-3. */
const MAX_ACTIONS = 4;
const MAX_SCREENS = 20;
const MAX_PRIORITY = 10;
const MAX_ID_CHARACTERS = 64;
const MAX_ACTION_TITLE = 200;
const MAX_SCREEN_CHARACTERS = 256;
const MAX_EVENT_NAME = 128;

// @__NO_SIDE_EFFECTS__
const pick = <const Options extends readonly string[]>(options: Options) => OneOf(options);

export const Format = pick(formats);

/** May contain Liquid: the rendered URL is checked again. */
// @__NO_SIDE_EFFECTS__
const Url = (kind: "link" | "image", { mayBeEmpty = false } = {}) =>
  v.pipe(
    v.string(),
    v.maxLength(URL_LENGTH, `must be at most ${URL_LENGTH} characters`),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed || (mayBeEmpty && dataset.value === "")) return;
      const trouble = validateTemplate(dataset.value) ?? checkUrlTemplate(dataset.value, kind);
      if (trouble) addIssue({ message: trouble });
    }),
  );

const ImageUrl = said("An http or https address, of an uploaded asset for example", Url("image"));

const Action = v.strictObject({
  id: v.pipe(v.string(), v.nonEmpty(), maxCharacters(MAX_ID_CHARACTERS)),
  title: v.pipe(
    v.string(),
    v.nonEmpty(),
    maxCharacters(MAX_ACTION_TITLE),
    v.check((title) => validateTemplate(title) === undefined, "is not valid Liquid"),
  ),
  url: said("An empty one dismisses the message", Url("link", { mayBeEmpty: true })),
});

const Actions = v.pipe(
  v.array(Action),
  v.maxLength(MAX_ACTIONS, `must have at most ${MAX_ACTIONS} actions`),
  v.check((actions) => new Set(actions.map(({ id }) => id)).size === actions.length, "must not repeat an id"),
);

export const Content = v.strictObject({
  title: MessageTitle,
  body: v.optional(MessageBody),
  image_url: v.optional(ImageUrl),
  actions: v.optional(Actions),
});

/** The display of an experience without its own (AMB-120). */
export const DEFAULT_DISPLAY = { trigger: "immediate", frequency: "once" } as const;

export const Display = v.pipe(
  v.strictObject({
    trigger: v.optional(pick(["immediate", "session_start", "event"]), DEFAULT_DISPLAY.trigger),
    trigger_event: v.optional(v.pipe(v.string(), v.nonEmpty(), maxCharacters(MAX_EVENT_NAME))),
    frequency: v.optional(pick(["once", "once_per_session"]), DEFAULT_DISPLAY.frequency),
    priority: v.optional(WholeNumber(1, MAX_PRIORITY)),
    screens: v.optional(
      v.pipe(
        v.array(v.pipe(v.string(), v.startsWith("/", "must start with /"), maxCharacters(MAX_SCREEN_CHARACTERS))),
        v.maxLength(MAX_SCREENS, `must have at most ${MAX_SCREENS} screens`),
      ),
    ),
  }),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const { value } = dataset;
    const needsEvent = value.trigger === "event";
    if (needsEvent === (value.trigger_event !== undefined)) return;
    const message = needsEvent ? "is required when trigger is event" : "is only for the trigger event";
    addIssue({ message, path: [atField(value, "trigger_event")] });
  }),
);

export const Audience = v.pipe(
  v.variant(
    "type",
    [
      v.strictObject({ type: v.literal("all") }),
      v.strictObject({ type: v.literal("list"), list_id: Uuid }),
      v.strictObject({ type: v.literal("segment"), segment_id: Uuid }),
    ],
    "must be all, list or segment",
  ),
  grammar("Target"),
);

export const VariantB = said(
  "All texts of arm B: a field that is left out is not taken from arm A",
  v.strictObject({ title: MessageTitle, body: v.optional(MessageBody), image_url: v.optional(ImageUrl) }),
);
