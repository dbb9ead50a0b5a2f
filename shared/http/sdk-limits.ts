// Limits of requests with a publishable key, which anybody can read from a page: per key and per network address. They
// protect the service from abuse and are far above what users cause; the limit per minute of a plan does not count them
// (LIM-3).
import { MINUTE } from "../kernel/clock.ts";
import type { Capability } from "../kernel/deps.ts";
import type { Platform } from "../store/context.ts";
import { recent } from "../store/recent.ts";
import { type AttemptLimit, countAttempt } from "../store/workspaces/attempts.ts";
import type { Caller } from "./authenticate.ts";

/** An environment writes a counter once for so many requests, so that a counted request costs a fiftieth of a write. */
const REQUESTS_PER_WRITE = 50;
const MAX_CACHED = 10_000;

export interface SdkLimits {
  /** Counts a request. @throws 429 RATE_LIMITED with `Retry-After` until the minute ends (ERR-16). */
  count(caller: Caller, address: () => string, platform: Pick<Platform, "change" | "clock">): Promise<void>;
}

interface Minute {
  minute: number;
  requests: number;
  refusal: unknown;
}

/** Without a variable, or with 0, there is no limit. */
export const sdkLimits: Capability<"sdkLimits", SdkLimits> = {
  as: "sdkLimits",
  env: ["SDK_REQUESTS_PER_ADDRESS", "SDK_REQUESTS_PER_KEY"],
  grants: [],
  open: ({ env }) => {
    const limitOf = (kind: string, max: string | undefined): AttemptLimit | undefined =>
      Number(max ?? 0) === 0 ? undefined : { kind, max: Number(max), windowMs: MINUTE };
    const perAddress = limitOf("sdk-address", env.SDK_REQUESTS_PER_ADDRESS);
    const perKey = limitOf("sdk-key", env.SDK_REQUESTS_PER_KEY);
    const minutes = recent<Minute>(MAX_CACHED);

    const countFor = async (platform: Pick<Platform, "change" | "clock">, limit: AttemptLimit, who: string) => {
      const minute = Math.floor(platform.clock.now() / MINUTE);
      const name = `${limit.kind} ${who}`;
      const cached = minutes.get(name);
      const state = cached?.minute === minute ? cached : { minute, requests: 0, refusal: undefined };
      if (state !== cached) minutes.set(name, state);
      if (state.refusal) throw state.refusal;
      state.requests++;
      if (state.requests % REQUESTS_PER_WRITE > 0) return;
      await countAttempt(platform, limit, who, REQUESTS_PER_WRITE).catch((error: unknown) => {
        state.refusal = error;
        throw error;
      });
    };

    const limits: SdkLimits = {
      count: async (caller, address, platform) => {
        if (caller.kind !== "sdk") return;
        if (perAddress) await countFor(platform, perAddress, address());
        if (perKey) await countFor(platform, perKey, caller.workspace.tenant);
      },
    };
    return () => limits;
  },
};
