// Content by channel (CHC-1): the fields of each class of channels, and the content of each arm of a test.
import type { ContentOf } from "./channel-fields.ts";
import { type ChannelClass, channelTypes, classOf, type KindOf, kindOf } from "./channel-types.ts";
import { type ContentField, type ContentKind, contentKinds } from "./content-kinds.ts";

/** The content of each class of channels, in place of title and body. Omitted fields fall back to those. */
export type ByChannel = { [C in ChannelClass]?: ContentOf<(typeof contentKinds)[KindOf<C>]> } & {
  email?: { apart?: MailApart };
};

/** A mail that is stored apart from the rest of its content: its name, and the stored fields. */
export interface MailApart {
  hash: string;
  fields: readonly ("html" | "design")[];
  /** The placeholders of the mail: code that reads content for them finds these in place of the mail's. */
  liquid: string;
  /** It was looked for, and is not there any more: nothing can be made of it. Not of a row. */
  isGone?: true;
}
export type PushContent = ContentOf<typeof contentKinds.push>;
/** The parts of a push beside its texts. */
export type PushExtras = Omit<PushContent, "title" | "body">;

/** By class; the fields of one kind are merged. */
export const channelFields = Object.fromEntries(
  Object.entries(contentKinds).flatMap(([kind, fields]) =>
    channelTypes
      .map(classOf)
      .filter((name) => kindOf(name) === kind)
      .map((name): [string, Readonly<Record<string, ContentField>>] => [name, fields]),
  ),
) as Record<ChannelClass, Readonly<Record<string, ContentField>>>;

/** The content of a class, with the kind that tells how it is rendered. */
type OwnContent = {
  [K in ContentKind]: { kind: K; content: ContentOf<(typeof contentKinds)[K]> | undefined };
}[ContentKind];

/** The kind of a class is the kind of its channels and content: the compiler cannot see that they belong together. */
export const ownContent = (content: ByChannel, name: ChannelClass): OwnContent =>
  ({ kind: kindOf(name), content: content[name] }) as OwnContent;

/** The content of a message: the default for all channels, and the variations of some. */
export interface Says {
  title: string | null;
  body: string | null;
  by_channel?: ByChannel | undefined;
  variant_b?: { title: string; body: string; by_channel?: ByChannel | undefined } | null | undefined;
}

/** The content of an arm. Arm B overrides title, body and the fields that it names: all others are those of arm A. */
export function saidBy({ title, body, by_channel = {}, variant_b }: Says, arm: "a" | "b" | undefined) {
  if (arm !== "b" || !variant_b) return { title: title ?? "", body: body ?? "", by_channel };
  return { title: variant_b.title, body: variant_b.body, by_channel: overridden(by_channel, variant_b.by_channel) };
}

function overridden(first: ByChannel, second: ByChannel = {}): ByChannel {
  const names = Object.keys({ ...first, ...second }) as ChannelClass[];
  return Object.fromEntries(names.map((name) => [name, { ...first[name], ...second[name] }]));
}

const TEST_MARK = "[Test] ";

/** The content of a test send: with "[Test] " before every subject and title, and before the text of an SMS. */
export function markedAsTest<T extends Says>(says: T): T {
  return { ...marked(says), ...(says.variant_b && { variant_b: marked(says.variant_b) }) };
}

const marked = <T extends Pick<Says, "title" | "by_channel">>(says: T): T => ({
  ...says,
  title: mark(says.title ?? ""),
  ...(says.by_channel && { by_channel: markedChannels(says.by_channel) }),
});

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
