// What a message says, with what some channels say instead (CHC-1): in templates, sends, campaigns and journeys alike.
import * as v from "valibot";
import type { ByChannel } from "../rules/channel-content.ts";
import { textProblems } from "../rules/channel-texts.ts";
import { type ContentProblem, contentProblems } from "../rules/content-grammar.ts";
import { grammar } from "./grammar.ts";
import { MessageBody, MessageTitle } from "./message-text.ts";
import { JsonObject, said } from "./schemas.ts";

/** Without the HTML and the design of a mail, which may lie apart: so that a job with all its texts is one item of the table. */
const MAX_BY_CHANNEL_BYTES = 65_536;

/** What is wrong with `by_channel` of a request: its shape, else its texts and URLs. */
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

/** What is counted of a content beside its mails. */
export function withoutMails<T extends { by_channel?: ByChannel | undefined }>(content: T): T {
  const { by_channel } = content;
  if (!by_channel?.email) return content;
  const { html: _, design: __, ...email } = by_channel.email;
  return { ...content, by_channel: { ...by_channel, email } };
}

const MAX_PROBLEMS = 20;

/** One without a channel is the same as none. */
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
