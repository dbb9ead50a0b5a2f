// What the chat app sends in place of title and body: an approved template and the values of its variables (AMB-90).
import { ApiError, invalid } from "../../http/errors.ts";
import type { StoreReader } from "../../resources.ts";
import { variablesOf } from "../../rules/chat-app-template-states.ts";
import { type ChannelRow, ChatAppTemplateItem } from "./items.ts";

/** The fields of a request. */
export interface ChatAppInput {
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

/** The fields of a request that give this content. */
export const chatAppInputOf = (content: ChatAppContent | undefined): ChatAppInput =>
  content ? { chat_app_template_id: content.template_id, chat_app_parameters: content.parameters } : {};

const UNKNOWN_TEMPLATE = "no such template in the chat_app channels of this send";

/**
 * Requires that the template belongs to one of the channels, and that there is one text for each of its variables.
 * Whether it is approved is checked when it is sent.
 * @throws 422 TEMPLATE_NOT_FOUND, 422 naming `chat_app_parameters`.
 */
export async function requireChatAppContent(
  store: StoreReader,
  channels: readonly ChannelRow[],
  input: ChatAppInput,
  path = "",
): Promise<void> {
  const content = chatAppContentOf(input);
  if (!content) {
    if (input.chat_app_parameters) throw invalid({ [`${path}chat_app_parameters`]: "needs chat_app_template_id" });
    return;
  }
  const { template_id, parameters } = content;
  const chatApps = channels.filter(({ type }) => type === "chat_app");
  const rows = await store.getAll(
    ChatAppTemplateItem,
    chatApps.map((channel) => ({ channel: channel.id, id: template_id })),
  );
  const template = rows.find(Boolean);
  if (!template) {
    const field = `${path}chat_app_template_id`;
    throw new ApiError("TEMPLATE_NOT_FOUND", `${field}: ${UNKNOWN_TEMPLATE}`, {
      fields: { [field]: UNKNOWN_TEMPLATE },
    });
  }
  const variables = variablesOf(template.body);
  if (parameters.length !== variables)
    throw invalid({ [`${path}chat_app_parameters`]: `must be ${variables}, one for each variable of the template` });
}
