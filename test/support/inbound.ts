// A chat-app channel of a workspace, and the callbacks that its provider sends.
import { createHmac } from "node:crypto";
import { CHAT_APP, channelCalls } from "./channels.ts";
import { type Headers, START, type Tenant, type TestWorld } from "./world.ts";

const PHONE = "+4915123456789";

/** A workspace whose channel takes callbacks, with its people, who have one phone number unless said otherwise. */
export async function inboundIn({ world, tenant }: { world: TestWorld; tenant: Tenant }) {
  const calls = await channelCalls(world, tenant);
  const id = await calls.create("chat_app");
  await calls.upload(id, "chat_app", { body: CHAT_APP });
  const post = (payload: unknown, { secret = CHAT_APP.app_secret, channel = id, headers = {} as Headers } = {}) => {
    const raw = Buffer.from(typeof payload === "string" ? payload : JSON.stringify(payload));
    const signature = `sha256=${createHmac("sha256", secret).update(raw).digest("hex")}`;
    return world.call(`POST /v1/inbound/chat-app/${channel}`, {
      headers: { "content-type": "application/json", "x-hub-signature-256": signature, ...headers },
      raw,
    });
  };
  const person = async (external_id: string, phone: string | null = PHONE): Promise<string> =>
    await tenant.upsert({ external_id, attributes: { phone } });
  const consents = async (subscriber: string) =>
    (await tenant.call(`GET /api/v1/subscribers/${subscriber}/consents`)).body.items;
  return { world, tenant, id, ...calls, post, person, consents };
}

/** Now, in seconds, as the provider says it. */
export const at = START / 1_000;
export const changed = (field: string, value: object, more: object = {}) => ({
  object: "whatsapp_business_account",
  entry: [{ id: CHAT_APP.waba_id, time: at, changes: [{ field, value }], ...more }],
});
/** A message of a person. @param more its kind and what it says */
export const received = (more: object, { id = "wamid.1", from = PHONE.slice(1), seconds = at } = {}) =>
  changed("messages", {
    messaging_product: "whatsapp",
    metadata: { display_phone_number: "15550100", phone_number_id: CHAT_APP.phone_number_id },
    messages: [{ from, id, timestamp: String(seconds), ...more }],
  });
export const wrote = (text: string, options: Parameters<typeof received>[1] = {}) =>
  received({ type: "text", text: { body: text } }, options);
/** The review of a template. */
export const reviewed = (event: string, template: string, { reason = "NONE", time = at } = {}) =>
  changed(
    "message_template_status_update",
    {
      event,
      reason,
      message_template_id: Number(template),
      message_template_name: "order_shipped",
      message_template_language: "en_US",
    },
    { time },
  );
