// Whose message by another channel than mail has no text, asked before anything is sent.
import { ownContent, saidBy } from "../../../rules/channel-content.ts";
import { type ChannelType, classOf } from "../../../rules/channel-types.ts";
import { isBlank } from "../../../rules/characters.ts";
import { compileTemplate, type RenderScope } from "../../../rules/render.ts";
import { chatAppOf } from "../../channels/chat-app-content.ts";
import type { Job } from "../jobs/job-record.ts";
import { type Arm, attempted } from "./arms.ts";
import { rendererOf, type Texts } from "./texts.ts";

/**
 * Whether a message by a channel other than mail has no text, and so fails.
 * @param isTemplate an approved template of the chat app stands in place of its texts
 */
export const isTextless = ({ title, body }: Pick<Texts, "title" | "body">, isTemplate: boolean): boolean =>
  !isTemplate && isBlank(title + body);

type SaidByAll = Parameters<typeof rendererOf>[0] & Pick<Job, "chat_app">;

/** Whether what a channel other than mail says to somebody would have no text. An image or a button alone is shown in an inbox. */
export function textless(job: SaidByAll, now: number): (arm: Arm, scope: RenderScope, channel: ChannelType) => boolean {
  const renderer = rendererOf(job, now, undefined);
  const kept = new Map<string, boolean>();
  const mayBe = (arm: Arm, channel: ChannelType): boolean => {
    const key = `${arm} ${channel}`;
    const isPossible = kept.get(key) ?? mayBeBlank(job, arm, channel);
    kept.set(key, isPossible);
    return isPossible;
  };
  return (arm, scope, channel) => {
    const template = channel === "chat_app" ? chatAppOf(job, arm) : undefined;
    if (template) return template.parameters.some((text) => isBlankFor(text, scope, now));
    if (channel === "email" || !mayBe(arm, channel)) return false;
    const words = renderer.renderScope(arm, scope, channel);
    if (!words) return false;
    const { data, inApp } = words;
    const hasMore = data !== undefined || inApp?.image_url !== undefined || (inApp?.actions ?? []).length > 0;
    return !(channel === "in_app" && hasMore) && isTextless(words, false);
  };
}

/** What cannot be rendered is no blank text: it fails by itself. */
const isBlankFor = (text: string, scope: RenderScope, now: number): boolean =>
  attempted(() => isBlank(compileTemplate(text).render(scope, { now, escape: "none" }).text)) ?? false;

/** Without a word beside its placeholders, or with a condition or a tag around it: only then it is rendered for each. */
function mayBeBlank(job: SaidByAll, arm: Arm, channel: ChannelType): boolean {
  const { title, body, by_channel } = saidBy(job, arm);
  const own: { title?: string | undefined; body?: string | undefined } = Object(
    ownContent(by_channel, classOf(channel)).content,
  );
  const text = `${own.title ?? (channel === "sms" && own.body ? "" : title)}${own.body ?? body}`;
  return text.includes("{%") || text.includes("<") || isBlank(text.replaceAll(/\{\{.*?\}\}/gs, ""));
}
