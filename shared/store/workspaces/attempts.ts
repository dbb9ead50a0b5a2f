// Attempts at public endpoints, counted in fixed windows (LIM-4, docs/decisions/0021#login).
import { SECOND, ttl } from "../../kernel/clock.ts";
import { ApiError } from "../../kernel/errors.ts";
import { networkOf } from "../../rules/network-of.ts";
import type { Platform } from "../context.ts";
import { hashOf } from "../hash.ts";
import { AttemptCount } from "./identity-items.ts";

export interface AttemptLimit {
  /** The kind of the limit, as part of the row's key. */
  kind: string;
  max: number;
  windowMs: number;
}

/** How long a counter is kept after its window. */
const KEPT_SECONDS = 60;

/** Counts an attempt, or `by` of them at once. @throws 429 RATE_LIMITED with `Retry-After` when there were too many in this window (ERR-16). */
export async function countAttempt(
  platform: Pick<Platform, "change" | "clock">,
  { kind, max, windowMs }: AttemptLimit,
  who: string,
  by = 1,
): Promise<void> {
  const now = platform.clock.now();
  const window = Math.floor(now / windowMs);
  const endsAt = (window + 1) * windowMs;
  const key = { kind, who: hashOf(who.toLowerCase()), window };
  const set = { expires: ttl(endsAt) + KEPT_SECONDS };
  const { count } = await platform.change(AttemptCount, key, { add: { count: by }, set });
  if (count <= max) return;
  const seconds = String(Math.max(1, Math.ceil((endsAt - now) / SECOND)));
  throw new ApiError("RATE_LIMITED", "Too many attempts. Try again later.", { headers: { "retry-after": seconds } });
}

/** Counts an attempt from a network address, as one of its network. @throws 429 */
export const countFrom = (
  platform: Pick<Platform, "change" | "clock">,
  limit: AttemptLimit,
  address: string,
): Promise<void> => countAttempt(platform, limit, networkOf(address));
