// The body of a notification's creation (D-NTF), checked field by field and then as a whole.
import * as v from "valibot";
import { validatePredicate } from "../rules/predicates.ts";
import { validateDevicePredicate } from "../rules/versions.ts";
import { CustomData, SmallObject } from "./custom-data.ts";
import { grammar } from "./grammar.ts";
import { bytesOf, MessageContent, VariantB, withoutMails } from "./message-content.ts";
import { chatAppFields, MessageBody, MessageTitle } from "./message-text.ts";
import { SafetyInput } from "./safety.ts";
import {
  atField,
  ExternalId,
  maxCharacters,
  SomeOf,
  SomeTextUpTo,
  said,
  TemplateId,
  TimestampInput,
  Uuid,
} from "./schemas.ts";
import { ChannelIds, Percentage, Target } from "./send-input.ts";
import { TopicOfSend } from "./topic-key.ts";

/** Recipients of test sends (RDA-9). */
export const MAX_TEST_SUBSCRIBERS = 20;

export const MAX_GIVEN_IDS = 10_000;
const MAX_KEY_CHARACTERS = 255;
const MAX_CONTENT_BYTES = 262_144;

type Verdict = { path: string; reason: string } | undefined;

const Filter = (judge: (value: unknown) => Verdict, name: "AttributePredicate" | "DevicePredicate") =>
  v.pipe(
    SmallObject,
    v.rawCheck(({ dataset, addIssue }) => {
      const problem = dataset.typed ? judge(dataset.value) : undefined;
      if (!problem) return;
      const at = {
        type: "unknown",
        origin: "value",
        input: dataset.value,
        key: problem.path,
        value: undefined,
      } as const;
      addIssue({ message: problem.reason, ...(problem.path && { path: [at] }) });
    }),
    grammar(name),
  );

export const IdempotencyKey = SomeTextUpTo(MAX_KEY_CHARACTERS);

export const PreviewId = said(
  "Of a preview of the same body, not older than 10 minutes: the same people are held out and get variant B",
  v.optional(v.pipe(v.string(), v.maxLength(512, "is not the id of a preview"))),
);

const Send = v.strictObject({
  subscriberIds: v.optional(
    SomeOf(
      v.pipe(v.string(), v.regex(/^[!-~]{1,128}$/, "must be 1 to 128 visible ASCII characters"), v.toLowerCase()),
      "subscriber",
      MAX_GIVEN_IDS,
    ),
  ),
  external_ids: said(
    "Instead of `subscriberIds`: ids of the workspace's own system",
    v.optional(SomeOf(ExternalId, "subscriber", MAX_GIVEN_IDS)),
  ),
  target: v.optional(Target),
  title: v.optional(MessageTitle),
  body: v.optional(MessageBody),
  content: said("Instead of `title` and `body`: both, and what some channels say instead", v.optional(MessageContent)),
  template_id: v.optional(TemplateId),
  ...chatAppFields,
  data: v.optional(CustomData),
  channel_ids: said(
    "Ids of channels. A subscriber gets the message on each of them that reaches them, or on the best one in smart mode. Default: all that are active",
    v.optional(ChannelIds),
  ),
  category: v.optional(v.picklist(["marketing", "transactional"], "must be marketing or transactional"), "marketing"),
  topic: TopicOfSend,
  scheduled_at: v.optional(TimestampInput),
  channel_arbitration_mode: v.optional(v.picklist(["explicit", "smart"], "must be explicit or smart"), "explicit"),
  device_filters: v.optional(Filter(validateDevicePredicate, "DevicePredicate")),
  subscriber_filters: v.optional(Filter(validatePredicate, "AttributePredicate")),
  holdout_percentage: v.optional(Percentage(0), 0),
  variant_b: v.optional(VariantB),
  split_percentage: v.optional(Percentage(1)),
  name: v.optional(v.pipe(v.string(), maxCharacters(200))),
  idempotency_key: v.optional(IdempotencyKey),
  bypass_quiet_hours: v.optional(v.boolean(), false),
  safety: v.optional(SafetyInput),
  preview_id: PreviewId,
});

const wholeSend = <T extends Partial<v.InferOutput<typeof Send>>>({ hasAudience = true } = {}) =>
  v.rawCheck<T>(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const value: Partial<v.InferOutput<typeof Send>> = dataset.value;
    const blame = (key: keyof typeof value, message: string) => addIssue({ message, path: [atField(value, key)] });
    const audiences = [value.target, value.subscriberIds, value.external_ids];
    if (hasAudience && audiences.filter((audience) => audience !== undefined).length !== 1)
      blame("target", "exactly one of target, subscriberIds and external_ids is required");
    const { content, variant_b } = value;
    if (value.template_id !== undefined) {
      if (value.title !== undefined || value.body !== undefined || content !== undefined)
        blame("template_id", "must not be combined with title, body or content");
    } else if (content !== undefined) {
      if (value.title !== undefined || value.body !== undefined)
        blame("content", "must not be combined with title or body");
    } else if (value.title === undefined) blame("title", "title and body, or template_id, are required");
    else if (value.body === undefined) blame("body", "title and body, or template_id, are required");
    if (value.split_percentage !== undefined && variant_b === undefined) blame("split_percentage", "needs variant_b");
    const said = [content, variant_b].map((one) => one && withoutMails(one));
    const parts = [...said, value.data, value.device_filters, value.subscriber_filters];
    if (content?.by_channel && bytesOf(parts) > MAX_CONTENT_BYTES)
      blame(
        "content",
        `must have at most ${MAX_CONTENT_BYTES} bytes as JSON, with variant_b, data and filters, without html and design of email`,
      );
  });

export const NewNotification = v.pipe(Send, wholeSend());

const PreviewedSend = v.strictObject({
  ...Send.entries,
  render_for: said("The subscriber whose message is shown. Default: the first recipient", v.optional(Uuid)),
});

/** The body of a creation, and the subscriber whose message a preview shows. */
export const PreviewedNotification = v.pipe(PreviewedSend, wholeSend<v.InferOutput<typeof PreviewedSend>>());

const { title, body, content, template_id, data, channel_ids, category, topic, variant_b } = Send.entries;

/** The recipient of a test that is the caller's own address. */
export const OWN_ADDRESS = "me";

const TestedSend = v.strictObject({
  title,
  body,
  content,
  template_id,
  ...chatAppFields,
  data,
  channel_ids,
  category,
  topic,
  variant_b,
  variant: said(
    "The arm that is sent, of a message with `variant_b`. Default: `a`",
    v.optional(v.picklist(["a", "b"], "must be a or b")),
  ),
  preview_id: said(
    "Of a preview of the same message, not older than 10 minutes: test subscribers get the arm of its draw, and who is held " +
      "out gets nothing",
    v.optional(v.pipe(v.string(), v.maxLength(512, "is not the id of a preview"))),
  ),
  as_subscriber_id: said(
    "The subscriber whose attributes fill the texts. Default: each recipient's own; for your own address, those of the first test subscriber",
    v.optional(Uuid),
  ),
  to: said(
    "Some of the workspace's `test_subscriber_ids`, and `me` for your own address, which gets email only. Default: all of them",
    v.optional(
      SomeOf(
        v.union([v.literal(OWN_ADDRESS), Uuid], `must be ${OWN_ADDRESS} or a UUID`),
        "recipient",
        MAX_TEST_SUBSCRIBERS + 1,
      ),
    ),
  ),
});

/** The message of a creation, and the recipients of a test (RDA-9). */
export const TestNotification = v.pipe(
  TestedSend,
  wholeSend<v.InferOutput<typeof TestedSend>>({ hasAudience: false }),
  v.forward(
    v.check(({ variant, variant_b: b }) => variant === undefined || b !== undefined, "needs variant_b"),
    ["variant"],
  ),
  v.forward(
    v.check(
      ({ variant, preview_id: id }) => variant === undefined || id === undefined,
      "must not be combined with preview_id",
    ),
    ["variant"],
  ),
);

export type NewNotification = v.InferOutput<typeof NewNotification>;
