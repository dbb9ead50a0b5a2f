// What the chat app sends in place of texts: an approved template, filled for each recipient (AMB-90, D-WAT).

import { type Arm, scopeOf } from "../../../shared/providers/arms.ts";
import type { Outgoing } from "../../../shared/providers/provider.ts";
import { providerName } from "../../../shared/rules/chat-app-template-states.ts";
import { compileTemplate, isRenderError } from "../../../shared/rules/render.ts";
import { chatAppOf } from "../../../shared/store/channels/chat-app-content.ts";
import { ChatAppTemplateItem } from "../../../shared/store/channels/items.ts";
import type { Job } from "../../../shared/store/sends/jobs.ts";
import type { LivingProfile } from "../../../shared/store/subscribers/subscribers.ts";
import type { WorkerContext } from "./rounds.ts";

export type FilledTemplate = Required<Pick<Outgoing, "template">>;

/** The template filled for a subscriber; undefined if it cannot be rendered for them, now or later. */
export type TemplateRenderer = (profile: LivingProfile) => FilledTemplate | undefined;

/** @returns undefined unless the template of the send is approved at this moment. */
export async function templateRenderer(
  store: WorkerContext["store"],
  job: Job,
  arm: Arm,
  now: number,
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
    const scope = scopeOf(profile, job, undefined);
    try {
      const texts = compiled.map((parameter) => parameter.render(scope, { now, escape: "none" }).text);
      return { template: { name, language, parameters: texts } };
    } catch (error) {
      if (isRenderError(error)) return undefined;
      throw error;
    }
  };
}
