// Caches validated credentials where the specification allows it: event ingestion, for at most one minute (ATH-R6).
import { createHash } from "node:crypto";
import { SECOND } from "../kernel/clock.ts";
import { ApiError } from "../kernel/errors.ts";
import { recent } from "../store/recent.ts";
import type { Caller } from "./authenticate.ts";

/** Counted from the validation, not from the last use. */
export const CREDENTIAL_TTL_MS = 60 * SECOND;
const NEGATIVE_TTL_MS = 5 * SECOND;
const MAX_CACHED = 10_000;

type Entry = { until: number } & ({ kind: "accepted"; caller: Caller } | { kind: "refused"; refusal: ApiError });

/** One cache per environment. */
export function createCredentialCache(now: () => number) {
  const cache = recent<Entry>(MAX_CACHED);

  /** Wraps `find`. @param isFresh whether a caller must not be cached */
  return async (
    secret: string,
    validate: () => Promise<Caller>,
    isFresh: (caller: Caller) => boolean = () => false,
  ): Promise<Caller> => {
    const key = createHash("sha256").update(secret).digest("base64");
    const found = cache.get(key);
    if (found && found.until > now()) {
      if (found.kind === "refused") throw found.refusal;
      return found.caller;
    }
    const at = now();
    try {
      const caller = await validate();
      if (!isFresh(caller)) cache.set(key, { kind: "accepted", caller, until: at + CREDENTIAL_TTL_MS });
      return caller;
    } catch (refusal) {
      if (refusal instanceof ApiError && refusal.status === 401)
        cache.set(key, { kind: "refused", refusal, until: at + NEGATIVE_TTL_MS });
      throw refusal;
    }
  };
}
