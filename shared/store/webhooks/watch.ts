// The watchdog of webhook deliveries: a timer for each minute in which a workspace's deliveries were created.
import { HOUR, MINUTE } from "../../kernel/clock.ts";
import { perEnvironment } from "../../kernel/deps.ts";
import { type TenantId, timeOfUuid } from "../../kernel/ids.ts";
import { timers } from "../capabilities.ts";
import type { Store, StoreReader } from "../context.ts";
import type { Key } from "../model.ts";
import { minuteOf } from "../platform-items.ts";
import { pagesOf } from "../table.ts";
import type { Timer } from "../timers.ts";
import { type DeliveryRecord, deliveryOf } from "./deliveries.ts";
import { listDeliveries } from "./delivery-log.ts";
import { listWebhooks } from "./webhooks.ts";

/**
 * A delivery that is pending for so long is queued again. By then its message has been delivered or dead-lettered:
 * at most VISIBILITY_SECONDS after each of MAX_RECEIVES, 54 minutes.
 */
const WATCH_MS = HOUR;
const PAGE = 1_000;

/** The timer of deliveries that were created in a minute and are queued now; all queued within a minute share it. */
export const watchTimer = ({ clock }: Pick<Store, "clock">, minute: number): Timer => ({
  kind: "webhook-watch",
  id: String(minute),
  at: (minuteOf(clock.now()) + 1) * MINUTE + WATCH_MS,
});

const creationMinute = (delivery: string): number => minuteOf(timeOfUuid(delivery));

/** The deliveries created in a minute that are pending, of every endpoint. */
export async function pendingDeliveries(
  store: StoreReader,
  minute: number,
): Promise<{ webhook: string; delivery: DeliveryRecord }[]> {
  const range = { from: minute * MINUTE, to: (minute + 1) * MINUTE - 1, outcome: "pending" as const, limit: PAGE };
  const pending: { webhook: string; delivery: DeliveryRecord }[] = [];
  for (const { id: webhook } of await listWebhooks(store))
    for await (const { rows } of pagesOf((after?: Key) => listDeliveries(store, webhook, { ...range, after })))
      pending.push(...rows.map((row) => ({ webhook, delivery: deliveryOf(row) })));
  return pending;
}

interface WebhookWatch {
  /** Covers deliveries that are about to be queued. A timer that this environment has set costs no request again. */
  cover(deliveries: readonly { tenant: string; delivery: string }[]): Promise<void>;
}

export const webhookWatch = /* @__PURE__ */ perEnvironment("webhookWatch", timers, (deps): WebhookWatch => {
  const bind = timers.open(deps);
  /** The timers that were set in the current minute. */
  let known = { now: 0, timers: new Set<string>() };
  const cover: WebhookWatch["cover"] = async (deliveries) => {
    const now = Math.floor(deps.clock.now() / MINUTE);
    if (known.now !== now) known = { now, timers: new Set() };
    const set = known.timers;
    for (const [tenant, group] of Map.groupBy(deliveries, (delivery) => delivery.tenant)) {
      const minutes = [...new Set(group.map(({ delivery }) => creationMinute(delivery)))];
      const missing = minutes.filter((minute) => !set.has(`${tenant}#${minute}`));
      if (missing.length === 0) continue;
      await bind(tenant as TenantId).set(missing.map((minute) => watchTimer(deps, minute)));
      for (const minute of missing) set.add(`${tenant}#${minute}`);
    }
  };
  return { cover };
});
