// Limits that many requests meet: counted in memory, and written once for several, so that counting is cheap. A limit
// is reached somewhat late, by the unwritten counts of each environment.
import { ApiError } from "../kernel/errors.ts";
import type { Platform } from "../store/context.ts";
import { recent } from "../store/recent.ts";
import { type AttemptLimit, countAttempt } from "../store/workspaces/attempts.ts";

const MAX_CACHED = 10_000;

interface Window {
  window: number;
  /** Counts that are not written yet. */
  open: number;
  refusal: unknown;
}

/** Counts `by` of a limit. @throws 429 RATE_LIMITED with `Retry-After` until the window ends (ERR-16). */
type CountSampled = (
  platform: Pick<Platform, "change" | "clock">,
  limit: AttemptLimit,
  who: string,
  by?: number,
) => Promise<void>;

/** The counters of one environment. @param together how many counts are written at once */
export function openSampled(together: number): CountSampled {
  const windows = recent<Window>(MAX_CACHED);
  return async (platform, limit, who, by = 1) => {
    const window = Math.floor(platform.clock.now() / limit.windowMs);
    const name = `${limit.kind} ${who}`;
    const cached = windows.get(name);
    const state = cached?.window === window ? cached : { window, open: 0, refusal: undefined };
    if (state !== cached) windows.set(name, state);
    if (state.refusal) throw state.refusal;
    state.open += by;
    if (state.open < together) return;

    const counted = state.open;
    state.open = 0;
    await countAttempt(platform, limit, who, counted).catch((error: unknown) => {
      // Unwritten counts are added to the next write.
      if (error instanceof ApiError && error.code === "RATE_LIMITED") state.refusal = error;
      else state.open += counted;
      throw error;
    });
  };
}
