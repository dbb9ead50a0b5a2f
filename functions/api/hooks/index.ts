// Webhook endpoints for integrations, by server key, and sample data of each event type.
import * as v from "valibot";
import { grammar } from "../../../shared/contract/grammar.ts";
import { TargetUrl } from "../../../shared/contract/webhook-input.ts";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { requireTarget } from "../../../shared/http/webhook-target.ts";
import { notFound } from "../../../shared/kernel/errors.ts";
import { webhookEvents, webhookSamples } from "../../../shared/rules/webhook-events.ts";
import { egress } from "../../../shared/runtime/resources.ts";
import { secrets } from "../../../shared/store/capabilities.ts";
import { storeRead, storeWrite } from "../../../shared/store/context.ts";
import { Webhook } from "../../../shared/store/webhooks/items.ts";
import { createWebhook, deleteWebhook, listWebhooks } from "../../../shared/store/webhooks/webhooks.ts";

const { id, target_url, events } = Webhook.entries;
const Hook = v.object({ id, target_url, events });

const endpoint = endpoints({ credentials: ["server"], uses: [] });

export const hooks = group("hooks", "Webhook endpoints for integrations.", [
  endpoint(
    "POST /v1/hooks",
    { scope: "hooks:write", feature: "webhooks", uses: [storeWrite, secrets, egress] },
    {
      summary: "Create a webhook endpoint",
      description: "The `secret` signs every delivery and is shown only here.",
      body: v.strictObject({ target_url: TargetUrl, events }),
      returns: v.object({ ...Hook.entries, secret: v.string() }),
      status: 201,
      example: { body: { target_url: "https://example.com/hooks", events: ["notification.terminal"] } },
    },
    async ({ store, secrets, egress, body }) => {
      requireTarget(egress, body.target_url);
      return createWebhook(store, secrets, body);
    },
  ),

  endpoint(
    "GET /v1/hooks",
    { scope: "hooks:read", uses: [storeRead] },
    { summary: "List webhook endpoints, oldest first; secrets are never shown again", returns: v.array(Hook) },
    ({ store }) => listWebhooks(store),
  ),

  endpoint(
    "DELETE /v1/hooks/:id",
    { scope: "hooks:write", uses: [storeWrite] },
    { summary: "Delete a webhook endpoint: nothing more is delivered to it" },
    ({ store, params }) => deleteWebhook(store, params.id),
  ),

  endpoint(
    "GET /v1/hooks/samples/:event",
    { scope: "hooks:read" },
    {
      summary: "Get sample data of an event type",
      example: { params: { event: "notification.terminal" } },
      returns: v.array(v.pipe(v.record(v.string(), v.any()), grammar("WebhookData"))),
    },
    async ({ params }) => {
      const event = webhookEvents.find((found) => found === params.event);
      if (!event) throw notFound("event type");
      return [webhookSamples[event]];
    },
  ),
]);
