// The message of one subscriber on each channel, rendered by the code that sends it, with hints before sending (RDA-8,
// CHC-5).
import * as v from "valibot";
import { personal } from "../../../contract/personal.ts";
import type { PushExtras, Says } from "../../../rules/channel-content.ts";
import { titledText } from "../../../rules/channel-texts.ts";
import { type ChannelType, channelTypes, hasDevices } from "../../../rules/channel-types.ts";
import { CLIPPED_BYTES } from "../../../rules/content-kinds.ts";
import { FOOTER_LINK, footerWordsFor } from "../../../rules/footer-words.ts";
import type { MailBodies } from "../../../rules/mail-body.ts";
import { mailParts, senderOf } from "../../../rules/mail-parts.ts";
import { liquidOf } from "../../../rules/placeholders.ts";
import { type RenderScope, seenWith } from "../../../rules/render.ts";
import { MAX_SMS, smsSegments } from "../../../rules/sms-segments.ts";
import { taggedBodies, utmQueryOf } from "../../../rules/utm.ts";
import type { LivingProfile } from "../../subscribers/subscribers.ts";
import type { WorkspaceSettings } from "../../workspaces/settings.ts";
import type { JobContent } from "../jobs/job-spec.ts";
import { type Arm, scopeOf } from "./arms.ts";
import { type ChatAppWords, type FilledTemplate, type Shown, shownOn } from "./chat-app-words.ts";
import { type RenderedTexts, rendererOf } from "./texts.ts";

const warningCodes = [
  "template_error",
  "template_not_approved",
  "unknown_variables",
  "sms_unicode",
  "sms_segments",
  "message_too_long",
  "push_truncated",
  "payload_too_large",
  "mail_clipped",
] as const;

const Button = v.object({ id: v.string(), title: v.string(), url: v.string() });

export const Rendering = v.object({
  channel: v.picklist(channelTypes),
  /** `null`: it cannot be rendered. */
  title: personal(v.nullable(v.string())),
  body: personal(v.nullable(v.string())),
  html: personal(v.optional(v.string())),
  sms: v.optional(v.object({ encoding: v.picklist(["gsm7", "ucs2"]), characters: v.number(), segments: v.number() })),
  push: personal(
    v.optional(
      v.object({
        image_url: v.optional(v.string()),
        url: v.optional(v.string()),
        buttons: v.optional(v.array(Button)),
        sound: v.optional(v.string()),
        badge: v.optional(v.number()),
        collapse_key: v.optional(v.string()),
        ttl_seconds: v.optional(v.number()),
      }),
    ),
  ),
  in_app: personal(v.optional(v.object({ image_url: v.optional(v.string()), actions: v.optional(v.array(Button)) }))),
  unknown_variables: v.array(v.string()),
  warnings: v.array(v.object({ code: v.picklist(warningCodes), message: v.string() })),
});
export type Rendering = v.InferOutput<typeof Rendering>;
type Warning = Rendering["warnings"][number];

/** The part of a collapsed notification that phones and browsers show. */
const SHOWN_TITLE = 50;
const SHOWN_BODY = 150;
const MAX_PUSH_BYTES = 4_096;
/** The bytes that the service adds to a payload: ids, names of fields. */
const PAYLOAD_OVERHEAD = 400;

type Content = Says & Pick<JobContent, "data">;

interface ShownFor {
  /** Without one, a subscriber without attributes. */
  profile: LivingProfile | undefined;
  /** The attributes that the texts may show to the caller. Absent: all. */
  sees?: ReadonlySet<string> | undefined;
  arm: Arm;
  now: number;
  mail: MailFrame;
  /** The templates of the chat app that the content names. */
  chatApp: ChatAppWords;
}

/** The parts of a mail beside its content. */
interface MailFrame {
  /** The UTM query of its links. */
  utm: string | undefined;
  /** The parts of its footer: the lines of the sender, and its links. */
  sender: readonly string[];
  isMarketing: boolean;
  hasTopic: boolean;
}

interface OfSend {
  /** Without one, nothing is added. */
  category?: "marketing" | "transactional" | undefined;
  topic?: unknown;
  name: string | null;
}

/** The additions of the service to a mail: tags of its links, the sender's address, and the links of its footer. */
export const mailFrameOf = (
  workspace: Pick<WorkspaceSettings, "utm_defaults" | "sender_name" | "postal_address"> | undefined,
  { category, topic, name }: OfSend,
): MailFrame => ({
  utm: category && utmQueryOf(workspace?.utm_defaults, { category, name }),
  sender: category === "marketing" ? senderOf(workspace) : [],
  isMarketing: category === "marketing",
  hasTopic: topic !== undefined && topic !== null,
});

const framed = (bodies: MailBodies, { utm, sender, isMarketing, hasTopic }: MailFrame, locale: unknown): MailBodies =>
  mailParts(taggedBodies(bodies, utm), {
    unsubscribe: isMarketing ? FOOTER_LINK : undefined,
    preferences: hasTopic ? FOOTER_LINK : undefined,
    sender,
    words: footerWordsFor(locale),
  });

/** The rendering of a content on each channel, for a preview. @param now in milliseconds */
export function renderingsOf(
  content: Content,
  channels: readonly ChannelType[],
  { profile, sees, arm, now, mail, chatApp }: ShownFor,
): Rendering[] {
  const said = { ...content, by_channel: content.by_channel, variant_b: content.variant_b ?? null };
  const renderer = rendererOf(said, now, undefined);
  const whole = profile ? scopeOf(profile, content, undefined) : anybody(content);
  const scope = sees ? seenWith(sees, whole) : whole;
  const { locale } = scope.subscriber.attributes;
  const read = (channel: ChannelType) => shownOn(channel, { renderer, chatApp }, { arm, scope, now });
  return [...new Set(channels)].map((channel) => renderingOf(read(channel), channel, { mail, locale }));
}

const anybody = ({ data }: Content): RenderScope => ({ subscriber: { id: "", attributes: {} }, data: data ?? {} });

const notRenderable = (channel: ChannelType): Rendering => {
  const message = "The message cannot be rendered: with these values a text is too long, or a filter fails.";
  return { channel, title: null, body: null, unknown_variables: [], warnings: [{ code: "template_error", message }] };
};

/** An approved template of the chat app, which has no title. */
const renderingOfTemplate = (channel: ChannelType, template: FilledTemplate): Rendering => ({
  channel,
  title: null,
  body: template.body,
  unknown_variables: template.unknown,
  warnings: [
    ...unknownWarning(template.unknown),
    ...(template.isBlank ? [BLANK_VARIABLE] : []),
    ...(template.isApproved ? [] : [NOT_APPROVED]),
  ],
});

const BLANK_VARIABLE: Warning = {
  code: "template_error",
  message: "It would not be sent: a variable of the template has no text.",
};
const CLIPPED: Warning = {
  code: "mail_clipped",
  message: "Its HTML has more than 102 KB: the largest mailbox provider clips it, before tracked links make it longer.",
};
const NOT_APPROVED: Warning = {
  code: "template_not_approved",
  message: "It would not be sent: the provider has not approved the template.",
};

function renderingOf(
  shown: Shown,
  channel: ChannelType,
  { mail, locale }: Pick<ShownFor, "mail"> & { locale: unknown },
): Rendering {
  if (shown.kind === "failed") return notRenderable(channel);
  if (shown.kind === "template") return renderingOfTemplate(channel, shown);
  const rendered = shown.texts;
  const { title, body, push, inApp, unknown } = rendered;
  const bodies = rendered.bodies && framed(rendered.bodies, mail, locale);
  const text = channel === "sms" ? titledText(rendered) : body;
  const sms = channel === "sms" ? smsSegments(text) : undefined;
  return {
    channel,
    title: channel === "sms" ? null : title,
    body: bodies ? bodies.text : text,
    ...(bodies && { html: bodies.html }),
    ...(sms && { sms }),
    ...(push && { push }),
    ...(inApp && { in_app: inApp }),
    unknown_variables: unknown,
    warnings: [
      ...unknownWarning(unknown),
      ...(bodies && Buffer.byteLength(bodies.html) > CLIPPED_BYTES ? [CLIPPED] : []),
      ...(sms ? smsWarnings(text, sms) : []),
      ...(hasDevices(channel) ? pushWarnings(rendered, push) : []),
    ],
  };
}

function unknownWarning(unknown: readonly string[]): Warning[] {
  const [first] = unknown;
  if (first === undefined) return [];
  const fallback = `{{ ${liquidOf(first)} | default: "there" }}`;
  return [
    {
      code: "unknown_variables",
      message: `Without a value: ${unknown.join(", ")}. Give a fallback, such as ${fallback}.`,
    },
  ];
}

function smsWarnings(text: string, { encoding, segments }: ReturnType<typeof smsSegments>): Warning[] {
  const warnings: Warning[] = [];
  if (encoding === "ucs2")
    warnings.push({
      code: "sms_unicode",
      message: "A character is not of the GSM alphabet: a part holds 70 characters.",
    });
  if (segments > 1) warnings.push({ code: "sms_segments", message: `It is sent, and billed, as ${segments} parts.` });
  if (text.length > MAX_SMS)
    warnings.push({ code: "message_too_long", message: `It would be refused: more than ${MAX_SMS} characters.` });
  return warnings;
}

function pushWarnings({ title, body, data }: RenderedTexts, push: PushExtras | undefined): Warning[] {
  const bytesWith = (text: string) =>
    Buffer.byteLength(JSON.stringify({ title, body: text, data, push })) + PAYLOAD_OVERHEAD;
  const limit = `more than ${MAX_PUSH_BYTES} bytes`;
  const isLong = [...title].length > SHOWN_TITLE || [...body].length > SHOWN_BODY;
  if (bytesWith("") > MAX_PUSH_BYTES)
    return [{ code: "payload_too_large", message: `It would be refused: ${limit} without its text.` }];
  if (bytesWith(body) > MAX_PUSH_BYTES)
    return [{ code: "push_truncated", message: `Its text would be cut before it is sent: ${limit}.` }];
  if (!isLong) return [];
  const message = `Devices cut a title after about ${SHOWN_TITLE} characters and a text after about ${SHOWN_BODY}.`;
  return [{ code: "push_truncated", message }];
}
