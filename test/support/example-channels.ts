// What the examples of channels need: a channel of the right type, key files, a signed callback.
import { createHmac } from "node:crypto";
import { type ProvidedChannel, providedChannels } from "../../shared/rules/channel-types.ts";
import { channels } from "../../shared/rules/channels.ts";
import { APPLE_KEY, CHAT_APP, channelCalls, GOOGLE_KEY } from "./channels.ts";
import type { Setting, Settings } from "./example-settings.ts";
import type { Tenant, TestWorld } from "./world.ts";

export async function channelSettings(world: TestWorld, tenant: Tenant): Promise<Settings> {
  const { create, upload, call } = await channelCalls(world, tenant);
  const chatApp = await create("chat_app");
  await upload(chatApp, "chat_app");
  const template = async (...actions: string[]) => {
    const body = { name: `order ${world.ids.uuid()}`, body: "Your order {{1}} is on its way.", category: "UTILITY" };
    const { id } = (await call(`POST /${chatApp}/chat-app-templates`, { body })).body;
    for (const action of actions) await call(`POST /${chatApp}/chat-app-templates/${id}/${action}`);
    return id;
  };
  const of =
    (type: string, more: Setting = {}) =>
    async (): Promise<Setting> => ({ params: { id: await create(type) }, ...more });
  const file = (content: string) => ({ name: "key_file", filename: "key", content });
  const files: Partial<Record<ProvidedChannel, Setting>> = {
    ios: { file: file(APPLE_KEY) },
    android: { file: file(JSON.stringify(GOOGLE_KEY)) },
  };
  const callback = Buffer.from(JSON.stringify({ object: "whatsapp_business_account", entry: [] }));
  const signature = `sha256=${createHmac("sha256", CHAT_APP.app_secret).update(callback).digest("hex")}`;
  const credentials = "POST /api/v1/channels/:id/credentials";
  const templates = "POST /api/v1/channels/:id/chat-app-templates";
  return {
    ...Object.fromEntries(
      providedChannels.map((type) => [`${credentials}/${channels[type].credentials.path}`, of(type, files[type])]),
    ),
    "POST /api/v1/channels/:id/verify": () => ({ params: { id: chatApp } }),
    "PATCH /api/v1/channels/:id": of("sms"),
    "DELETE /api/v1/channels/:id": of("sms"),
    [templates]: () => ({ params: { id: chatApp } }),
    [`${templates}/:templateId/submit`]: async () => ({ params: { id: chatApp, templateId: await template() } }),
    [`${templates}/:templateId/refresh`]: async () => ({
      params: { id: chatApp, templateId: await template("submit") },
    }),
    "GET /v1/inbound/chat-app/:channelId": () => ({
      params: { channelId: chatApp },
      query: { "hub.verify_token": CHAT_APP.webhook_verify_token },
    }),
    "POST /v1/inbound/chat-app/:channelId": () => ({
      params: { channelId: chatApp },
      raw: callback,
      headers: { "content-type": "application/json", "x-hub-signature-256": signature },
    }),
  };
}
