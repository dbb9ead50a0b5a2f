// What goes out by the chat app in place of title and body: an approved template and what fills it (AMB-90).
import { ApiError, invalid } from "../../http/errors.ts";
import type { StoreReader } from "../../resources.ts";
import { variablesOf } from "../../rules/chat-app-template-states.ts";
import { keys } from "../keys.ts";
import type { Channel } from "./channels.ts";

/** As clients say it. */
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

/** The other way round. */
export const chatAppInputOf = (content: ChatAppContent | undefined): ChatAppInput =>
  content ? { chat_app_template_id: content.template_id, chat_app_parameters: content.parameters } : {};

/**
 * The template is one of these channels', and as many texts are given as it has variables. Whether it is approved is
 * looked at when it is sent.
 * @throws 422 TEMPLATE_NOT_FOUND, 422 naming `chat_app_parameters`.
 */
export async function requireChatAppContent(
  store: StoreReader,
  channels: readonly Channel[],
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
  const rows = await store.getAll(chatApps.map(({ id }) => keys.chatAppTemplate(store.tenant, id, template_id)));
  const template = rows.find(Boolean);
  if (!template) {
    const message = `${path}chat_app_template_id: no such template in the chat_app channels of this send`;
    throw new ApiError("TEMPLATE_NOT_FOUND", message, {
      fields: { [`${path}chat_app_template_id`]: "no such template in the chat_app channels of this send" },
    });
  }
  const variables = variablesOf(String(template.body));
  if (parameters.length !== variables)
    throw invalid({ [`${path}chat_app_parameters`]: `must be ${variables}, one for each variable of the template` });
}
