// When a request is retried, and after how long (ERR-21 to ERR-24).
import type { ServiceError } from "./errors.ts";

const FIRST_WAIT_MS = 250;
const MAX_WAIT_MS = 20_000;
/** Codes of limits of the plan or the bill, which a retry cannot change (ERR-24). */
const FINAL_CODES = new Set(["QUOTA_EXCEEDED", "PAYMENT_REQUIRED", "SEND_CAP_REACHED"]);

/** Exponential, with full jitter. @param attempt counts from 0. @param random from 0 to 1. */
export const backoffMs = (attempt: number, random: number): number =>
  Math.round(random * Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** attempt));

/**
 * Whether the request may be sent again unchanged. 500 and 503 may, 429 may unless it is a quota; other 4xx may not.
 * One without a response may if it is idempotent.
 */
export function mayRetry(error: ServiceError, isSafeToRepeat: boolean): boolean {
  if (FINAL_CODES.has(error.code)) return false;
  if (error.status === 0) return isSafeToRepeat;
  return error.status === 500 || error.status === 503 || error.status === 429;
}

/** Waits the whole `Retry-After`, plus a back-off that grows with the attempts. */
export function waitMs({ retryAfterSeconds }: ServiceError, attempt: number, random: number): number {
  if (retryAfterSeconds === undefined) return backoffMs(attempt, random);
  return retryAfterSeconds * 1_000 + backoffMs(attempt, random);
}
