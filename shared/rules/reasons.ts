// Why an address was not reached, as the service's own codes, and which reason counts for a recipient with several.
import { compareTexts } from "../kernel/order.ts";

/** The reason of a message that may have been delivered, and is therefore not sent again. */
export const UNCONFIRMED = "delivery_unconfirmed";
/** The reason of a message that was deferred and could not be sent within a day of its time (AMB-86). */
export const EXPIRED = "expired";
/** The reason of a message that its provider throttled for a day (AMB-111). */
export const RATE_LIMITED = "rate_limited";

/** Why an address is not tried although it could be reached. */
export const lateSkips = ["capped", "template_not_approved", "canceled", "topic_opt_out", "blank_subject"] as const;
export type LateSkip = (typeof lateSkips)[number];

export const isLateSkip = (reason: string): boolean => lateSkips.some((skip) => skip === reason);

/** A failure counts before a skip, and a message that may have arrived before any other. */
const rankOf = (reason: string): number => (isLateSkip(reason) ? 2 : Number(reason !== UNCONFIRMED));

/**
 * The reason that counts for a recipient and explains it. It does not depend on the order of the attempts: of two
 * reasons of one rank the first by alphabet counts. @returns undefined if there are none
 */
export const countedReason = <R extends string>(reasons: readonly R[]): R | undefined =>
  reasons.toSorted((a, b) => rankOf(a) - rankOf(b) || compareTexts(a, b))[0];
