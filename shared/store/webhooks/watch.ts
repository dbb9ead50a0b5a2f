// The watchdog of webhook deliveries: a timer for each minute in which a workspace's deliveries were created.
import { HOUR, MINUTE } from "../../kernel/clock.ts";
import { timeOfUuid } from "../../kernel/ids.ts";
import type { Store, StoreReader } from "../context.ts";
import type { Key } from "../model.ts";
import { minuteOf } from "../platform-items.ts";
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

/** The minute that a delivery was created in. */
export const creationMinute = (delivery: string): number => minuteOf(timeOfUuid(delivery));

/** The deliveries created in a minute that are pending, of every endpoint. */
export async function pendingDeliveries(
  store: StoreReader,
  minute: number,
): Promise<{ webhook: string; delivery: DeliveryRecord }[]> {
  const range = { from: minute * MINUTE, to: (minute + 1) * MINUTE - 1, outcome: "pending" as const, limit: PAGE };
  const pending: { webhook: string; delivery: DeliveryRecord }[] = [];
  for (const { id: webhook } of await listWebhooks(store)) {
    let after: Key | undefined;
    do {
      const page = await listDeliveries(store, webhook, { ...range, after });
      pending.push(...page.rows.map((row) => ({ webhook, delivery: deliveryOf(row) })));
      after = page.next;
    } while (after);
  }
  return pending;
}
