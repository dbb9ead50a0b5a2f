// Webhook endpoints for integrations, by server key, and samples of what they will be sent.
import * as v from "valibot";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { notFound } from "../../../shared/http/errors.ts";
import { Events, requireTarget, TargetUrl } from "../../../shared/http/webhook-input.ts";
import { egress, secrets, storeWrite } from "../../../shared/resources.ts";
import { webhookEvents, webhookSamples } from "../../../shared/rules/webhook-events.ts";
import { createWebhook, deleteWebhook, listWebhooks, webhookSecret } from "../../../shared/store/webhooks/webhooks.ts";

const Hook = v.object({ id: v.string(), target_url: v.string(), events: Events });

const endpoint = endpoints({ credentials: ["server"], uses: [storeWrite] });

export const hooks = group("hooks", "Webhook endpoints for integrations.", [
  endpoint(
    "POST /v1/hooks",
    { scope: "hooks:write", feature: "webhooks", uses: [secrets, egress] },
    {
      summary: "Create a webhook endpoint",
      description: "The `secret` signs every delivery and is shown only here.",
      body: v.strictObject({ target_url: TargetUrl, events: Events }),
      returns: v.object({ ...Hook.entries, secret: v.string() }),
      status: 201,
      example: { body: { target_url: "https://example.com/hooks", events: ["notification.terminal"] } },
    },
    async ({ store, secrets, egress, tenant, body }) => {
      requireTarget(egress, body.target_url);
      const { id, target_url, events, secret } = await createWebhook(store, body);
      return { id, target_url, events, secret: webhookSecret(await secrets.root(), tenant, id, secret.version) };
    },
  ),

  endpoint(
    "GET /v1/hooks",
    { scope: "hooks:read" },
    { summary: "List webhook endpoints, oldest first; secrets are never shown again", returns: v.array(Hook) },
    async ({ store }) => (await listWebhooks(store)).map(({ id, target_url, events }) => ({ id, target_url, events })),
  ),

  endpoint(
    "DELETE /v1/hooks/:id",
    { scope: "hooks:write" },
    { summary: "Delete a webhook endpoint: nothing more is delivered to it", errors: ["NOT_FOUND"] },
    async ({ store, params }) => deleteWebhook(store, params.id),
  ),

  endpoint(
    "GET /v1/hooks/samples/:event",
    { scope: "hooks:read" },
    {
      summary: "Get sample data of an event type",
      returns: v.array(v.record(v.string(), v.any())),
      errors: ["NOT_FOUND"],
    },
    async ({ params }) => {
      const event = webhookEvents.find((found) => found === params.event);
      if (!event) throw notFound("event type");
      return [webhookSamples[event]];
    },
  ),
]);
