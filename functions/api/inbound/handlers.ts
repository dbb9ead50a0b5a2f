// What follows from a callback: verdicts are noted, opt-outs recorded, each however often it comes.

import type { Store } from "../../../shared/resources.ts";
import { isOptOut, verdictOf } from "../../../shared/rules/chat-app-template-states.ts";
import {
  chatAppTemplateId,
  findChatAppTemplate,
  noteVerdict,
} from "../../../shared/store/channels/chat-app-templates.ts";
import { recordOptOut } from "../../../shared/store/subscribers/consents.ts";
import { findByPhone } from "../../../shared/store/subscribers/phones.ts";
import type { SaidMessage, SaidVerdict } from "./callback.ts";

/** D-WAT. In the order they came, for one may follow on another. */
export async function takeVerdicts(store: Store, channel: string, verdicts: readonly SaidVerdict[]): Promise<void> {
  for (const { provider_template_id, name, language, word, reason, at } of verdicts) {
    const verdict = verdictOf(word, reason);
    const template = await findChatAppTemplate(store, channel, chatAppTemplateId(channel, name, language));
    const providerId = template?.provider_template_id;
    // Compared as numbers: some of these ids are longer than a number of JSON can say exactly.
    if (template && verdict && providerId !== undefined && Number(providerId) === Number(provider_template_id))
      await noteVerdict(store, template, providerId, verdict, at);
  }
}

/** AMB-90: whoever has this number is left alone from now on, be it one subscriber or several. */
export async function takeMessages(store: Store, messages: readonly SaidMessage[]): Promise<void> {
  for (const { id, phone, text, at } of messages.filter((message) => isOptOut(message.text)))
    for (const subscriber of await findByPhone(store, phone))
      await recordOptOut(store, subscriber, { channel: "chat_app", message: id, text, at });
}
