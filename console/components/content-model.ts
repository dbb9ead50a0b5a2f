// A message and what some channels say instead: what is empty is left out, and falls back to title and text.
import type { ContentByChannel } from "../../sdk/src/types.gen.ts";
import { type ByChannel, channelFields, ownContent } from "../../shared/rules/channel-content.ts";
import { type ChannelClass, kindOf } from "../../shared/rules/channel-types.ts";

export interface Content {
  title: string;
  body: string;
  by_channel?: ContentByChannel | undefined;
  /** What is stored no more, as the API names it. It refuses what is sent back with this: nothing is saved over it unasked. */
  left_out?: readonly string[] | undefined;
}

export type Own = Exclude<ChannelClass, "chat_app">;

/** The classes of channels that say something in words of their own, and not by a template. */
export const owners = (Object.keys(channelFields) as ChannelClass[]).filter(
  (name): name is Own => kindOf(name) !== "template",
);

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === "" || (Array.isArray(value) && value.length === 0);

function filled<T extends object>(given: T | undefined): T | undefined {
  const entries = Object.entries(given ?? {}).filter(([, value]) => !isEmpty(value));
  // The same type with some of its optional fields left out.
  return entries.length > 0 ? (Object.fromEntries(entries) as T) : undefined;
}

/** What every channel says where only a mail is written: its subject, and what an inbox shows beside it. */
export function sharedOf({ title, body, by_channel }: Content): Pick<Content, "title" | "body"> {
  const { subject = "", preheader = "", text = "", html = "" } = by_channel?.email ?? {};
  return { title: title || subject, body: body || text || preheader || (html && subject) };
}

/** What is written, without what is empty. A mail that is written anew stands for the one that is gone. */
export function writtenOf({ title, body, by_channel, left_out }: Content): Content {
  const own = filled(
    Object.fromEntries(Object.entries(by_channel ?? {}).map(([name, part]) => [name, filled(part as object)])),
  );
  return { title, body, ...(own && { by_channel: own }), ...(left_out && !by_channel?.email?.html && { left_out }) };
}

/** The message as the API takes it. */
export const contentOf = (content: Content): Content => ({ ...writtenOf(content), ...sharedOf(content) });

/** What a channel says itself; undefined where it says what the others say. */
export const ownOf = ({ by_channel }: Content, channel: Own): object | undefined =>
  filled<object>(by_channel?.[channel]);

/** What the API says is wrong below a path, by the rest of the path. */
export const faultsUnder = (fields: Record<string, string>, prefix: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([path, reason]) =>
      path.startsWith(prefix) ? [[path.slice(prefix.length), reason]] : [],
    ),
  );

/** What a channel says, with what it takes from title and text. Variables are not filled. */
export function shownOn(content: Content, channel: string): { title: string; body: string; html?: string } {
  const { title, body, by_channel = {} } = content;
  const name = owners.find((one) => one === channel);
  const own = name && ownContent(by_channel as ByChannel, name);
  switch (own?.kind) {
    case "mail": {
      const { subject, text, html } = own.content ?? {};
      return { title: subject || title, body: text || body, ...(html && { html }) };
    }
    case "text":
      return own.content?.body ? { title: "", body: own.content.body } : { title, body };
    case "push":
    case "card":
      return { title: own.content?.title || title, body: own.content?.body || body };
    default:
      return { title, body };
  }
}
