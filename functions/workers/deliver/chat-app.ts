// What goes out by the chat app in place of texts: an approved template, filled for each recipient (AMB-90, D-WAT).
import type { Outgoing } from "../../../shared/providers/provider.ts";
import { scopeOf } from "../../../shared/providers/texts.ts";
import { providerName } from "../../../shared/rules/chat-app-template-states.ts";
import { compileTemplate, isRenderError } from "../../../shared/rules/render.ts";
import type { ChatAppContent } from "../../../shared/store/channels/chat-app-content.ts";
import { keys } from "../../../shared/store/keys.ts";
import type { Item } from "../../../shared/store/model.ts";
import type { JobItem } from "../../../shared/store/sends/jobs.ts";
import type { WorkerContext } from "./rounds.ts";

export type FilledTemplate = Required<Pick<Outgoing, "template">>;

/** The template filled for somebody; undefined if it cannot be rendered for them, now or ever. */
export type TemplateRenderer = (profile: Item) => FilledTemplate | undefined;

/** @returns undefined unless the template is approved at this moment. */
export async function templateRenderer(
  store: WorkerContext["store"],
  channel: string,
  { template_id, parameters }: ChatAppContent,
  job: JobItem,
  now: number,
): Promise<TemplateRenderer | undefined> {
  const template = await store.get(keys.chatAppTemplate(store.tenant, channel, template_id));
  if (template?.status !== "approved") return undefined;
  const spelled = { name: providerName(String(template.name)), language: String(template.language) };
  const compiled = parameters.map(compileTemplate);
  return (profile) => {
    const scope = scopeOf(profile, job, undefined);
    try {
      const texts = compiled.map((parameter) => parameter.render(scope, { now, escape: "none" }).text);
      return { template: { ...spelled, parameters: texts } };
    } catch (error) {
      if (isRenderError(error)) return undefined;
      throw error;
    }
  };
}
