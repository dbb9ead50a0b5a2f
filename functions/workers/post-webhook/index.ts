// Posts deliveries to webhook endpoints: attempts are claimed before the request and recorded after it (WHK-1 to WHK-11).
// A watchdog queues pending deliveries again whose message was lost.

import { queueWorker } from "../../../shared/runtime/worker.ts";
import { dueAttemptOf, isUnderWay } from "../../../shared/store/webhooks/deliveries.ts";
import { pendingDeliveries, watchTimer } from "../../../shared/store/webhooks/watch.ts";
import { perform } from "./attempts.ts";
import { uses, type WatchMessage, type WorkerContext } from "./context.ts";
import { performGroup } from "./groups.ts";
import { performReplay } from "./replays.ts";

export const postWebhook = queueWorker(
  "post-webhook",
  "Posts events to webhook endpoints.",
  uses,
  async (message, context) => {
    if ("watch" in message) return watch(context, message);
    if ("replay" in message) return performReplay(context, message);
    return "first" in message ? performGroup(context, message) : perform(context, message);
  },
);

/** Queues pending deliveries again that no worker holds a lease on, and checks again as long as any is pending. */
async function watch(context: WorkerContext, { tenant, minute }: WatchMessage): Promise<void> {
  const { store, timers, postWebhookQueue: queue, log } = context;
  const pending = await pendingDeliveries(store, minute);
  if (pending.length === 0) return;
  await timers.set([watchTimer(store, minute)]);
  const lost = pending.filter(({ delivery }) => !isUnderWay(store, delivery));
  log({ level: "warn", message: "the watchdog found pending deliveries", tenant, minute, queued: lost.length });
  await queue.send(
    lost.map(({ webhook, delivery }) => ({
      tenant,
      webhook,
      delivery: delivery.id,
      attempt: dueAttemptOf(delivery),
    })),
  );
}
