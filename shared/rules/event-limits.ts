// Limits on the size and the age of events, by the tier of the sender (EVT-2, EVT-6, EVT-14 to EVT-17).

import { HOUR, MINUTE } from "../kernel/clock.ts";
import { hasAtMost } from "./characters.ts";

/** `client` = SDK key, `server` = server key. */
export type Tier = "client" | "server";

interface TierLimits {
  eventsPerRequest: number;
  /** One event as JSON. 50 flat properties of the largest size fit the limit of the client tier. */
  eventBytes: number;
  /** The greatest age of `occurred_at`. */
  backdatedMs: number;
}

const KB = 1_024;

export const tiers: Record<Tier, TierLimits> = {
  client: { eventsPerRequest: 50, eventBytes: 128 * KB, backdatedMs: 48 * HOUR },
  server: { eventsPerRequest: 1_000, eventBytes: 32 * KB, backdatedMs: 90 * 24 * HOUR },
};

/** The whole body in the server tier (EVT-15). */
export const SERVER_BODY_BYTES = 500 * KB;

export const MAX_EVENT_NAME_CHARACTERS = 128;
/** Names that clients cannot send, so that waiting for one is refused (D-EVTYPE). */
export const OWN_EVENTS = { start: "$", refusal: "must not begin with $: such names are the service's own" };
export const MAX_PROPERTIES = 50;
export const MAX_PROPERTY_CHARACTERS = 256;

/** AMB-24, AMB-117. */
const MAX_AHEAD_MS = 5 * MINUTE;

/** A smaller difference is explained by the time of the request (AMB-135). */
const MAX_CLOCK_ERROR_MS = MINUTE;

/**
 * When an event of the client tier happened, by the clock of the service (AMB-135): its time is shifted by the error of
 * the device's clock, and is never later than the receipt. All in milliseconds.
 * @param sentAt when the request was sent, by the device's clock
 */
export function correctedTime(occurredAt: number, sentAt: number | undefined, receivedAt: number): number {
  const error = sentAt === undefined ? 0 : receivedAt - sentAt;
  const shift = Math.abs(error) > MAX_CLOCK_ERROR_MS ? error : 0;
  return Math.min(occurredAt + shift, receivedAt);
}

/** The reason why an event of this time is refused, or undefined. Both ends of the window are accepted. */
export function timeProblem(occurredAt: number, receivedAt: number, tier: Tier): string | undefined {
  if (occurredAt > receivedAt + MAX_AHEAD_MS) return "must not be more than 5 minutes in the future";
  const { backdatedMs } = tiers[tier];
  if (occurredAt < receivedAt - backdatedMs) return `must not be more than ${backdatedMs / HOUR} hours ago`;
  return undefined;
}

/** The reason why properties are refused, or undefined: too many of them, or a key or text too long at any depth. */
export function propertiesProblem(properties: Readonly<Record<string, unknown>>): string | undefined {
  if (Object.keys(properties).length > MAX_PROPERTIES) return `must have at most ${MAX_PROPERTIES} keys`;
  const waiting: unknown[] = [properties];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value === "string" && !hasAtMost(value, MAX_PROPERTY_CHARACTERS))
      return `must have texts of at most ${MAX_PROPERTY_CHARACTERS} characters`;
    if (typeof value !== "object" || value === null) continue;
    if (!Array.isArray(value) && !Object.keys(value).every((key) => hasAtMost(key, MAX_PROPERTY_CHARACTERS)))
      return `must have keys of at most ${MAX_PROPERTY_CHARACTERS} characters`;
    for (const part of Object.values(value)) waiting.push(part);
  }
  return undefined;
}
