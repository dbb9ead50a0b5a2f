// What a message says by a channel of its own (CHC-1): the fields of each class of channels, and what the arm of a test says.
import type { ContentField, ContentOf } from "./channel-fields.ts";
import { type ChannelClass, channelTypes, classOf, type KindOf, kindOf } from "./channel-types.ts";
import { hasAtMost } from "./characters.ts";
import { type ContentKind, contentKinds } from "./content-kinds.ts";
import { isMap } from "./predicates.ts";
import { URL_LENGTH } from "./safe-url.ts";

/** What each class of channels says in place of title and body. What a channel leaves out falls back to those. */
export type ByChannel = { [C in ChannelClass]?: ContentOf<(typeof contentKinds)[KindOf<C>]> };
export type PushContent = ContentOf<typeof contentKinds.push>;
/** What a push has beside its texts. */
export type PushExtras = Omit<PushContent, "title" | "body">;

export const MAX_BUTTON_ID = 64;
export const MAX_BUTTON_TITLE = 200;

/** By class, those of one kind beside each other. */
export const channelFields = Object.fromEntries(
  Object.entries(contentKinds).flatMap(([kind, fields]) =>
    channelTypes
      .map(classOf)
      .filter((name) => kindOf(name) === kind)
      .map((name): [string, Readonly<Record<string, ContentField>>] => [name, fields]),
  ),
) as Record<ChannelClass, Readonly<Record<string, ContentField>>>;

/** What a class says itself, with the kind that tells how it is rendered. */
export type OwnContent = {
  [K in ContentKind]: { kind: K; content: ContentOf<(typeof contentKinds)[K]> | undefined };
}[ContentKind];

/** The kind of a class is that of its channels, and so is its content: the compiler cannot see that the two belong together. */
export const ownContent = (content: ByChannel, name: ChannelClass): OwnContent =>
  ({ kind: kindOf(name), content: content[name] }) as OwnContent;

export interface ContentProblem {
  /** `["push", "buttons", 0, "url"]`: below `by_channel`. */
  path: (string | number)[];
  reason: string;
}

/** What is wrong with the shape of `by_channel`: fields, types and lengths, but neither Liquid nor URLs. */
export function contentProblems(value: unknown): ContentProblem[] {
  if (!isMap(value)) return [{ path: [], reason: "must be an object" }];
  return Object.entries(value).flatMap(([name, content]): ContentProblem[] => {
    const fields = Object.hasOwn(channelFields, name) ? channelFields[name as ChannelClass] : undefined;
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
  const names = Object.keys({ ...first, ...second }) as ChannelClass[];
  return Object.fromEntries(names.map((name) => [name, { ...first[name], ...second[name] }]));
}

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

const markedChannels = (content: ByChannel): ByChannel =>
  Object.fromEntries(
    Object.entries(content).map(([name, fields]) => [
      name,
      Object.fromEntries(
        Object.entries(fields).map(([field, value]) => [
          field,
          channelFields[name as ChannelClass][field]?.leads ? mark(String(value)) : value,
        ]),
      ),
    ]),
  );
