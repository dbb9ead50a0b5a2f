// The stored form of webhook endpoints (HOK, D-HOOKS). Their log: delivery-items.ts.
import * as v from "valibot";
import { Timestamp } from "../../contract/schemas.ts";
import { Events } from "../../contract/webhook-input.ts";
import { counterRow } from "../counters.ts";
import { entity, item, type RowOf } from "../item.ts";

/** A webhook endpoint as the dashboard's API returns it. */
export const Webhook = v.object({
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
export type Webhook = v.InferOutput<typeof Webhook>;

export const WebhookItem = entity("webhook", {
  about: "A webhook endpoint; its secrets are derived from the root secret by their version.",
  row: {
    ...Webhook.entries,
    description: v.optional(v.string()),
    disabled_at: v.optional(Timestamp),
    secret_version: v.number(),
    /** When the newest secret was made by a rotation, in milliseconds. */
    rotated_at: v.optional(v.number()),
    /** When the first of the consecutive failures was recorded, in milliseconds. */
    first_failure_at: v.optional(v.number()),
  },
  writers: ["api-hooks", "api-webhooks", "post-webhook"],
});
export type WebhookRow = RowOf<typeof WebhookItem>;

export const WebhookCount = item({
  about: "The number of webhook endpoints, changed in the transactions that create and delete them.",
  pk: () => "COUNT#webhooks",
  sk: () => "0",
  row: counterRow,
  writers: ["api-hooks", "api-webhooks", "recount"],
});

export const DeletedWebhook = item({
  about: "A deleted webhook endpoint whose log has not expired, so that an erasure finds the payloads in it.",
  pk: () => "webhook-deleted",
  sk: ({ id }: { id: string }) => id,
  row: { id: v.string(), expires: v.number() },
  writers: ["api-hooks", "api-webhooks"],
  lifetime: "31 days",
});
