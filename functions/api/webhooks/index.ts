// Webhook endpoints on the dashboard: the same collection as /v1/hooks, with their delivery log (D-HOOKS, AMB-100).
import * as v from "valibot";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { conflict, invalid, notFound } from "../../../shared/http/errors.ts";
import { limit, openCursor, sealCursor } from "../../../shared/http/paging.ts";
import { Timestamp, TimestampInput } from "../../../shared/http/schemas.ts";
import { Events, requireTarget, TargetUrl } from "../../../shared/http/webhook-input.ts";
import { egress, secrets, storeRead, storeWrite } from "../../../shared/resources.ts";
import { webhookEvents, webhookSamples } from "../../../shared/rules/webhook-events.ts";
import type { Key } from "../../../shared/store/model.ts";
import {
  type DeliveryItem,
  deliveryOutcomes,
  findDelivery,
  listDeliveries,
  listLog,
  noteDeliveries,
  reopenDelivery,
} from "../../../shared/store/webhooks/deliveries.ts";
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhooks,
  rotateSecret,
  type WebhookItem,
  webhookSecret,
} from "../../../shared/store/webhooks/webhooks.ts";

/** Deliveries that one replay opens again; the answer says where the next one begins. */
const MAX_REPLAYED = 1_000;

const Webhook = v.object({
  id: v.string(),
  target_url: v.string(),
  events: Events,
  description: v.nullable(v.string()),
  active: v.boolean(),
  consecutive_failures: v.number(),
  disabled_at: v.nullable(Timestamp),
  created_at: Timestamp,
  updated_at: Timestamp,
});
const Description = v.nullable(v.pipe(v.string("must be a string"), v.maxLength(500)));
const Event = v.picklist(webhookEvents, `must be one of ${webhookEvents.join(", ")}`);
const Outcome = v.picklist(deliveryOutcomes, `must be one of ${deliveryOutcomes.join(", ")}`);

const Delivery = v.object({
  id: v.string(),
  event_type: Event,
  payload: v.nullable(v.record(v.string(), v.any())),
  outcome: Outcome,
  attempt_count: v.number(),
  last_status_code: v.nullable(v.number()),
  attempts: v.array(
    v.object({
      n: v.number(),
      at: Timestamp,
      status_code: v.nullable(v.number()),
      error: v.nullable(v.string()),
      duration_ms: v.number(),
    }),
  ),
  created_at: Timestamp,
});

const shown = ({ secret, firstFailureAt, ...webhook }: WebhookItem) => webhook;

const reading = endpoints({ credentials: ["dashboard"], uses: [storeRead] });
const managing = endpoints({ credentials: ["dashboard"], permission: "credentials:manage", uses: [storeWrite] });

export const webhooks = group("webhooks", "Webhook endpoints and their delivery log.", [
  reading(
    "GET /api/v1/webhooks",
    {},
    { summary: "List webhook endpoints, oldest first", returns: v.object({ items: v.array(Webhook) }) },
    async ({ store }) => ({ items: (await listWebhooks(store)).map(shown) }),
  ),

  managing(
    "POST /api/v1/webhooks",
    { feature: "webhooks", uses: [secrets, egress] },
    {
      summary: "Create a webhook endpoint",
      description: "The `secret` signs every delivery and is shown only here.",
      body: v.strictObject({ target_url: TargetUrl, events: Events, description: v.optional(Description) }),
      returns: v.object({ ...Webhook.entries, secret: v.string() }),
      status: 201,
      example: { body: { target_url: "https://example.com/hooks", events: ["notification.terminal"] } },
    },
    async ({ store, secrets, egress, tenant, body }) => {
      requireTarget(egress, body.target_url);
      const webhook = await createWebhook(store, body);
      const secret = webhookSecret(await secrets.root(), tenant, webhook.id, webhook.secret.version);
      return { ...shown(webhook), secret };
    },
  ),

  reading(
    "GET /api/v1/webhooks/:id",
    {},
    { summary: "Get a webhook endpoint", returns: Webhook, errors: ["NOT_FOUND"] },
    async ({ store, params }) => shown(await getWebhook(store, params.id)),
  ),

  managing(
    "PATCH /api/v1/webhooks/:id",
    { uses: [egress] },
    {
      summary: "Change a webhook endpoint, or switch it on again",
      body: v.strictObject({
        target_url: v.optional(TargetUrl),
        events: v.optional(Events),
        active: v.optional(v.boolean("must be true or false")),
        description: v.optional(Description),
      }),
      returns: Webhook,
      errors: ["NOT_FOUND"],
    },
    async ({ store, egress, params, body }) => {
      if (body.target_url !== undefined) requireTarget(egress, body.target_url);
      return shown(await changeWebhook(store, params.id, body));
    },
  ),

  managing(
    "DELETE /api/v1/webhooks/:id",
    {},
    { summary: "Delete a webhook endpoint: nothing more is delivered to it", errors: ["NOT_FOUND"] },
    async ({ store, params }) => deleteWebhook(store, params.id),
  ),

  managing(
    "POST /api/v1/webhooks/:id/secret/rotate",
    { uses: [secrets] },
    {
      summary: "Make a new secret",
      description: "For 24 hours the old one also signs, in the header `X-Service-Signature-Previous`.",
      returns: v.object({ secret: v.string() }),
      errors: ["NOT_FOUND"],
    },
    async ({ store, secrets, tenant, params }) => {
      const { id, secret } = await rotateSecret(store, params.id);
      return { secret: webhookSecret(await secrets.root(), tenant, id, secret.version) };
    },
  ),

  managing(
    "POST /api/v1/webhooks/:id/test",
    {},
    {
      summary: "Send a sample event to the endpoint",
      body: v.strictObject({ event: Event }),
      returns: v.object({ delivery_id: v.string() }),
      status: 202,
      errors: ["NOT_FOUND", "CONFLICT"],
    },
    async ({ store, params, body: { event }, clock, ids }) => {
      const { id: webhook, active } = await getWebhook(store, params.id);
      if (!active) throw conflict("This endpoint is switched off.");
      const occurrence = { event, key: `test:${ids.uuid()}`, at: clock.now(), data: webhookSamples[event] };
      const [delivery_id] = await noteDeliveries(store, [{ webhook, occurrence }]);
      return { delivery_id };
    },
  ),

  reading(
    "GET /api/v1/webhooks/:id/deliveries",
    { uses: [secrets] },
    {
      summary: "List deliveries of the last 30 days, newest first",
      query: v.object({
        cursor: v.optional(v.string()),
        limit: limit(20, 100),
        outcome: v.optional(Outcome),
        event_type: v.optional(Event),
      }),
      returns: v.object({ items: v.array(Delivery), next_cursor: v.string() }),
      errors: ["NOT_FOUND"],
    },
    async ({ store, secrets, params, query: { cursor, ...filter } }) => {
      const { id } = await getWebhook(store, params.id);
      const root = await secrets.root();
      const scope = `deliveries:${store.tenant}:${id}`;
      const after = cursor === undefined ? undefined : (openCursor(root, scope, cursor) as Key);
      const { log, next } = await listLog(store, id, { ...filter, after });
      const items = log.map(({ delivery, payload }) => ({ ...visible(delivery), payload }));
      return { items, next_cursor: next ? sealCursor(root, scope, next) : "" };
    },
  ),

  managing(
    "POST /api/v1/webhooks/:id/deliveries/:deliveryId/redeliver",
    {},
    {
      summary: "Send a delivery again, with the same id and body",
      returns: v.object({ delivery_id: v.string() }),
      status: 202,
      errors: ["NOT_FOUND", "CONFLICT"],
    },
    async ({ store, params }) => {
      const { id, active } = await getWebhook(store, params.id);
      const found = await findDelivery(store, id, params.deliveryId);
      if (found?.body === undefined) throw notFound("delivery");
      if (!active) throw conflict("This endpoint is switched off.");
      if (!(await reopenDelivery(store, id, found.delivery))) throw conflict("This delivery is under way already.");
      return { delivery_id: found.delivery.id };
    },
  ),

  managing(
    "POST /api/v1/webhooks/:id/replay",
    {},
    {
      summary: "Send the deliveries of a time range again",
      description:
        "Oldest first, at most 1,000 a call: where there are more, `next_from` is the `from` of the next one.",
      body: v.strictObject({
        from: TimestampInput,
        to: TimestampInput,
        outcome: v.optional(v.picklist(["delivered", "failed"], "must be delivered or failed")),
      }),
      returns: v.object({ queued: v.number(), next_from: v.optional(Timestamp) }),
      status: 202,
      errors: ["NOT_FOUND", "CONFLICT"],
    },
    async ({ store, params, body: { from, to, outcome } }) => {
      if (to < from) throw invalid({ to: "must not be before from" });
      const { id, active } = await getWebhook(store, params.id);
      if (!active) throw conflict("This endpoint is switched off.");
      const range = { from: Date.parse(from), to: Date.parse(to), newestFirst: false };
      let queued = 0;
      let after: Key | undefined;
      let examined = 0;
      do {
        const page = await listDeliveries(store, id, { ...range, outcome, limit: 100, after });
        const finished = page.deliveries.filter((delivery) => delivery.outcome !== "pending");
        const opened = await Promise.all(finished.map((delivery) => reopenDelivery(store, id, delivery)));
        queued += opened.filter(Boolean).length;
        examined += page.deliveries.length;
        after = page.next;
        const last = page.deliveries.at(-1);
        if (after && last && examined >= MAX_REPLAYED) return { queued, next_from: last.created_at };
      } while (after);
      return { queued };
    },
  ),
]);

const visible = ({ earlier, lease, ...delivery }: DeliveryItem) => delivery;
