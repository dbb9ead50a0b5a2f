// Requests of a minute that an environment has taken from a workspace's limit and not used yet: a busy environment counts
// many requests by one write.
import { perEnvironment } from "../kernel/deps.ts";
import { recent } from "../store/recent.ts";

/** An environment that takes tokens and becomes idle makes the limit reached earlier by at most this share. */
const MAX_SHARE = 1 / 200;
const MAX_CACHED_WORKSPACES = 1_000;

interface Minute {
  minute: number;
  /** Requests of this environment in this minute, and in the one before. */
  used: number;
  before: number;
  left: number;
  /** What all environments have taken, when this one took last. */
  taken: number;
}

export interface RequestTokens {
  /** The environment's state of a minute. It is changed by the caller. */
  of(tenant: string, minute: number): Minute;
}

/** The tokens of requests that an environment has taken of its workspaces, by minute. */
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

/** How many tokens to take now: what the environment needed in the last minute, and a small share of what is left. */
export const tokensToTake = ({ before, taken }: Minute, max: number): number =>
  Math.max(1, Math.min(before, Math.floor((max - taken) * MAX_SHARE)));

export const requestTokens = /* @__PURE__ */ perEnvironment("requestTokens", {}, createRequestTokens);
