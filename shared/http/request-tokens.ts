// Requests that an environment has reserved from a workspace's limit for a minute and not used yet: a busy environment
// counts many requests by one write.
import { perEnvironment } from "../kernel/deps.ts";
import { recent } from "../store/recent.ts";

/** If an environment reserves tokens and becomes idle, the limit is reached earlier by at most this share. */
const MAX_SHARE = 1 / 200;
const MAX_CACHED_WORKSPACES = 1_000;

interface Minute {
  minute: number;
  /** Requests of this environment in this minute, and in the one before. */
  used: number;
  before: number;
  left: number;
  /** The total of all environments when this one last reserved. */
  taken: number;
}

export interface RequestTokens {
  /** The environment's state of a minute. The caller changes it. */
  of(tenant: string, minute: number): Minute;
}

/** The requests that an environment has reserved, by workspace and minute. */
export function createRequestTokens(): RequestTokens {
  const minutes = recent<Minute>(MAX_CACHED_WORKSPACES);
  return {
    of: (tenant, minute) => {
      const last = minutes.get(tenant);
      if (last?.minute === minute) return last;
      const before = last?.minute === minute - 1 ? last.used : 0;
      const next = { minute, used: 0, before, left: 0, taken: 0 };
      minutes.set(tenant, next);
      return next;
    },
  };
}

/** How many tokens to reserve now: the need of the last minute, and a small share of the rest. */
export const tokensToTake = ({ before, taken }: Minute, max: number): number =>
  Math.max(1, Math.min(before, Math.floor((max - taken) * MAX_SHARE)));

export const requestTokens = /* @__PURE__ */ perEnvironment("requestTokens", {}, createRequestTokens);
