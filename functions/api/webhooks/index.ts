// Webhook endpoints on the dashboard: those of /v1/hooks, with their delivery log (D-HOOKS, AMB-100).
import * as v from "valibot";
import { cursor, cursorPage, limit, openCursor, sealCursor } from "../../../shared/contract/paging.ts";
import { maxCharacters, Timestamp, TimestampInput, TrueOrFalse } from "../../../shared/contract/schemas.ts";
import { Events, TargetUrl } from "../../../shared/contract/webhook-input.ts";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { requireTarget } from "../../../shared/http/webhook-target.ts";
import { conflict, invalid, notFound } from "../../../shared/kernel/errors.ts";
import { webhookSamples } from "../../../shared/rules/webhook-events.ts";
import { egress } from "../../../shared/runtime/resources.ts";
import { secrets } from "../../../shared/store/capabilities.ts";
import { storeRead, storeWrite } from "../../../shared/store/context.ts";
import { findDelivery, noteDeliveries } from "../../../shared/store/webhooks/deliveries.ts";
import { Delivery, Event, Outcome } from "../../../shared/store/webhooks/delivery-items.ts";
import { listLog, listMissing } from "../../../shared/store/webhooks/delivery-log.ts";
import { Webhook } from "../../../shared/store/webhooks/items.ts";
import { reopenDelivery, replayDeliveries } from "../../../shared/store/webhooks/replays.ts";
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhooks,
  rotateSecret,
  webhookOf,
} from "../../../shared/store/webhooks/webhooks.ts";

const Description = v.nullable(v.pipe(v.string(), maxCharacters(500)));
const Position = v.object({ pk: v.string(), sk: v.string() });

const switchedOff = () => conflict("This endpoint is switched off.");

const endpoint = endpoints({ credentials: ["dashboard"], uses: [] });

export const webhooks = group("webhooks", "Webhook endpoints and their delivery log.", [
  endpoint(
    "GET /api/v1/webhooks",
    { uses: [storeRead] },
    { summary: "List webhook endpoints, oldest first", returns: v.object({ items: v.array(Webhook) }) },
    async ({ store }) => ({ items: (await listWebhooks(store)).map(webhookOf) }),
  ),

  endpoint(
    "POST /api/v1/webhooks",
    { permission: "credentials:manage", feature: "webhooks", uses: [storeWrite, secrets, egress] },
    {
      summary: "Create a webhook endpoint",
      description: "The `secret` signs every delivery and is shown only here.",
      body: v.strictObject({ target_url: TargetUrl, events: Events, description: v.optional(Description) }),
      returns: v.object({ ...Webhook.entries, secret: v.string() }),
      status: 201,
      example: { body: { target_url: "https://example.com/hooks", events: ["notification.terminal"] } },
    },
    async ({ store, secrets, egress, body }) => {
      requireTarget(egress, body.target_url);
      return createWebhook(store, secrets, body);
    },
  ),

  endpoint(
    "GET /api/v1/webhooks/:id",
    { uses: [storeRead] },
    { summary: "Get a webhook endpoint", returns: Webhook },
    async ({ store, params }) => webhookOf(await getWebhook(store, params.id)),
  ),

  endpoint(
    "PATCH /api/v1/webhooks/:id",
    { permission: "credentials:manage", uses: [storeWrite, egress] },
    {
      summary: "Change a webhook endpoint, or enable it again",
      body: v.strictObject({
        target_url: v.optional(TargetUrl),
        events: v.optional(Events),
        active: v.optional(v.boolean()),
        description: v.optional(Description),
      }),
      example: { body: { active: true, events: ["notification.terminal", "notification.halted"] } },
      returns: Webhook,
    },
    async ({ store, egress, params, body }) => {
      if (body.target_url !== undefined) requireTarget(egress, body.target_url);
      return webhookOf(await changeWebhook(store, params.id, body));
    },
  ),

  endpoint(
    "DELETE /api/v1/webhooks/:id",
    { permission: "credentials:manage", uses: [storeWrite] },
    { summary: "Delete a webhook endpoint: nothing more is delivered to it" },
    ({ store, params }) => deleteWebhook(store, params.id),
  ),

  endpoint(
    "POST /api/v1/webhooks/:id/secret/rotate",
    { permission: "credentials:manage", uses: [storeWrite, secrets] },
    {
      summary: "Make a new secret",
      description: "For 24 hours the previous one also signs, in the header `X-Service-Signature-Previous`.",
      returns: v.object({ secret: v.string() }),
    },
    async ({ store, secrets, params }) => ({ secret: await rotateSecret(store, secrets, params.id) }),
  ),

  endpoint(
    "POST /api/v1/webhooks/:id/test",
    { permission: "credentials:manage", uses: [storeWrite] },
    {
      summary: "Send a sample event to the endpoint",
      body: v.strictObject({ event: Event }),
      returns: v.object({ delivery_id: v.string() }),
      status: 202,
      errors: ["CONFLICT"],
    },
    async ({ store, params, body: { event }, clock, ids }) => {
      const { id: webhook, active } = await getWebhook(store, params.id);
      if (!active) throw switchedOff();
      const occurrence = { event, key: `test:${ids.uuid()}`, at: clock.now(), data: webhookSamples[event] };
      const [delivery_id] = await noteDeliveries(store, [{ webhook, occurrence }]);
      return { delivery_id };
    },
  ),

  endpoint(
    "GET /api/v1/webhooks/:id/deliveries",
    { uses: [storeRead, secrets] },
    {
      summary: "List deliveries of the last 30 days, newest first",
      description:
        "`sequence` counts the deliveries to the endpoint from 1 without gaps. `missing=true` lists those without a success, by ascending `sequence`.",
      query: v.object({
        cursor,
        limit: limit(20, 100),
        outcome: v.optional(Outcome),
        event_type: v.optional(Event),
        missing: v.optional(TrueOrFalse),
      }),
      returns: cursorPage(Delivery),
    },
    async ({ store, secrets, params, query: { cursor, missing, ...filter } }) => {
      const { id } = await getWebhook(store, params.id);
      const root = await secrets.root();
      const scope = `deliveries:${store.tenant}:${id}${missing ? ":missing" : ""}`;
      const opened = cursor === undefined ? undefined : openCursor(root, scope, cursor);
      const { log, next } = missing
        ? await listMissing(store, id, { ...filter, after: v.parse(v.optional(v.number()), opened) })
        : await listLog(store, id, { ...filter, after: v.parse(v.optional(Position), opened) });
      const items = log.map(({ delivery, payload }) => ({ ...delivery, payload }));
      return { items, next_cursor: next === undefined ? "" : sealCursor(root, scope, next) };
    },
  ),

  endpoint(
    "POST /api/v1/webhooks/:id/deliveries/:deliveryId/redeliver",
    { permission: "credentials:manage", uses: [storeWrite] },
    {
      summary: "Send a delivery again, with the same id and body",
      returns: v.object({ delivery_id: v.string() }),
      status: 202,
      errors: ["CONFLICT"],
    },
    async ({ store, params }) => {
      const { id, active } = await getWebhook(store, params.id);
      const found = await findDelivery(store, id, params.deliveryId);
      if (found?.body === undefined) throw notFound("delivery");
      if (!active) throw switchedOff();
      const isReopened = await reopenDelivery(store, id, found.delivery);
      if (!isReopened) throw conflict("This delivery is under way already.");
      return { delivery_id: found.delivery.id };
    },
  ),

  endpoint(
    "POST /api/v1/webhooks/:id/replay",
    { permission: "credentials:manage", uses: [storeWrite] },
    {
      summary: "Send the deliveries of a time range again",
      description:
        "Both ends of the range are in it. One after the other by `sequence`. A call looks at 10,000 and sends 1,000, with what is of the same millisecond. One that fails is attempted again while the next are sent. If there are more, `next_from` is the `from` of the next call.",
      body: v.strictObject({
        from: TimestampInput,
        to: TimestampInput,
        outcome: v.optional(v.picklist(["delivered", "failed"], "must be delivered or failed")),
      }),
      example: { body: { from: "2026-11-20T00:00:00.000Z", to: "2026-11-20T12:00:00.000Z", outcome: "failed" } },
      returns: v.object({ queued: v.number(), next_from: v.optional(Timestamp) }),
      status: 202,
      errors: ["CONFLICT"],
    },
    async ({ store, params, body: { from, to, outcome } }) => {
      if (to < from) throw invalid({ to: "must not be before from" });
      const { id, active } = await getWebhook(store, params.id);
      if (!active) throw switchedOff();
      return replayDeliveries(store, id, { from: Date.parse(from), to: Date.parse(to), outcome });
    },
  ),
]);
