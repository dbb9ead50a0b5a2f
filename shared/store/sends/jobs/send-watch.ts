// The watch of sends to one subscriber: one timer for all sends of a workspace in a quarter-hour (docs/decisions/0047).
import { perEnvironment } from "../../../kernel/deps.ts";
import type { Store } from "../../context.ts";
import { recent } from "../../recent.ts";
import type { Timer, Timers } from "../../timers.ts";
import { QUARTER_MS, quarterAt } from "../../workspaces/sends-ahead.ts";

const MAX_CACHED_WORKSPACES = 1_000;

export interface SendWatch {
  /** Sets the timer of the quarter-hour of a send's id, unless this environment has done so. The send is stored after it. */
  ensure(store: Pick<Store, "tenant" | "clock">, timers: Timers, quarter: number): Promise<void>;
}

/** The quarter-hours whose timers an environment has set. */
export const sendWatch = /* @__PURE__ */ perEnvironment("sendWatch", {}, (): SendWatch => {
  const set = recent<number>(MAX_CACHED_WORKSPACES);
  return {
    ensure: async ({ tenant, clock }, timers, quarter) => {
      if (set.get(tenant) === quarter) return;
      await timers.set([watchOf(quarter, clock.now())]);
      set.set(tenant, quarter);
    },
  };
});

/** The next watch of the sends of a quarter-hour: at least 15 minutes later, at the same time in every process that sets it. */
export const watchOf = (quarter: number, now: number): Timer => ({
  kind: "sends-watch",
  id: String(quarter),
  at: (quarterAt(now) + 2) * QUARTER_MS,
});
