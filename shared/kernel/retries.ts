// Retries of calls to AWS: a strategy for the SDK's clients whose pauses follow the clock of the deps.
import type { Clock } from "./clock.ts";
import type { Aws } from "./deps.ts";
import { namedError } from "./errors.ts";
import type { Ids } from "./ids.ts";

const MAX_ATTEMPTS = 5;

/** As in the SDK's standard mode: without successes in between, retries end when these tokens are used up. */
const TOKENS = 500;
const RETRY_TOKENS = 5;

/** The longest first pause; each further one may be twice as long. */
interface FirstPauses {
  THROTTLING: number;
  TRANSIENT: number;
}

interface Token {
  getRetryCount(): number;
  getRetryCost(): number;
  /** The pause is already over when a token is given. */
  getRetryDelay(): number;
}

const tokenOf = (retries: number, cost: number): Token => ({
  getRetryCount: () => retries,
  getRetryCost: () => cost,
  getRetryDelay: () => 0,
});

/** A `retryStrategy` of SDK clients. @param pause waits, or throws if there must be no further attempt */
export function retryStrategy(pause: Clock["sleep"], { bytes }: Pick<Ids, "bytes">, firstMs: FirstPauses) {
  const firstOf = new Map(Object.entries(firstMs));
  let tokens = TOKENS;
  return {
    mode: "standard",
    acquireInitialRetryToken: async () => tokenOf(0, 1),
    refreshRetryTokenForRetry: async (token: Token, { errorType }: { errorType: string }) => {
      const retries = token.getRetryCount();
      const first = firstOf.get(errorType);
      if (!first || retries + 1 >= MAX_ATTEMPTS || tokens < RETRY_TOKENS) throw new Error("No further attempt.");
      tokens -= RETRY_TOKENS;
      await pause((0.5 + bytes(2).readUInt16BE() / 131_072) * first * 2 ** retries);
      return tokenOf(retries + 1, RETRY_TOKENS);
    },
    recordSuccess: (token: Token) => {
      tokens = Math.min(TOKENS, tokens + token.getRetryCost());
    },
  };
}

/** How long the calls of one request to the API may pause before retries, together. */
const MAX_REQUEST_PAUSE_MS = 2_500;

const REQUEST_PAUSES = { THROTTLING: 300, TRANSIENT: 50 };

export interface RequestRetries {
  /** A request begins: its pauses are counted from zero. */
  begin(): void;
  /** Waits at most as long as the request may still pause. @throws ThrottlingException when it may not any more */
  pause(ms: number): Promise<void>;
  /** The same clients with this limit of pauses. A client with its own number of attempts keeps it. */
  aws: Aws;
}

/** Bounds the pauses of the one request that an environment of a function serves at a time. */
export function requestRetries(aws: Aws, { now, sleep }: Clock, ids: Pick<Ids, "bytes">): RequestRetries {
  let paused = 0;
  let pausedUntil = 0;
  const pause = async (ms: number) => {
    const at = now();
    const left = MAX_REQUEST_PAUSE_MS - paused + Math.max(0, pausedUntil - at);
    if (left <= 0) throw requestPausedTooLong();
    const until = at + Math.min(Math.ceil(ms), left);
    // Calls that pause at the same time are counted once.
    paused += Math.max(0, until - Math.max(at, pausedUntil));
    pausedUntil = Math.max(until, pausedUntil);
    await sleep(until - at);
  };
  const strategy = retryStrategy(pause, ids, REQUEST_PAUSES);
  return {
    begin: () => {
      paused = 0;
      pausedUntil = 0;
    },
    pause,
    aws: (clientClass, options = {}) =>
      aws(clientClass, "maxAttempts" in options ? options : { ...options, retryStrategy: strategy }),
  };
}

const requestPausedTooLong = () => namedError("ThrottlingException", "AWS is throttling.");
