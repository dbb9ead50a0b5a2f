// The stored form of the webhook delivery log (WHK, D-HOOKS).
import * as v from "valibot";
import { Timestamp } from "../../http/schemas.ts";
import { type Envelope, webhookEvents } from "../../rules/webhook-events.ts";
import { item, json, type RowOf } from "../item.ts";

export const deliveryOutcomes = ["pending", "delivered", "failed"] as const;
export const Outcome = v.picklist(deliveryOutcomes, `must be one of ${deliveryOutcomes.join(", ")}`);
export type DeliveryOutcome = v.InferOutput<typeof Outcome>;

export const Event = v.picklist(webhookEvents, `must be one of ${webhookEvents.join(", ")}`);

/** A delivery as the API returns it; `payload` is null after an erasure. */
export const Delivery = v.object({
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
export type Delivery = v.InferOutput<typeof Delivery>;

/** A completed attempt, as it is stored. */
export interface RecordedAttempt {
  at: string;
  status_code?: number | undefined;
  error?: string | undefined;
  duration_ms: number;
}

const lifetime = "30 days";

export const DeliveryItem = item({
  about: "The state of a delivery to a webhook endpoint, with its attempts.",
  pk: ({ webhook }: { webhook: string }) => `webhook#${webhook}`,
  sk: ({ id }: { id: string }) => `D#${id}`,
  prefix: "D#",
  row: {
    react: v.literal("delivery"),
    id: v.string(),
    webhook: v.string(),
    event_type: Event,
    outcome: Outcome,
    /** The newest attempt that was claimed, from 1; 0 before the first. */
    attempt_count: v.number(),
    /** Attempts before the newest redelivery: its retries are counted from there (AMB-104). */
    earlier: v.number(),
    /** Who claimed the newest attempt, and until when, in milliseconds. */
    owner: v.optional(v.string()),
    lease: v.optional(v.number()),
    last_status_code: v.optional(v.number()),
    /** Completed attempts, by their numbers. */
    "t:*": json<RecordedAttempt>(),
    expires: v.number(),
  },
  writers: ["react", "api-webhooks", "post-webhook"],
  lifetime,
});
export type DeliveryRow = RowOf<typeof DeliveryItem>;

export const DeliveryPayload = item({
  about: "The body of a delivery, the same bytes at each attempt.",
  pk: ({ webhook }: { webhook: string }) => `webhook#${webhook}`,
  sk: ({ delivery }: { delivery: string }) => `P#${delivery}`,
  prefix: "P#",
  row: { body: json<Envelope>(), expires: v.number() },
  writers: ["react", "api-webhooks", "erase"],
  lifetime,
  personal: "removed",
});

export const PayloadReference = item({
  about: "Names a delivery whose payload holds data of this subscriber, so that an erasure finds it.",
  pk: ({ subscriber }: { subscriber: string }) => `U#${subscriber}`,
  sk: ({ webhook, delivery }: { webhook: string; delivery: string }) => `V#${webhook}#${delivery}`,
  prefix: "V#",
  row: { expires: v.number() },
  writers: ["react", "erase"],
  lifetime,
  personal: "removed",
});
