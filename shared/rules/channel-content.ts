// What a message says by a channel of its own (CHC-1): the fields of each class of channels, and what the arm of a test says.
import { hasAtMost } from "./characters.ts";
import { isMap } from "./predicates.ts";
import { URL_LENGTH } from "./safe-url.ts";

export type Button = { id: string; title: string; url: string };

export type PushContent = {
  title?: string;
  body?: string;
  image_url?: string;
  url?: string;
  buttons?: Button[];
  sound?: string;
  badge?: number;
  collapse_key?: string;
  ttl_seconds?: number;
};

/** What a push has beside its texts. */
export type PushExtras = Omit<PushContent, "title" | "body">;

/** What each class of channels says in place of title and body. What a channel leaves out falls back to those. */
export type ByChannel = {
  email?: { subject?: string; preheader?: string; html?: string; text?: string };
  sms?: { body?: string };
  push?: PushContent;
  web_push?: PushContent;
  in_app?: { title?: string; body?: string; image_url?: string; actions?: Button[] };
  chat_app?: { template_id: string; parameters?: string[] };
};

export type ContentClass = keyof ByChannel;

/** A text, a URL, a whole number, a list of buttons or a list of texts. */
export type ContentField = { required?: true } & (
  | { kind: "text"; max: number }
  | { kind: "link" | "image" }
  | { kind: "integer"; max: number }
  | { kind: "buttons"; max: number; mayDismiss: boolean }
  | { kind: "texts"; max: number; maxLength: number }
);

export const MAX_BUTTON_ID = 64;
export const MAX_BUTTON_TITLE = 200;
/** FCM and APNs keep a message for at most four weeks. */
const MAX_TTL_SECONDS = 2_419_200;
/** Of APNs, in bytes. */
export const MAX_COLLAPSE_KEY = 64;

const title = { kind: "text", max: 1_000 } as const;
const body = { kind: "text", max: 10_000 } as const;
const longBody = { kind: "text", max: 50_000 } as const;
const image = { kind: "image" } as const;

const push: Record<keyof PushContent, ContentField> = {
  title,
  body,
  image_url: image,
  url: { kind: "link" },
  buttons: { kind: "buttons", max: 2, mayDismiss: false },
  sound: { kind: "text", max: 256 },
  badge: { kind: "integer", max: 99_999 },
  collapse_key: { kind: "text", max: MAX_COLLAPSE_KEY },
  ttl_seconds: { kind: "integer", max: MAX_TTL_SECONDS },
};

export const channelFields: Record<ContentClass, Record<string, ContentField>> = {
  email: { subject: title, preheader: { kind: "text", max: 500 }, html: { kind: "text", max: 65_536 }, text: longBody },
  sms: { body },
  push,
  web_push: push,
  in_app: {
    title,
    body: longBody,
    image_url: image,
    actions: { kind: "buttons", max: 4, mayDismiss: true },
  },
  chat_app: {
    template_id: { kind: "text", max: 128, required: true },
    parameters: { kind: "texts", max: 99, maxLength: 1_024 },
  },
};

export interface ContentProblem {
  /** `["push", "buttons", 0, "url"]`: below `by_channel`. */
  path: (string | number)[];
  reason: string;
}

/** What is wrong with the shape of `by_channel`: fields, types and lengths, but neither Liquid nor URLs. */
export function contentProblems(value: unknown): ContentProblem[] {
  if (!isMap(value)) return [{ path: [], reason: "must be an object" }];
  return Object.entries(value).flatMap(([name, content]): ContentProblem[] => {
    const fields = Object.hasOwn(channelFields, name) ? channelFields[name as ContentClass] : undefined;
    if (!fields) return [{ path: [name], reason: `must be one of ${Object.keys(channelFields).join(", ")}` }];
    if (!isMap(content)) return [{ path: [name], reason: "must be an object" }];
    const missing = Object.keys(fields).filter((field) => fields[field]?.required && content[field] === undefined);
    return [
      ...missing.map((field) => ({ path: [name, field], reason: "is required" })),
      ...Object.entries(content).flatMap(([field, one]) => {
        const known = Object.hasOwn(fields, field) ? fields[field] : undefined;
        return known
          ? fieldProblems(known, one, [name, field])
          : [{ path: [name, field], reason: "is not a known field" }];
      }),
    ];
  });
}

function fieldProblems(field: ContentField, value: unknown, path: ContentProblem["path"]): ContentProblem[] {
  switch (field.kind) {
    case "text":
      return textProblems(value, path, field.max);
    case "link":
    case "image":
      return textProblems(value, path, URL_LENGTH);
    case "integer": {
      const isWhole = Number.isInteger(value) && Number(value) >= 0 && Number(value) <= field.max;
      return isWhole ? [] : [{ path, reason: `must be a whole number from 0 to ${field.max}` }];
    }
    case "buttons":
      return listProblems(value, path, field.max, (one, at) => buttonProblems(one, at, field.mayDismiss));
    case "texts":
      return listProblems(value, path, field.max, (one, at) => textProblems(one, at, field.maxLength));
  }
}

function textProblems(value: unknown, path: ContentProblem["path"], max: number, min = 1): ContentProblem[] {
  if (typeof value !== "string") return [{ path, reason: "must be a string" }];
  if (value.length < min) return [{ path, reason: "must not be empty" }];
  return hasAtMost(value, max) ? [] : [{ path, reason: `must have at most ${max} characters` }];
}

function listProblems(
  value: unknown,
  path: ContentProblem["path"],
  max: number,
  judge: (one: unknown, at: ContentProblem["path"]) => ContentProblem[],
): ContentProblem[] {
  if (!Array.isArray(value)) return [{ path, reason: "must be an array" }];
  if (value.length > max) return [{ path, reason: `must be at most ${max}` }];
  return value.flatMap((one, i) => judge(one, [...path, i]));
}

function buttonProblems(value: unknown, path: ContentProblem["path"], mayDismiss: boolean): ContentProblem[] {
  if (!isMap(value)) return [{ path, reason: "must be an object" }];
  const known = ["id", "title", "url"];
  const { id, title: label, url } = value;
  return [
    ...Object.keys(value)
      .filter((key) => !known.includes(key))
      .map((key) => ({ path: [...path, key], reason: "is not a known field" })),
    ...textProblems(id, [...path, "id"], MAX_BUTTON_ID),
    ...textProblems(label, [...path, "title"], MAX_BUTTON_TITLE),
    ...textProblems(url, [...path, "url"], URL_LENGTH, mayDismiss ? 0 : 1),
  ];
}

/** What a message says: the default for all channels, and what some of them say instead. */
export interface Says {
  title: string | null;
  body: string | null;
  by_channel?: ByChannel | undefined;
  variant_b?: { title: string; body: string; by_channel?: ByChannel | undefined } | null | undefined;
}

/** What an arm says. Arm B overrides title, body and the fields that it names: all others are those of arm A. */
export function saidBy({ title, body, by_channel = {}, variant_b }: Says, arm: "a" | "b" | undefined) {
  if (arm !== "b" || !variant_b) return { title: title ?? "", body: body ?? "", by_channel };
  return { title: variant_b.title, body: variant_b.body, by_channel: overridden(by_channel, variant_b.by_channel) };
}

function overridden(first: ByChannel, second: ByChannel = {}): ByChannel {
  const names = Object.keys({ ...first, ...second }) as ContentClass[];
  return Object.fromEntries(names.map((name) => [name, { ...first[name], ...second[name] }]));
}

/** The class whose content a channel shows. */
export const contentClassOf = (channel: ContentClass | "ios" | "android"): ContentClass =>
  channel === "ios" || channel === "android" ? "push" : channel;

const TEST_MARK = "[Test] ";

/** What a test send says: the same, with "[Test] " before every subject and title, and before the text of an SMS. */
export function markedAsTest<T extends Says>(says: T): T {
  const { title, by_channel, variant_b } = says;
  return {
    ...says,
    title: mark(title ?? ""),
    ...(by_channel && { by_channel: markedChannels(by_channel) }),
    ...(variant_b && {
      variant_b: {
        ...variant_b,
        title: mark(variant_b.title),
        ...(variant_b.by_channel && { by_channel: markedChannels(variant_b.by_channel) }),
      },
    }),
  };
}

const mark = (text: string): string => TEST_MARK + text;

const markedTitle = <T extends { title?: string }>(content: T): T =>
  content.title === undefined ? content : { ...content, title: mark(content.title) };

function markedChannels({ email, sms, push, web_push, in_app, ...rest }: ByChannel): ByChannel {
  return {
    ...rest,
    ...(email && { email: email.subject === undefined ? email : { ...email, subject: mark(email.subject) } }),
    ...(sms && { sms: sms.body === undefined ? sms : { body: mark(sms.body) } }),
    ...(push && { push: markedTitle(push) }),
    ...(web_push && { web_push: markedTitle(web_push) }),
    ...(in_app && { in_app: markedTitle(in_app) }),
  };
}
