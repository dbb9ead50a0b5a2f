// Finds messages without text on channels other than mail, before anything is sent.
import { ownContent, saidBy } from "../../../rules/channel-content.ts";
import { type ChannelType, classOf } from "../../../rules/channel-types.ts";
import { isBlank } from "../../../rules/characters.ts";
import { compileTemplate, type RenderScope } from "../../../rules/render.ts";
import { chatAppOf } from "../../channels/chat-app-content.ts";
import type { Job } from "../jobs/job-record.ts";
import { type Arm, attempted } from "./arms.ts";
import { type Renderer, rendererOf, type Texts } from "./texts.ts";

/**
 * Whether a message by a channel other than mail has no text, and so fails.
 * @param isTemplate an approved template of the chat app stands in place of its texts
 */
export const isTextless = ({ title, body }: Pick<Texts, "title" | "body">, isTemplate: boolean): boolean =>
  !isTemplate && isBlank(title + body);

type SaidByAll = Parameters<typeof rendererOf>[0] & Pick<Job, "chat_app">;

export interface Shown {
  arm: Arm;
  scope: RenderScope;
  /** In milliseconds. */
  now: number;
}

/**
 * Whether a message on a channel other than mail would have no text for a recipient. An image or a button alone is
 * shown in an inbox.
 */
export function textless(job: SaidByAll): (shown: Shown, channel: ChannelType) => boolean {
  const kept = new Map<string, boolean>();
  let renderer: { now: number; of: Renderer } | undefined;
  const rendererAt = (now: number): Renderer => {
    if (renderer?.now !== now) renderer = { now, of: rendererOf(job, now, undefined) };
    return renderer.of;
  };
  const mayBe = (arm: Arm, channel: ChannelType): boolean => {
    const key = `${arm} ${channel}`;
    const isPossible = kept.get(key) ?? mayBeBlank(job, arm, channel);
    kept.set(key, isPossible);
    return isPossible;
  };
  return ({ arm, scope, now }, channel) => {
    const template = channel === "chat_app" ? chatAppOf(job, arm) : undefined;
    if (template) return template.parameters.some((text) => isBlankFor(text, scope, now));
    if (channel === "email" || !mayBe(arm, channel)) return false;
    const words = rendererAt(now).renderScope(arm, scope, channel);
    if (!words) return false;
    const { data, inApp } = words;
    const hasMore = data !== undefined || inApp?.image_url !== undefined || (inApp?.actions ?? []).length > 0;
    return !(channel === "in_app" && hasMore) && isTextless(words, false);
  };
}

/** A message without a text fails before caps are asked; that of an inbox is made after they were. */
export const failsFirst = (hasNoText: ReturnType<typeof textless>, shown: Shown, channel: ChannelType): boolean =>
  channel !== "in_app" && hasNoText(shown, channel);

/** A text that cannot be rendered is not blank: it fails by itself. */
const isBlankFor = (text: string, scope: RenderScope, now: number): boolean =>
  attempted(() => isBlank(compileTemplate(text).render(scope, { now, escape: "none" }).text)) ?? false;

/** Without a word beside its placeholders, or with a condition or a tag around it: only then it is rendered for each. */
function mayBeBlank(job: SaidByAll, arm: Arm, channel: ChannelType): boolean {
  const { title, body, by_channel } = saidBy(job, arm);
  const content: { title?: string | undefined; body?: string | undefined } = Object(
    ownContent(by_channel, classOf(channel)).content,
  );
  const text = `${content.title ?? (channel === "sms" && content.body ? "" : title)}${content.body ?? body}`;
  return text.includes("{%") || text.includes("<") || isBlank(text.replaceAll(/\{\{.*?\}\}/gs, ""));
}
