// Retries of SDK clients as in the SDK's standard mode, whose waits follow service time.
import type { Clock, Ids } from "../shared/clock.ts";

interface Token {
  getRetryCount(): number;
  getRetryCost(): number;
  /** The wait is over when a token is given. */
  getRetryDelay(): number;
}

const MAX_ATTEMPTS = 5;
const FIRST_MS = { THROTTLING: 1_000, TRANSIENT: 50 };
const LONGEST_MS = 20_000;

const tokenOf = (retries: number): Token => ({
  getRetryCount: () => retries,
  getRetryCost: () => 0,
  getRetryDelay: () => 0,
});

/** A `retryStrategy` of an SDK client. */
export function retriesOn({ sleep }: Pick<Clock, "sleep">, { bytes }: Pick<Ids, "bytes">) {
  return {
    mode: "standard",
    acquireInitialRetryToken: async () => tokenOf(0),
    refreshRetryTokenForRetry: async (token: Token, { errorType }: { errorType: string }) => {
      const retries = token.getRetryCount();
      if (retries + 1 >= MAX_ATTEMPTS || !(errorType in FIRST_MS)) throw new Error("No retry token available");
      const longest = Math.min(LONGEST_MS, FIRST_MS[errorType as keyof typeof FIRST_MS] * 2 ** retries);
      await sleep((bytes(2).readUInt16BE() / 65_536) * longest);
      return tokenOf(retries + 1);
    },
    recordSuccess: () => undefined,
  };
}
