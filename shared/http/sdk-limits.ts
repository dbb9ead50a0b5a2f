// Limits of requests with a publishable key, which is readable in a page: per key and per network address, in requests
// and in write units, because one request may cost as much as hundreds (AMB-146). The limits per address include writes
// by the links of mails, which need no key, and the answers of their topic page. They protect the service from abuse
// and are far above normal use; the limit per minute of a plan does not count these requests (LIM-3).
import { MINUTE } from "../kernel/clock.ts";
import { perEnvironment } from "../kernel/deps.ts";
import { ApiError } from "../kernel/errors.ts";
import { networkOf } from "../rules/network-of.ts";
import type { Platform } from "../store/context.ts";
import { spent } from "../store/table-client.ts";
import type { Caller } from "./authenticate.ts";
import { openSampled } from "./sampled-limits.ts";

/**
 * An environment writes a counter once for this many requests or units, so that counting costs a fiftieth of a write.
 */
const COUNTED_TOGETHER = 50;
/** Write units per request of the limit: the requests of users take two or three. */
const UNITS_PER_REQUEST = 4;
const UNIT_BYTES = 1_024;
/**
 * Bytes of an answer whose transfer costs as much as a write unit. Reads are counted separately, so that a caller who
 * writes too much can still read.
 */
const ANSWERED_UNIT_BYTES = 8_192;
/** Read units that cost as much as a write unit. */
const READS_PER_UNIT = 5;

interface SdkLimits {
  /**
   * Counts a request and its estimated units. @throws 429 RATE_LIMITED with `Retry-After` until the minute ends
   * (ERR-16)
   */
  count(request: CountedRequest, platform: Pick<Platform, "change" | "clock">): Promise<CountDone>;
}

/**
 * Counts, after the request, the units it wrote beyond the estimate, its reads and its answer in bytes, since the last
 * call. @returns false beyond the limit: the next request is refused
 */
export type CountDone = (answered: number) => Promise<boolean>;

interface CountedRequest {
  caller: Caller;
  /**
   * Whether the path has the token of a mail's link instead of a credential: to change something, or for the topic
   * page.
   */
  link: "change" | "page" | undefined;
  address: () => string;
  /** See `unitsOf`. */
  units: number;
}

/** The estimated write units of a request: a row and its index, and one for each KB of its body. A read has none. */
export const unitsOf = (method: string, bytes: number): number =>
  method === "GET" || method === "HEAD" ? 0 : 2 + Math.floor(bytes / UNIT_BYTES);

/**
 * Images and targets are requested by the proxies of mailboxes, for many readers from one address: only changes and the
 * page count.
 */
export function linkOf(route: string, units: number): CountedRequest["link"] {
  if (!route.endsWith("/:token")) return undefined;
  if (units > 0) return "change";
  return route === "GET /p/:token" ? "page" : undefined;
}

/** Without a variable, or with 0, there is no limit. */
export const sdkLimits = /* @__PURE__ */ perEnvironment(
  "sdkLimits",
  { env: ["SDK_REQUESTS_PER_ADDRESS", "SDK_REQUESTS_PER_KEY"] },
  ({ env }): SdkLimits => {
    const limitsOf = (kind: string, text: string | undefined) => {
      const max = Number(text ?? 0);
      return max === 0
        ? undefined
        : {
            requests: { kind, max, windowMs: MINUTE },
            units: { kind: `${kind}-units`, max: max * UNITS_PER_REQUEST, windowMs: MINUTE },
            answers: { kind: `${kind}-answers`, max: max * UNITS_PER_REQUEST, windowMs: MINUTE },
          };
    };
    const perAddress = limitsOf("sdk-address", env.SDK_REQUESTS_PER_ADDRESS);
    const perKey = limitsOf("sdk-key", env.SDK_REQUESTS_PER_KEY);
    const countFor = openSampled(COUNTED_TOGETHER);
    if (perAddress || perKey) spent.isCounted = true;

    return {
      count: async ({ caller, link, address, units }, platform) => {
        const counted = [
          ...(perAddress && (caller.kind === "sdk" || link) ? [{ limits: perAddress, who: networkOf(address()) }] : []),
          ...(perKey && caller.kind === "sdk" ? [{ limits: perKey, who: caller.workspace.tenant }] : []),
        ];
        for (const { limits, who } of counted) {
          if (link !== "page") await countFor(platform, limits.requests, who, 1);
          if (units > 0) await countFor(platform, limits.units, who, units);
          await countFor(platform, limits.answers, who, 0);
        }
        let before = { writes: spent.writes + units, reads: spent.reads };
        return async (answered) => {
          const beyond = Math.max(0, Math.ceil(spent.writes - before.writes));
          const read = Math.floor(answered / ANSWERED_UNIT_BYTES + (spent.reads - before.reads) / READS_PER_UNIT);
          before = { ...spent };
          const taken: boolean[] = [];
          for (const { limits, who } of counted)
            taken.push(
              await isTaken(countFor(platform, limits.units, who, beyond)),
              await isTaken(countFor(platform, limits.answers, who, read)),
            );
          return !taken.includes(false);
        };
      },
    };
  },
);

/** A finished request is answered. The refusal applies to the next request. */
const isTaken = (counting: Promise<void>): Promise<boolean> =>
  counting.then(
    () => true,
    (error) => {
      if (error instanceof ApiError && error.code === "RATE_LIMITED") return false;
      throw error;
    },
  );
