// Applies a callback: stores verdicts and opt-outs. A repeated callback changes nothing.

import { timestamp } from "../../../shared/kernel/clock.ts";
import { isOptOut, verdictOf } from "../../../shared/rules/chat-app-template-states.ts";
import {
  chatAppTemplateId,
  findChatAppTemplate,
  noteVerdict,
} from "../../../shared/store/channels/chat-app-templates.ts";
import type { Store } from "../../../shared/store/context.ts";
import { happened } from "../../../shared/store/refusals.ts";
import { addressId } from "../../../shared/store/subscribers/address-items.ts";
import { optOutWrite } from "../../../shared/store/subscribers/addresses.ts";
import { recordOptOut } from "../../../shared/store/subscribers/consents.ts";
import { findByPhone } from "../../../shared/store/subscribers/phones.ts";
import type { ReceivedMessage, ReportedVerdict } from "./callback.ts";

/** D-WAT. In the order of the callback, because a verdict may replace the one before it. */
export async function storeVerdicts(
  store: Store,
  channel: string,
  verdicts: readonly ReportedVerdict[],
): Promise<void> {
  for (const { provider_template_id, name, language, status, reason, at } of verdicts) {
    const verdict = verdictOf(status, reason);
    const template = await findChatAppTemplate(store, channel, chatAppTemplateId(channel, name, language));
    const providerId = template?.provider_template_id;
    // Compared as numbers: some of these ids have more digits than a JSON number represents exactly.
    if (template && verdict && providerId !== undefined && Number(providerId) === Number(provider_template_id))
      await noteVerdict(store, template, providerId, verdict, at);
  }
}

/** AMB-90: opts out every subscriber that has the phone number, and the number for who gets it later (AMB-130). */
export async function storeOptOuts(store: Store, messages: readonly ReceivedMessage[]): Promise<void> {
  for (const { id, phone, text, at } of messages.filter((message) => isOptOut(message.text))) {
    const address = { id: addressId("phone", phone), text: phone };
    await happened(store.transact([optOutWrite("phone", address, "chat_app", timestamp(at))]));
    for (const subscriber of await findByPhone(store, phone))
      await recordOptOut(store, subscriber, { channel: "chat_app", message: id, text, at });
  }
}
