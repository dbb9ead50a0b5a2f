// The stored form of the webhook delivery log (WHK, D-HOOKS).
import * as v from "valibot";
import { grammar } from "../../contract/grammar.ts";
import { OneOf, Timestamp } from "../../contract/schemas.ts";
import { type Envelope, webhookEvents } from "../../rules/webhook-events.ts";
import { item, type RowOf } from "../item.ts";
import { json } from "../json-text.ts";

const deliveryOutcomes = ["pending", "delivered", "failed"] as const;
export const Outcome = OneOf(deliveryOutcomes);
export type DeliveryOutcome = v.InferOutput<typeof Outcome>;

export const Event = OneOf(webhookEvents);

/** A delivery as the API returns it; `payload` is null after an erasure. */
export const Delivery = v.object({
  id: v.string(),
  /** Its number among the deliveries to the endpoint, from 1 without gaps; null until it is numbered (AMB-124). */
  sequence: v.nullable(v.number()),
  event_type: Event,
  payload: v.nullable(v.pipe(v.record(v.string(), v.any()), grammar("WebhookEvent"))),
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
  about: "A delivery to a webhook endpoint: its body, its state and its attempts.",
  pk: ({ webhook }: { webhook: string }) => `webhook#${webhook}`,
  sk: ({ id }: { id: string }) => `D#${id}`,
  prefix: "D#",
  row: {
    react: v.literal("delivery"),
    id: v.string(),
    webhook: v.string(),
    event_type: Event,
    /** The same bytes at each attempt; removed by an erasure. */
    body: v.optional(json<Envelope>()),
    /** Written with the first claim or result; until then it is in `SequenceBlock` only. */
    sequence: v.optional(v.number()),
    outcome: Outcome,
    /** The newest attempt that was claimed, from 1; 0 before the first. */
    attempt_count: v.number(),
    /** Attempts before the newest redelivery: its retries are counted from there (AMB-104). */
    earlier: v.number(),
    /** How often it was reopened: each time starts another series of attempts. */
    reopened: v.optional(v.number()),
    /** The replay that sends it; absent if it was reopened alone. */
    replay: v.optional(v.string()),
    /**
     * The worker that claimed the newest attempt, and until when, in milliseconds. A new row is held for its first
     * attempt.
     */
    owner: v.optional(v.string()),
    lease: v.optional(v.number()),
    last_status_code: v.optional(v.number()),
    /** Completed attempts, by their numbers. */
    "t:*": json<RecordedAttempt>(),
    expires: v.number(),
  },
  writers: ["react", "api-webhooks", "post-webhook", "erase"],
  lifetime,
  personal: "scrubbed",
});
export type DeliveryRow = RowOf<typeof DeliveryItem>;

export const DeliveryOfSubscriber = item({
  about: "A delivery whose body names a subscriber, stored with the subscriber: an erasure finds the body by it.",
  pk: ({ subscriber }: { subscriber: string }) => `U#${subscriber}`,
  sk: ({ webhook, delivery }: { webhook: string; delivery: string }) => `H#${webhook}#${delivery}`,
  prefix: "H#",
  row: { webhook: v.string(), delivery: v.string(), expires: v.number() },
  writers: ["react", "erase"],
  lifetime,
  personal: "removed",
});

/** A sequence number as a part of a key, in the order of the numbers. */
const padded = (sequence: number) => String(sequence).padStart(12, "0");

export const SequenceBlock = item({
  about: "Deliveries to a webhook endpoint in the order of their sequence numbers; the newest block is appended to.",
  pk: ({ webhook }: { webhook: string }) => `webhook#${webhook}`,
  sk: ({ first }: { first: number }) => `N#${padded(first)}`,
  prefix: "N#",
  row: {
    /** The sequence number of the first delivery. */
    first: v.number(),
    /** Ids of deliveries, in order. */
    ids: v.array(v.string()),
    /** Where each group begins in `ids`: deliveries that were numbered together share a queue message. */
    starts: v.array(v.number()),
    n: v.number(),
    /** When the newest group was added, in milliseconds. */
    at: v.number(),
    /** The label of the table's stream, and the place in it up to which deliveries are numbered. */
    stream: v.string(),
    position: v.string(),
    expires: v.optional(v.number()),
  },
  writers: ["react", "post-webhook"],
  lifetime: "30 days after the next block begins",
});
export type SequenceBlockRow = RowOf<typeof SequenceBlock>;

export const GroupClaim = item({
  about: "The claim of the first attempts of deliveries that share a queue message.",
  pk: ({ webhook }: { webhook: string }) => `webhook#${webhook}`,
  sk: ({ first }: { first: number }) => `K#${padded(first)}`,
  prefix: "K#",
  row: {
    owner: v.string(),
    lease: v.number(),
    /** The owner queued each delivery alone. */
    apart: v.optional(v.boolean()),
    expires: v.number(),
  },
  writers: ["post-webhook"],
  lifetime: "2 days",
});

export const ReplayItem = item({
  about: "The deliveries of a replay, in the order in which they are sent.",
  pk: ({ webhook }: { webhook: string }) => `webhook#${webhook}`,
  sk: ({ id }: { id: string }) => `R#${id}`,
  prefix: "R#",
  row: {
    react: v.literal("replay"),
    id: v.string(),
    webhook: v.string(),
    deliveries: v.array(v.string()),
    expires: v.number(),
  },
  writers: ["api-webhooks"],
  lifetime: "2 days",
});
