// The content of chat-app messages: an approved template, filled for each recipient (AMB-90, D-WAT).
import { isBlank } from "../rules/characters.ts";
import { providerName } from "../rules/chat-app-template-states.ts";
import type { SendOutcome } from "../rules/progress.ts";
import { compileTemplate, isRenderError } from "../rules/render.ts";
import { chatAppOf } from "../store/channels/chat-app-content.ts";
import { ChatAppTemplateItem } from "../store/channels/items.ts";
import type { StoreReader } from "../store/context.ts";
import { type Arm, type Event, scopeOf } from "../store/sends/content/arms.ts";
import type { Job } from "../store/sends/jobs/job-record.ts";
import type { LivingProfile } from "../store/subscribers/subscribers.ts";
import { type OutgoingMessage, rejected } from "./provider.ts";

type FilledTemplate = NonNullable<OutgoingMessage["template"]>;

/**
 * The template filled for a subscriber; undefined if it cannot be rendered for them, now or later, or a text is blank.
 */
export type TemplateRenderer = (profile: LivingProfile) => FilledTemplate | undefined;

/** Makes the renderer. @returns undefined unless the template of the send is approved at this moment */
export async function templateRenderer(
  store: StoreReader,
  job: Pick<Job, "deliverySettings" | "chat_app" | "title" | "body" | "by_channel" | "variant_b" | "data">,
  { arm, now, event }: { arm: Arm; now: number; event: Event },
): Promise<TemplateRenderer | undefined> {
  const channel = job.deliverySettings?.via.find(({ type }) => type === "chat_app");
  const content = chatAppOf(job, arm);
  if (!channel || !content) return undefined;
  const { template_id, parameters } = content;
  const template = await store.get(ChatAppTemplateItem, { channel: channel.id, id: template_id });
  if (template?.status !== "approved") return undefined;
  const name = providerName(template.name);
  const { language } = template;
  const compiled = parameters.map(compileTemplate);
  return (profile) => {
    const scope = scopeOf(profile, job, event);
    try {
      const texts = compiled.map((parameter) => parameter.render(scope, { now, escape: "none" }).text);
      // The provider refuses variables without a text.
      return texts.some(isBlank) ? undefined : { name, language, parameters: texts };
    } catch (error) {
      if (isRenderError(error)) return undefined;
      throw error;
    }
  };
}

/** The approved template filled for a recipient, or the outcome of the message. */
export function filledTemplate(
  fill: TemplateRenderer | undefined,
  profile: LivingProfile,
): { kind: "filled"; template: FilledTemplate } | { kind: "unfilled"; outcome: SendOutcome } {
  if (!fill) return { kind: "unfilled", outcome: { kind: "skipped", reason: "template_not_approved" } };
  const template = fill(profile);
  return template ? { kind: "filled", template } : { kind: "unfilled", outcome: rejected("template_error") };
}
