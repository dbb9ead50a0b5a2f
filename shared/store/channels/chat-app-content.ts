// The content of chat-app messages: an approved template and the values of its variables (AMB-90).
import { ApiError, invalid } from "../../kernel/errors.ts";
import { type ByChannel, type Says, saidBy } from "../../rules/channel-content.ts";
import { variablesOf } from "../../rules/chat-app-template-states.ts";
import type { StoreReader } from "../context.ts";
import { type ChannelRow, ChatAppTemplateItem } from "./items.ts";

/** The fields of a request. */
interface ChatAppInput {
  chat_app_template_id?: string | undefined;
  chat_app_parameters?: string[] | undefined;
}

export interface ChatAppContent {
  template_id: string;
  /** Personalised texts, one for each variable of the template. */
  parameters: string[];
}

export const chatAppContentOf = ({ chat_app_template_id, chat_app_parameters = [] }: ChatAppInput) =>
  chat_app_template_id === undefined
    ? undefined
    : ({ template_id: chat_app_template_id, parameters: chat_app_parameters } satisfies ChatAppContent);

/** The chat-app content of an arm: in `content`, else in the fields of the request. */
export function chatAppOf(
  job: Says & { chat_app?: ChatAppContent | undefined },
  arm: "a" | "b" | undefined,
): ChatAppContent | undefined {
  const said = saidBy(job, arm).by_channel.chat_app;
  return said ? { template_id: said.template_id, parameters: said.parameters ?? [] } : job.chat_app;
}

type ChatAppFields = Parameters<typeof chatAppOf>[0];

/** Whether the chat app may send to an arm now: a plain text, or an approved template. */
export async function chatAppAllowance(
  store: StoreReader,
  via: readonly { id: string; type: string }[],
  said: ChatAppFields,
): Promise<(arm: "a" | "b" | undefined) => boolean> {
  const channel = via.find(({ type }) => type === "chat_app");
  const arms = [undefined, "a", "b"] as const;
  const templates = [...new Set(arms.flatMap((arm) => chatAppOf(said, arm)?.template_id ?? []))];
  if (!channel || templates.length === 0) return () => true;
  const keys = templates.map((id) => ({ channel: channel.id, id }));
  const rows = await store.getAll(ChatAppTemplateItem, keys);
  const approved = new Set(templates.filter((_, i) => rows[i]?.status === "approved"));
  return (arm) => {
    const content = chatAppOf(said, arm);
    return !content || approved.has(content.template_id);
  };
}

/** The request fields for this content. */
export const chatAppInputOf = (content: ChatAppContent | undefined): ChatAppInput =>
  content ? { chat_app_template_id: content.template_id, chat_app_parameters: content.parameters } : {};

const UNKNOWN_TEMPLATE = "no such template in the chat_app channels of this send";

/** The chat-app content of a request, as fields of its own or as part of its content. */
interface ChatAppRequest extends ChatAppInput {
  content?: { by_channel?: ByChannel | undefined } | undefined;
  variant_b?: { by_channel?: ByChannel | undefined } | undefined;
}

/**
 * Requires that each template belongs to one of the channels, and has one text for each of its variables. Its approval
 * is checked when it is sent. @throws 422 TEMPLATE_NOT_FOUND, 422 naming the parameters
 */
export async function requireChatAppContent(
  store: StoreReader,
  channels: readonly ChannelRow[],
  input: ChatAppRequest,
  path = "",
): Promise<void> {
  const { chat_app_template_id, chat_app_parameters, content, variant_b } = input;
  if (chat_app_parameters && chat_app_template_id === undefined)
    throw invalid({ [`${path}chat_app_parameters`]: "needs chat_app_template_id" });
  if (content?.by_channel?.chat_app && chat_app_template_id !== undefined)
    throw invalid({ [`${path}chat_app_template_id`]: "must not be combined with content.by_channel.chat_app" });
  const chatApp = chatAppContentOf(input);
  if (chatApp) await requireFilled(store, channels, chatApp, `${path}chat_app_`);
  for (const [name, said] of [
    ["content", content],
    ["variant_b", variant_b],
  ] as const) {
    const { template_id, parameters = [] } = said?.by_channel?.chat_app ?? {};
    const at = `${path}${name}.by_channel.chat_app.`;
    if (template_id !== undefined) await requireFilled(store, channels, { template_id, parameters }, at);
  }
}

async function requireFilled(
  store: StoreReader,
  channels: readonly ChannelRow[],
  { template_id, parameters }: ChatAppContent,
  path: string,
): Promise<void> {
  const chatApps = channels.filter(({ type }) => type === "chat_app");
  const keys = chatApps.map((channel) => ({ channel: channel.id, id: template_id }));
  const rows = await store.getAll(ChatAppTemplateItem, keys);
  const template = rows.find(Boolean);
  if (!template) {
    const field = `${path}template_id`;
    throw new ApiError("TEMPLATE_NOT_FOUND", `${field}: ${UNKNOWN_TEMPLATE}`, {
      fields: { [field]: UNKNOWN_TEMPLATE },
    });
  }
  const variables = variablesOf(template.body);
  if (parameters.length !== variables)
    throw invalid({ [`${path}parameters`]: `must be ${variables}, one for each variable of the template` });
}
