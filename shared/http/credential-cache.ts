// Remembers validated credentials where the specification allows it: event ingestion alone, one minute at most (ATH-R6).
import { createHash } from "node:crypto";
import { SECOND } from "../clock.ts";
import type { Caller } from "./authenticate.ts";
import { ApiError } from "./errors.ts";

/** From the validation on, never from the last use. */
const GOOD_MS = 60 * SECOND;
const BAD_MS = 5 * SECOND;
const MOST_REMEMBERED = 10_000;

type Remembered = { until: number } & ({ caller: Caller } | { refusal: ApiError });

/** One cache per environment. */
export function createCredentialCache(now: () => number) {
  const known = new Map<string, Remembered>();

  return async (secret: string, validate: () => Promise<Caller>): Promise<Caller> => {
    const key = createHash("sha256").update(secret).digest("base64");
    const found = known.get(key);
    if (found && found.until > now()) {
      if ("refusal" in found) throw found.refusal;
      return found.caller;
    }
    const at = now();
    const remember = (entry: Remembered) => {
      known.delete(key);
      if (known.size >= MOST_REMEMBERED) known.delete(known.keys().next().value!);
      known.set(key, entry);
    };
    try {
      const caller = await validate();
      remember({ caller, until: at + GOOD_MS });
      return caller;
    } catch (refusal) {
      if (refusal instanceof ApiError && refusal.status === 401) remember({ refusal, until: at + BAD_MS });
      throw refusal;
    }
  };
}
