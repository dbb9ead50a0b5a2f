// Posts deliveries to webhook endpoints: attempts are claimed before the request and recorded after it (WHK-1 to
// WHK-11). A watchdog queues pending deliveries again whose message was lost.
import { SECOND } from "../../../shared/kernel/clock.ts";
import { queueWorker } from "../../../shared/runtime/worker.ts";
import { dueAttemptOf, findDelivery, isUnderWay } from "../../../shared/store/webhooks/deliveries.ts";
import { ReplayItem } from "../../../shared/store/webhooks/delivery-items.ts";
import { pendingDeliveries, watchTimer } from "../../../shared/store/webhooks/watch.ts";
import { perform } from "./attempts.ts";
import { attemptOf, type ReplayMessage, requeue, uses, type WatchMessage, type WorkerContext } from "./context.ts";
import { performGroup } from "./groups.ts";

export const postWebhook = queueWorker(
  "post-webhook",
  "Posts events to webhook endpoints.",
  uses,
  async (message, context) => {
    switch (message.kind) {
      case "group":
        return performGroup(context, message);
      case "attempt":
        return perform(context, message);
      case "replay":
        return performReplay(context, message);
      case "watch":
        return watch(context, message);
    }
  },
);

/** Queues pending deliveries again that have no lease, and checks again as long as any is pending. */
async function watch(context: WorkerContext, { tenant, minute }: WatchMessage): Promise<void> {
  const { store, timers, postWebhookQueue: queue, log } = context;
  const pending = await pendingDeliveries(store, minute);
  if (pending.length === 0) return;
  await timers.set([watchTimer(store, minute)]);
  const lost = pending.filter(({ delivery }) => !isUnderWay(store, delivery));
  log({ level: "warn", message: "the watchdog found pending deliveries", tenant, minute, queued: lost.length });
  await queue.send(
    lost.map(({ webhook, delivery }) => attemptOf({ tenant, webhook }, delivery.id, dueAttemptOf(delivery))),
  );
}

/** Another message continues after this time: a worker has a minute, and an attempt may take ten seconds. */
const MAX_MS = 30 * SECOND;

async function performReplay(context: WorkerContext, message: ReplayMessage): Promise<void> {
  const { store, clock, log } = context;
  const { webhook, replay } = message;
  const found = await store.get(ReplayItem, { webhook, id: replay });
  if (!found) return log({ level: "warn", message: "a replay was dropped", ...message });
  const until = clock.now() + MAX_MS;
  let { next } = message;
  for (; next < found.deliveries.length && clock.now() < until; next++) {
    const id = found.deliveries[next] ?? "";
    const delivery = (await findDelivery(store, webhook, id))?.delivery;
    if (delivery?.outcome !== "pending") continue;
    const attempt = attemptOf(message, id, dueAttemptOf(delivery));
    // This may be an attempt of the replay itself whose worker stopped: a separate message looks when its lease has
    // ended.
    if (isUnderWay(store, delivery)) await requeue(context, [attempt], delivery.lease - clock.now());
    else await perform(context, attempt);
  }
  if (next < found.deliveries.length) await requeue(context, [{ ...message, next }], 0);
}
