// The content of a send for a provider: title, body and custom data, and the channel's own fields (CHC-1 to CHC-3).
import {
  type ByChannel,
  ownContent,
  type PushContent,
  type PushExtras,
  saidBy,
} from "../../../rules/channel-content.ts";
import type { Button } from "../../../rules/channel-fields.ts";
import { withoutTags } from "../../../rules/channel-texts.ts";
import { type ChannelClass, type ChannelType, classOf, type ProvidedChannel } from "../../../rules/channel-types.ts";
import { withSafeLinks } from "../../../rules/html-links.ts";
import { isHtml, type MailBodies, mailBodies, withPreheader } from "../../../rules/mail-body.ts";
import { textOfHtml } from "../../../rules/mail-text.ts";
import { type CompiledTemplate, compileTemplate, type RenderScope, renderError } from "../../../rules/render.ts";
import { compileData } from "../../../rules/render-data.ts";
import { checkUrl } from "../../../rules/safe-url.ts";
import { hashOf } from "../../hash.ts";
import type { LivingProfile } from "../../subscribers/subscribers.ts";
import type { Job } from "../jobs/job-record.ts";
import { type Arm, attempted, type Event, isTooLarge, NOBODY, scopeOf } from "./arms.ts";

export interface Texts {
  title: string;
  body: string;
  /** Absent where the send has none. */
  data?: NonNullable<Job["data"]>;
  /** Only of email. */
  bodies?: MailBodies;
  /** Only of the inbox, if it has something of its own. */
  inApp?: { image_url?: string; actions?: Button[] };
  /** Only of push, if it has something of its own. */
  push?: PushExtras;
}

export interface RenderedTexts extends Texts {
  /** Dotted paths of the variables without a value, each once. */
  unknown: string[];
}

export interface Renderer {
  /** The profile of the recipient is not needed. */
  isStatic: boolean;
  /** Undefined if it cannot be rendered for this recipient, now or later. */
  render(arm: Arm, profile: LivingProfile | undefined, channel: ProvidedChannel): RenderedTexts | undefined;
  /** The same for any values, for a preview. */
  renderScope(arm: Arm, scope: RenderScope, channel: ChannelType): RenderedTexts | undefined;
}

type JobTexts = Pick<Job, "title" | "body" | "by_channel" | "variant_b" | "data">;

/** Renders the content of a channel's class. @throws an Error named `RenderError` when a limit is exceeded */
type ClassRenderer = (scope: RenderScope) => Texts & { unknown: string[] };

/**
 * Renders the content of a send, by arm and channel. Templates are compiled at their first use. @param now in
 * milliseconds: the value of `now` in them
 */
export function rendererOf(job: JobTexts, now: number, event: Event): Renderer {
  const data = job.data ? compileData(job.data) : undefined;
  const isStatic = data?.isStatic !== false && isPlain(job) && isPlain(job.variant_b);
  const compiled = new Map<string, ClassRenderer>();
  const cache = new Map<string, RenderedTexts | undefined>();

  const rendererFor = (arm: Arm, name: ChannelClass): ClassRenderer => {
    const key = `${arm} ${name}`;
    const render = compiled.get(key) ?? classRenderer(saidBy(job, arm), name, now);
    compiled.set(key, render);
    return render;
  };
  const attempt = (arm: Arm, name: ChannelClass, scope: RenderScope): RenderedTexts | undefined =>
    attempted(() => {
      const { unknown, ...texts } = rendererFor(arm, name)(scope);
      const { title, body } = texts;
      // A mail is no row of an inbox, and its HTML is limited by the renderer.
      if (!texts.bodies && isTooLarge({ title, body }, title.length + body.length)) return undefined;
      if (!data) return { ...texts, unknown };
      const custom = data.render(scope, { now });
      return { ...texts, data: custom.data, unknown: [...new Set([...unknown, ...custom.unknown])] };
    });

  return {
    isStatic,
    renderScope: (arm, scope, channel) => attempt(arm, classOf(channel), scope),
    render: (arm, profile, channel) => {
      const name = classOf(channel);
      if (!isStatic) return profile && attempt(arm, name, scopeOf(profile, job, event));
      const key = `${arm} ${name}`;
      if (!cache.has(key)) cache.set(key, attempt(arm, name, NOBODY));
      return cache.get(key);
    },
  };
}

const HASH_CHARACTERS = 12;

const shortHash = (said: unknown): string => hashOf(JSON.stringify(said)).slice(0, HASH_CHARACTERS);

/** A hash of a rendered message, to compare it with a later rendering. */
export const saidHash = ({ unknown: _, ...said }: RenderedTexts): string => shortHash(said);

/** The same of a template of the chat app, which says the values of its variables. */
export const filledHash = (parameters: readonly string[]): string => shortHash(parameters);

const isPlain = (content: { title: string | null; body: string | null; by_channel?: ByChannel | undefined } | null) =>
  !content ||
  (compileTemplate(content.title ?? "").isStatic &&
    compileTemplate(content.body ?? "").isStatic &&
    compileData(content.by_channel ?? {}).isStatic);

interface Content {
  title: string;
  body: string;
  by_channel: ByChannel;
}

function classRenderer(content: Content, name: ChannelClass, now: number): ClassRenderer {
  const channelContent = ownContent(content.by_channel, name);
  const texts = { title: content.title, body: content.body };
  switch (channelContent.kind) {
    case "mail":
      return mailRenderer(texts, channelContent.content, now);
    case "push":
      return pushRenderer(texts, channelContent.content, now);
    case "text":
      return plainRenderer(
        channelContent.content?.body === undefined ? texts : { title: "", body: channelContent.content.body },
        now,
      );
    case "card":
      return inboxRenderer(texts, channelContent.content, now);
    case "template":
      return plainRenderer(texts, now);
  }
}

type InAppExtras = NonNullable<Texts["inApp"]>;

/** Without URLs that their values made unsafe or invalid, as the message is written. An action without a URL dismisses. */
const shownInApp = ({ image_url, actions }: InAppExtras, content: InAppExtras): InAppExtras => ({
  ...(image_url !== undefined && checkUrl(image_url, "image") === undefined && { image_url }),
  ...(actions && {
    actions: actions.filter(({ url }, i) => content.actions?.[i]?.url === "" || checkUrl(url) === undefined),
  }),
});

/** For a preview: inbox messages are rendered where they are written (in-app.ts). */
function inboxRenderer(
  texts: { title: string; body: string },
  { title, body, ...extras }: NonNullable<ByChannel["in_app"]> = {},
  now: number,
): ClassRenderer {
  const all = { title: title ?? texts.title, body: body ?? texts.body };
  const words = { title: compileTemplate(all.title), body: compileTemplate(all.body) };
  const compiled = compileData(extras);
  return (scope) => {
    const { fill, unknown } = filling(scope, now);
    const filled = compiled.render(scope, { now });
    return {
      title: fill(words.title),
      body: fill(words.body),
      ...(Object.keys(extras).length > 0 && { inApp: shownInApp(filled.data, extras) }),
      unknown: [...new Set([...unknown(), ...filled.unknown])],
    };
  };
}

/** Fills templates, and collects the variables without a value. */
function filling(scope: RenderScope, now: number) {
  const unknown = new Set<string>();
  return {
    fill: (template: CompiledTemplate, escaping: "html" | "none" = "none"): string => {
      const { text, unknown: missing } = template.render(scope, { now, escape: escaping });
      for (const path of missing) unknown.add(path);
      return text;
    },
    unknown: () => [...unknown],
  };
}

/** Plain text: only a mail shows HTML (AMB-121). */
function plainRenderer(texts: { title: string; body: string }, now: number): ClassRenderer {
  const title = compileTemplate(texts.title);
  const body = compileTemplate(texts.body);
  const asHtml = isHtml(texts.body);
  return (scope) => {
    const { fill, unknown } = filling(scope, now);
    return {
      title: withoutTags(fill(title)),
      body: asHtml ? textOfHtml(fill(body, "html")) : withoutTags(fill(body)),
      unknown: unknown(),
    };
  };
}

/** `body` stays the text of the message; the two bodies are made of the channel's content, or else of it (CHC-4). */
function mailRenderer(
  texts: { title: string; body: string },
  { subject, preheader, html, text, apart }: NonNullable<ByChannel["email"]> = {},
  now: number,
): ClassRenderer {
  // Without its HTML a mail would say its body instead.
  if (apart?.isGone) throw renderError("its HTML is not stored any more");
  if (apart) throw new Error("A mail that is stored apart was not read.");
  const title = compileTemplate(subject ?? texts.title);
  const source = html ?? text ?? texts.body;
  const body = compileTemplate(source);
  const isMarkup = html !== undefined || (text === undefined && isHtml(source));
  const plain = html !== undefined && text !== undefined ? compileTemplate(text) : undefined;
  const preview = preheader === undefined ? undefined : compileTemplate(preheader);
  return (scope) => {
    const { fill, unknown } = filling(scope, now);
    const filled = isMarkup ? withSafeLinks(fill(body, "html")) : fill(body);
    const made = mailBodies(filled, isMarkup);
    const mail = plain ? { ...made, text: fill(plain) } : made;
    const bodies = preview ? { ...mail, html: withPreheader(mail.html, fill(preview)) } : mail;
    return { title: fill(title), body: filled, bodies, unknown: unknown() };
  };
}

function pushRenderer(
  texts: { title: string; body: string },
  { title, body, ...extras }: PushContent = {},
  now: number,
): ClassRenderer {
  const plain = plainRenderer({ title: title ?? texts.title, body: body ?? texts.body }, now);
  if (Object.keys(extras).length === 0) return plain;
  const compiled = compileData(extras);
  return (scope) => {
    const { unknown, ...words } = plain(scope);
    const filled = compiled.render(scope, { now });
    return { ...words, push: safe(filled.data), unknown: [...new Set([...unknown, ...filled.unknown])] };
  };
}

/** Without URLs that their values made unsafe or invalid. */
function safe({ image_url, url, buttons, ...rest }: PushExtras): PushExtras {
  const isSafe = (button: Button) => checkUrl(button.url) === undefined;
  return {
    ...rest,
    ...(image_url !== undefined && checkUrl(image_url, "image") === undefined && { image_url }),
    ...(url !== undefined && checkUrl(url) === undefined && { url }),
    ...(buttons?.some(isSafe) && {
      buttons: buttons.filter(isSafe).map((button) => ({ ...button, title: withoutTags(button.title) })),
    }),
  };
}
