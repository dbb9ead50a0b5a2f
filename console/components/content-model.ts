// A message and what some channels say instead: what is empty is left out, and falls back to title and text.
import type { ContentByChannel } from "../../sdk/src/types.gen.ts";

export interface Content {
  title: string;
  body: string;
  by_channel?: ContentByChannel | undefined;
}

export type Own = "email" | "sms" | "push" | "web_push" | "in_app";

/** The class of a channel has the content of this name. */
export const owners: readonly Own[] = ["email", "sms", "push", "web_push", "in_app"];

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === "" || (Array.isArray(value) && value.length === 0);

function filled<T extends object>(given: T | undefined): T | undefined {
  const entries = Object.entries(given ?? {}).filter(([, value]) => !isEmpty(value));
  // The same type with some of its optional fields left out.
  return entries.length > 0 ? (Object.fromEntries(entries) as T) : undefined;
}

/** The message as the API takes it. */
export function contentOf({ title, body, by_channel }: Content): Content {
  const own = filled(
    Object.fromEntries(Object.entries(by_channel ?? {}).map(([name, part]) => [name, filled(part as object)])),
  );
  return { title, body, ...(own && { by_channel: own }) };
}

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
  const { title, body, by_channel: { email, sms, push, web_push, in_app } = {} } = content;
  switch (channel) {
    case "email":
      return { title: email?.subject || title, body: email?.text || body, ...(email?.html && { html: email.html }) };
    case "sms":
      return sms?.body ? { title: "", body: sms.body } : { title, body };
    case "push":
      return { title: push?.title || title, body: push?.body || body };
    case "web_push":
      return { title: web_push?.title || title, body: web_push?.body || body };
    case "in_app":
      return { title: in_app?.title || title, body: in_app?.body || body };
    default:
      return { title, body };
  }
}
