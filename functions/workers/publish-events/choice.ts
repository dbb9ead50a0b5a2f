// The workspaces whose received events go to the bus, as the operator chose.
import { MINUTE } from "../../../shared/kernel/clock.ts";
import { NO_TENANT, perEnvironment } from "../../../shared/kernel/deps.ts";
import { platformRead } from "../../../shared/store/context.ts";
import { recent } from "../../../shared/store/recent.ts";
import { WorkspaceItem } from "../../../shared/store/workspaces/items.ts";

/** The most workspaces whose choice an environment remembers. */
const MAX_CACHED = 1_000;
const REMEMBERED_MS = MINUTE;

interface EventsOnBus {
  /** Whether the events that a workspace receives go to the bus. A change takes effect within a minute. */
  isChosen(tenant: string): Promise<boolean>;
}

export const eventsOnBus = /* @__PURE__ */ perEnvironment(
  "eventsOnBus",
  { env: platformRead.env, grants: [{ actions: ["dynamodb:GetItem"], on: "table" }] },
  (deps): EventsOnBus => {
    const platform = platformRead.open(deps)(NO_TENANT);
    const cache = recent<{ until: number; isChosen: boolean }>(MAX_CACHED);
    const isChosen: EventsOnBus["isChosen"] = async (tenant) => {
      const now = deps.clock.now();
      const cached = cache.get(tenant);
      if (cached && cached.until > now) return cached.isChosen;
      const row = await platform.get(WorkspaceItem, { tenant }, { eventual: true });
      const found = row?.events_on_bus ?? false;
      cache.set(tenant, { until: now + REMEMBERED_MS, isChosen: found });
      return found;
    };
    return { isChosen };
  },
);
