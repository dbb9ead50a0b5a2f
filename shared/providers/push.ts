// Shared by push providers: the data of a notification, and the outcome of an answer.
import type { Exchange } from "../egress/exchange.ts";
import {
  type AnsweredExchange,
  accepted,
  type Outcome,
  type OutgoingMessage,
  refusedForNow,
  rejected,
  unanswered,
} from "./provider.ts";

/**
 * The notification's data (D-PUSH): the ids of the notification and the subscriber for the app, and the fields that the
 * app draws or opens itself (CHC-3): `image_url`, `url`, `buttons`.
 */
export const mergedData = ({
  data,
  push = {},
  job,
  subscriber,
  variant,
}: OutgoingMessage): Record<string, unknown> => ({
  ...data,
  ...(push.image_url !== undefined && { image_url: push.image_url }),
  ...(push.url !== undefined && { url: push.url }),
  ...(push.buttons && { buttons: push.buttons }),
  notification_id: job,
  subscriber_id: subscriber,
  ...(variant && { variant_id: variant }),
});

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

interface FittedMessage<M> {
  message: M;
  isShortened: boolean;
}

/**
 * Shortens the body of a message whose payload is too large: it gets the longest body that fits, cut between two
 * visible characters, and an ellipsis (D-PUSH). @returns undefined if the rest is too large by itself
 */
export function fitted<M extends OutgoingMessage>(
  message: M,
  fits: (message: M) => boolean,
): FittedMessage<M> | undefined {
  if (fits(message)) return { message, isShortened: false };
  const starts = [...graphemes.segment(message.body)].map(({ index }) => index);
  const withFirst = (count: number): M => ({
    ...message,
    body: `${message.body.slice(0, starts[count]).trimEnd()}…`,
  });

  let most = 0;
  let tooMany = starts.length;
  while (tooMany - most > 1) {
    const middle = (most + tooMany) >> 1;
    if (fits(withFirst(middle))) most = middle;
    else tooMany = middle;
  }
  return most === 0 ? undefined : { message: withFirst(most), isShortened: true };
}

/** Statuses with which a push service certainly did not accept a message. */
const RETRYABLE_STATUSES = new Set([429, 500, 503]);

export const isRetryableStatus = (status: number): boolean => RETRYABLE_STATUSES.has(status);

/** An answer in the protocol of one push service. */
export interface PushAnswer {
  isAccepted: boolean;
  providerId?: unknown;
  reason: string;
  /** The message was not accepted, and may be sent again. */
  isRetryable?: boolean;
  /** The device or subscription must not be used again. */
  addressDead?: boolean;
}

/** The outcome of a push. `read` interprets an answer in the protocol of its service. @param now in milliseconds */
export function pushOutcome(
  exchange: Exchange,
  now: number,
  { isShortened }: Pick<FittedMessage<unknown>, "isShortened">,
  read: (answer: AnsweredExchange) => PushAnswer,
): Outcome {
  if (exchange.kind !== "answered") return unanswered(exchange);
  const { status } = exchange;
  const { isAccepted, providerId, reason, isRetryable = false, addressDead } = read(exchange);
  if (isAccepted) return { ...accepted(providerId), ...(isShortened && { isShortened }) };
  if (isRetryable || isRetryableStatus(status)) return refusedForNow(exchange, reason, now);
  // Any other 5xx, and a success outside the protocol, is from a proxy, which may have forwarded the message.
  if (status > 500 || status < 300) return { kind: "unknown", reason };
  return rejected(reason, { addressDead });
}
