// The content of an inbox message. A long text that is the same for all recipients is not in its row: the row names the
// content of the job (docs/decisions/0023).
import { Buffer } from "node:buffer";
import { saidBy } from "../../../rules/channel-content.ts";
import type { StoreReader } from "../../context.ts";
import type { RowOf } from "../../item.ts";
import { fromJson, type JsonText, toJson } from "../../json-text.ts";
import type { Value } from "../../model.ts";
import { readContents } from "../jobs/job-content.ts";
import type { JobContent } from "../jobs/job-spec.ts";
import type { Message, MessageContent } from "./inbox-items.ts";

type Data = { [name: string]: Value };

export interface MessageText {
  content: MessageContent;
  /** Custom values of the send, for the live stream. */
  data?: JsonText<Data> | undefined;
}

/** The text of a message in the content of its job, by its hash. */
export interface NamedText {
  text: string;
  arm?: "a" | "b" | undefined;
}

/** A message with a shorter text is one write unit. */
const MAX_INLINE_BYTES = 700;

/**
 * The text of a message as its row holds it.
 * @param content of the job: texts without variables, or the hash under which they are stored
 */
export function storedText(
  job: JobContent & { content: JobContent | string },
  arm: NamedText["arm"],
  text: MessageText,
): MessageText | NamedText {
  if (typeof job.content !== "string") return text;
  const json = toJson(text);
  if (Buffer.byteLength(json) <= MAX_INLINE_BYTES || json !== toJson(textOf(job, arm))) return text;
  return { text: job.content, arm };
}

/** The content of an arm in the inbox, before rendering. The image of an experience is that of its arm. */
export function saidInApp(job: JobContent, arm: NamedText["arm"]) {
  const { title, body, by_channel } = saidBy(job, arm);
  const { in_app: inApp = {} } = by_channel;
  const { in_app: look, variant_b } = job;
  return {
    title: inApp.title ?? title,
    body: inApp.body ?? body,
    image_url: inApp.image_url ?? (arm === "b" && variant_b ? variant_b.image_url : look?.image_url),
    actions: inApp.actions ?? look?.actions,
  };
}

/** The content of a message with these texts if nothing in them is rendered. */
function textOf(job: JobContent, arm: NamedText["arm"]): MessageText {
  const { in_app: look, data } = job;
  const { title, body, image_url, actions } = saidInApp(job, arm);
  const content = {
    title,
    body,
    ...(look && { format: look.format }),
    ...(image_url !== undefined && { image_url }),
    ...(actions && { actions }),
    ...(look?.display && { display: look.display }),
    ...(arm && { variant_id: arm }),
  };
  return { content, ...(data && { data: toJson(data) }) };
}

/** The arm of a message: of one whose text is in its row, the text says it. */
export const armOfMessage = ({ arm, content }: RowOf<typeof Message>): string | undefined =>
  arm ?? (content && fromJson(content).variant_id);

type TextOf = (row: RowOf<typeof Message>) => MessageText;

/** Reads the contents that these rows name, each once. */
export async function readTexts(store: StoreReader, rows: readonly RowOf<typeof Message>[]): Promise<TextOf> {
  const stored = await readContents(
    store,
    rows.flatMap(({ text }) => text ?? []),
  );
  return ({ content, data, text = "", arm }) => {
    if (content) return { content: fromJson(content), data };
    const found = stored.get(text);
    if (!found) throw new Error(`The content ${text} of a message is not stored.`);
    return textOf(fromJson(found.content), arm);
  };
}
