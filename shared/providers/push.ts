// What push providers share: the data of a notification, and the outcome of an answer.
import type { Exchange } from "../egress/exchange.ts";
import {
  type Answered,
  accepted,
  type Outcome,
  type Outgoing,
  refusedForNow,
  rejected,
  unanswered,
} from "./provider.ts";

/**
 * D-PUSH: the notification's data, with the ids of the notification and the subscriber for the app, and what it draws or
 * opens itself (CHC-3): `image_url`, `url`, `buttons`.
 */
export const mergedData = ({ data, push = {}, job, subscriber, variant }: Outgoing): Record<string, unknown> => ({
  ...data,
  ...(push.image_url !== undefined && { image_url: push.image_url }),
  ...(push.url !== undefined && { url: push.url }),
  ...(push.buttons && { buttons: push.buttons }),
  notification_id: job,
  subscriber_id: subscriber,
  ...(variant && { variant_id: variant }),
});

/** Statuses with which a push service certainly did not accept a message. */
const RETRYABLE_STATUSES = new Set([429, 500, 503]);

export const isRetryableStatus = (status: number): boolean => RETRYABLE_STATUSES.has(status);

/** An answer as the protocol of one push service reads it. */
export interface PushAnswer {
  isAccepted: boolean;
  providerId?: unknown;
  reason: string;
  /** The message was not accepted, and may be sent again. */
  isRetryable?: boolean;
  /** The device or subscription must not be used again. */
  addressDead?: boolean;
}

export function pushOutcome(exchange: Exchange, now: number, read: (answer: Answered) => PushAnswer): Outcome {
  if (exchange.outcome !== "answered") return unanswered(exchange);
  const { status } = exchange;
  const { isAccepted, providerId, reason, isRetryable = false, addressDead } = read(exchange);
  if (isAccepted) return accepted(providerId);
  if (isRetryable || isRetryableStatus(status)) return refusedForNow(exchange, reason, now);
  // Any other 5xx is from a proxy, which may have forwarded the message.
  if (status > 500) return { status: "unknown", reason };
  return rejected(reason, addressDead);
}
