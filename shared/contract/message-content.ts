// The content of a message, with the variations of single channels (CHC-1): in templates, sends, campaigns and journeys
// alike.
import * as v from "valibot";
import type { ByChannel } from "../rules/channel-content.ts";
import { textProblems } from "../rules/channel-texts.ts";
import { type ContentProblem, contentProblems } from "../rules/content-grammar.ts";
import { grammar } from "./grammar.ts";
import { MessageBody, MessageTitle } from "./message-text.ts";
import { JsonObject, said } from "./schemas.ts";

/**
 * The limit without the HTML and the design of mails, which may be stored apart: a job with all its texts fits into one
 * item.
 */
const MAX_BY_CHANNEL_BYTES = 65_536;

/** The problems of `by_channel` in a request: of its shape, else of its texts and URLs. */
export function byChannelProblems(value: unknown): ContentProblem[] {
  const problems = contentProblems(value);
  if (problems.length > 0) return problems;
  if (bytesOf(withoutMails({ by_channel: value as ByChannel }).by_channel) > MAX_BY_CHANNEL_BYTES) {
    const reason = `must have at most ${MAX_BY_CHANNEL_BYTES} bytes as JSON, without html and design of email`;
    return [{ path: [], reason }];
  }
  return textProblems(value as ByChannel);
}

export const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? "");

/** The content without its mails, which have a limit of their own. */
export function withoutMails<T extends { by_channel?: ByChannel | undefined }>(content: T): T {
  const { by_channel } = content;
  if (!by_channel?.email) return content;
  const { html: _, design: __, ...email } = by_channel.email;
  return { ...content, by_channel: { ...by_channel, email } };
}

const MAX_PROBLEMS = 20;

/** An object without channels is the same as none. */
const ByChannelInput = v.pipe(
  JsonObject,
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const { value: whole } = dataset;
    for (const { path, reason } of byChannelProblems(whole).slice(0, MAX_PROBLEMS)) {
      const items = path.map((key) => ({
        type: "unknown" as const,
        origin: "value" as const,
        input: whole,
        key,
        value: whole,
      }));
      const [first, ...rest] = items;
      addIssue({ message: reason, ...(first && { path: [first, ...rest] }) });
    }
  }),
  grammar("ContentByChannel"),
  v.transform((value): ByChannel | undefined => (Object.keys(value).length > 0 ? (value as ByChannel) : undefined)),
);

const contentFields = { title: MessageTitle, body: MessageBody, by_channel: v.optional(ByChannelInput) };
export const MessageContent = v.strictObject(contentFields);

/** The second arm of an A/B test. */
export const VariantB = v.strictObject({
  ...contentFields,
  by_channel: said(
    "What arm B says otherwise. A field that it leaves out is that of arm A",
    v.optional(ByChannelInput),
  ),
});
