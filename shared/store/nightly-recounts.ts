// Sets the timers of nightly recounts, for any workspace.
import { perEnvironment } from "../kernel/deps.ts";
import type { TenantId } from "../kernel/ids.ts";
import { timers } from "./capabilities.ts";
import { recountTimer } from "./recount-timer.ts";

interface NightlyRecounts {
  /** Plans the next recount of workspaces. A timer that this environment has set costs no request again. */
  plan(tenants: readonly string[]): Promise<void>;
}

export const nightlyRecounts = /* @__PURE__ */ perEnvironment("nightlyRecounts", timers, (deps): NightlyRecounts => {
  const bind = timers.open(deps);
  /** The time of the last recount that was planned, by workspace. */
  const planned = new Map<string, number>();
  const plan: NightlyRecounts["plan"] = async (tenants) => {
    const now = deps.clock.now();
    for (const tenant of new Set(tenants)) {
      if ((planned.get(tenant) ?? 0) > now) continue;
      const timer = recountTimer(now, tenant);
      await bind(tenant as TenantId).set([timer]);
      planned.set(tenant, timer.at);
    }
  };
  return { plan };
});
