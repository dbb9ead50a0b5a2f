// The active webhook endpoints of a workspace and their events, read again only after one of them changed.
import { MINUTE } from "../../kernel/clock.ts";
import { perEnvironment } from "../../kernel/deps.ts";
import type { TenantId } from "../../kernel/ids.ts";
import type { WebhookEvent } from "../../rules/webhook-events.ts";
import { storeRead } from "../context.ts";
import type { WatcherVersion } from "../events/watchers.ts";
import { recent } from "../recent.ts";
import { listWebhooks } from "./webhooks.ts";

/** The most workspaces of which an environment caches the endpoints. */
const MAX_CACHED = 1_000;
/** During an upgrade, the release before changes endpoints without a new version for a minute. */
const KEPT_MS = MINUTE;

interface ActiveWebhook {
  id: string;
  events: readonly WebhookEvent[];
}

interface ActiveWebhooks {
  /**
   * The active endpoints, oldest first. @param known the version of the watchers as it was just read; undefined if
   * there never was one
   */
  of(tenant: string, known: Promise<WatcherVersion | undefined>): Promise<readonly ActiveWebhook[]>;
}

export const activeWebhooks = /* @__PURE__ */ perEnvironment(
  "activeWebhooks",
  { env: ["TABLE_NAME"], grants: [{ actions: ["dynamodb:Query"], on: "table" }] },
  (deps): ActiveWebhooks => {
    const bind = storeRead.open(deps);
    const cache = recent<{ version: number; readAt: number; webhooks: readonly ActiveWebhook[] }>(MAX_CACHED);
    const of: ActiveWebhooks["of"] = async (tenant, known) => {
      const { version } = (await known) ?? { version: 0 };
      const now = deps.clock.now();
      const cached = cache.get(tenant);
      if (cached && cached.version >= version && Math.abs(now - cached.readAt) < KEPT_MS) return cached.webhooks;
      const rows = await listWebhooks(bind(tenant as TenantId));
      const webhooks = rows.flatMap(({ id, events, active }) => (active ? [{ id, events }] : []));
      cache.set(tenant, { version, readAt: now, webhooks });
      return webhooks;
    };
    return { of };
  },
);
