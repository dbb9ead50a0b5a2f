// Attempts on surfaces that strangers can reach, counted in fixed windows (LIM-4, docs/decisions/0021#login).
import { SECOND } from "../../clock.ts";
import { hashOf } from "../../http/authenticate.ts";
import { ApiError } from "../../http/errors.ts";
import type { Platform } from "../../resources.ts";
import { platformKeys } from "../keys.ts";

export interface AttemptLimit {
  /** What is limited, as part of the row's key. */
  kind: string;
  max: number;
  windowMs: number;
}

/** A limiter row outlives its window by this. */
const KEPT_SECONDS = 60;

/** Counts an attempt. @throws 429 RATE_LIMITED with `Retry-After` when there were too many in this window (ERR-16). */
export async function countAttempt(
  platform: Platform,
  { kind, max, windowMs }: AttemptLimit,
  who: string,
): Promise<void> {
  const now = platform.clock.now();
  const window = Math.floor(now / windowMs);
  const endsAt = (window + 1) * windowMs;
  const { count } = await platform.update(platformKeys.limit(kind, hashOf(who.toLowerCase()), window), {
    add: { count: 1 },
    set: { expires: Math.ceil(endsAt / SECOND) + KEPT_SECONDS },
  });
  if (Number(count) <= max) return;
  const seconds = String(Math.max(1, Math.ceil((endsAt - now) / SECOND)));
  throw new ApiError("RATE_LIMITED", "Too many attempts. Try again later.", { headers: { "retry-after": seconds } });
}
