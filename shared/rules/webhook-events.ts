// Webhook events: their types and payloads, the signature of a body, and the verdict on an answer (WEV, WHK).
import { createHash, createHmac } from "node:crypto";

export const webhookEvents = [
  "subscriber.created",
  "notification.dispatched",
  "notification.halted",
  "notification.terminal",
  "notification.interaction",
  "journey.halted",
  "message.bounced",
  "message.complained",
  "consent.changed",
  "subscriber.unsubscribed",
  "segment.entered",
  "segment.left",
] as const;
export type WebhookEvent = (typeof webhookEvents)[number];

export type Payload = Record<string, unknown>;

/** WEV-5. */
export interface Envelope {
  /** The id of the delivery, the same on each attempt (WHK-4). */
  id: string;
  event_type: WebhookEvent;
  tenant_id: string;
  timestamp: string;
  data: Payload;
}

const EXAMPLE = "3f0c6a52-8a4e-4d0b-9f63-5a1f5f4d2c10";
const EXCEEDED = { reason: "error_rate", channel: "ios", rate: 0.3, limit: 0.2, count: 60, tried: 200 };

/** Sample data of each type, as `GET /v1/hooks/samples/:event` shows them (HOK-8, AMB-105). */
export const webhookSamples: Record<WebhookEvent, Payload> = {
  "subscriber.created": {
    subscriber_id: EXAMPLE,
    external_id: "customer-1042",
    email: "ada@example.com",
    attributes: { first_name: "Ada", plan: "gold" },
    created: true,
  },
  "notification.dispatched": { job_id: EXAMPLE, target_size_estimate: 1_250, scheduled_at: "2026-12-01T09:00:00.000Z" },
  "notification.halted": { job_id: EXAMPLE, ...EXCEEDED },
  "notification.terminal": { job_id: EXAMPLE, status: "completed", delivered: 1_240, failed: 10, total: 1_250 },
  "journey.halted": { journey_id: EXAMPLE, version: 2, step: "welcome", ...EXCEEDED },
  "notification.interaction": { job_id: EXAMPLE, interaction_type: "tapped", platform: "ios", variant_id: "a" },
  "message.bounced": { job_id: EXAMPLE, subscriber_id: EXAMPLE, channel: "email", reason: "Permanent: General" },
  "message.complained": { job_id: EXAMPLE, subscriber_id: EXAMPLE, channel: "email", reason: null },
  "consent.changed": { subscriber_id: EXAMPLE, channel: "topic:news", status: "opted_in", previous: null },
  "subscriber.unsubscribed": { subscriber_id: EXAMPLE, channel: "email" },
  "segment.entered": { segment_id: EXAMPLE, subscriber_id: EXAMPLE },
  "segment.left": { segment_id: EXAMPLE, subscriber_id: EXAMPLE },
};

/** WHK-7. */
export const ATTEMPT_TIMEOUT_MS = 10_000;
/** WHK-8: four attempts in all. */
const BACKOFF_SECONDS = [1, 2, 4];

/** The result of an attempt: an HTTP status, or why there was no answer. */
export type AttemptResult = { kind: "answered"; status: number } | { kind: "unanswered"; error: string };

/** Whether the receiver has accepted the event (WHK-7). */
export const isTaken = (status: number | null): boolean => status !== null && status >= 200 && status <= 299;

export type Verdict = { kind: "delivered" } | { kind: "failed" } | { kind: "retry"; afterSeconds: number };

/**
 * The verdict on an attempt (WHK-7 to WHK-9, AMB-32): 2xx is delivered; 5xx and network errors are retried after 1, 2
 * and 4 seconds; any other status is final.
 * @param round the number of the attempt since the newest redelivery, from 1
 */
export function verdictOf(result: AttemptResult, round: number): Verdict {
  if (result.kind === "answered" && isTaken(result.status)) return { kind: "delivered" };
  const isRetryable = result.kind === "unanswered" || result.status >= 500;
  const afterSeconds = BACKOFF_SECONDS[round - 1];
  return isRetryable && afterSeconds !== undefined ? { kind: "retry", afterSeconds } : { kind: "failed" };
}

/** WHK-12: the key is the hex text of the secret's SHA-256. */
function signatureOf(secret: string, rawBody: string): string {
  const key = createHash("sha256").update(secret).digest("hex");
  return `sha256=${createHmac("sha256", key).update(rawBody).digest("hex")}`;
}

/**
 * Headers of one attempt (WHK-2 to WHK-6, AMB-124), with those of Standard Webhooks, so that its verifiers work with the same
 * secret.
 * @param secrets the current one first; after a rotation the previous one also signs for a day (D-HOOKS)
 * @param at the time of the attempt in milliseconds
 */
export function webhookHeaders(
  secrets: readonly string[],
  { id: delivery, event_type: event, sequence }: { id: string; event_type: WebhookEvent; sequence: number },
  rawBody: string,
  at: number,
): Record<string, string> {
  const [signature = "", previous] = secrets.map((secret) => signatureOf(secret, rawBody));
  const seconds = String(Math.floor(at / 1_000));
  return {
    "content-type": "application/json",
    "x-service-event": event,
    "x-service-delivery": delivery,
    "x-service-sequence": String(sequence),
    "x-service-signature": signature,
    "x-signature-256": signature,
    ...(previous !== undefined && { "x-service-signature-previous": previous }),
    "webhook-id": delivery,
    "webhook-timestamp": seconds,
    "webhook-signature": secrets
      .map((secret) => standardSignature(secret, `${delivery}.${seconds}.${rawBody}`))
      .join(" "),
  };
}

export const SECRET_PREFIX = "whsec_";

const standardSignature = (secret: string, text: string) =>
  `v1,${createHmac("sha256", Buffer.from(secret.slice(SECRET_PREFIX.length), "base64"))
    .update(text)
    .digest("base64")}`;
