// A replay: one delivery after the other, in the order of their numbers. A delivery that fails is attempted again by a
// message of its own, while the replay goes on (AMB-124).
import { SECOND } from "../../../shared/kernel/clock.ts";
import { dueAttemptOf, findDelivery, isUnderWay } from "../../../shared/store/webhooks/deliveries.ts";
import { ReplayItem } from "../../../shared/store/webhooks/delivery-items.ts";
import { perform } from "./attempts.ts";
import { type ReplayMessage, requeue, type WorkerContext } from "./context.ts";

/** Another message continues after so much time: a worker has a minute, and an attempt may take ten seconds. */
const MAX_MS = 30 * SECOND;

export async function performReplay(context: WorkerContext, message: ReplayMessage): Promise<void> {
  const { store, clock, log } = context;
  const { tenant, webhook, replay } = message;
  const found = await store.get(ReplayItem, { webhook, id: replay });
  if (!found) return log({ level: "warn", message: "a replay was dropped", ...message });
  const until = clock.now() + MAX_MS;
  let { next } = message;
  for (; next < found.deliveries.length && clock.now() < until; next++) {
    const id = found.deliveries[next] ?? "";
    const delivery = (await findDelivery(store, webhook, id))?.delivery;
    if (delivery?.outcome !== "pending") continue;
    const attempt = { tenant, webhook, delivery: id, attempt: dueAttemptOf(delivery) };
    // It may be this replay's own attempt, whose worker stopped: a message of its own looks when its lease has ended.
    if (isUnderWay(store, delivery)) await requeue(context, [attempt], delivery.lease - clock.now());
    else await perform(context, attempt);
  }
  if (next < found.deliveries.length) await requeue(context, [{ ...message, next }], 0);
}
