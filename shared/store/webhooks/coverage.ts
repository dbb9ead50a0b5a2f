// Sets the watchdog of webhook deliveries, for any workspace.
import { MINUTE } from "../../kernel/clock.ts";
import type { Capability } from "../../kernel/deps.ts";
import type { TenantId } from "../../kernel/ids.ts";
import { timers } from "../capabilities.ts";
import { creationMinute, watchTimer } from "./watch.ts";

export interface WebhookWatch {
  /** Covers deliveries that are about to be queued. A timer that this environment has set costs no request again. */
  cover(deliveries: readonly { tenant: string; delivery: string }[]): Promise<void>;
}

export const webhookWatch: Capability<"webhookWatch", WebhookWatch> = {
  as: "webhookWatch",
  env: timers.env,
  grants: timers.grants,
  open: (deps) => {
    const bind = timers.open(deps);
    /** The timers that were set in the current minute. */
    let known = { now: 0, timers: new Set<string>() };
    const cover: WebhookWatch["cover"] = async (deliveries) => {
      const now = Math.floor(deps.clock.now() / MINUTE);
      if (known.now !== now) known = { now, timers: new Set() };
      const set = known.timers;
      for (const [tenant, group] of Map.groupBy(deliveries, (one) => one.tenant)) {
        const minutes = [...new Set(group.map(({ delivery }) => creationMinute(delivery)))];
        const missing = minutes.filter((minute) => !set.has(`${tenant}#${minute}`));
        if (missing.length === 0) continue;
        await bind(tenant as TenantId).set(missing.map((minute) => watchTimer(deps, minute)));
        for (const minute of missing) set.add(`${tenant}#${minute}`);
      }
    };
    return () => ({ cover });
  },
};
