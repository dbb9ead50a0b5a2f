// One attempt at one delivery: it is claimed before the request and recorded after it.
import { SECOND } from "../../../shared/kernel/clock.ts";
import { type AttemptResult, verdictOf } from "../../../shared/rules/webhook-events.ts";
import { abandonDelivery } from "../../../shared/store/webhooks/attempt-results.ts";
import {
  claimAttempt,
  type DeliveryRecord,
  findDelivery,
  UNKNOWN_RESULT,
} from "../../../shared/store/webhooks/deliveries.ts";
import { withGroupClaim } from "../../../shared/store/webhooks/group-claims.ts";
import type { WebhookRow } from "../../../shared/store/webhooks/items.ts";
import { disableFailing, findWebhook, signingSecrets } from "../../../shared/store/webhooks/webhooks.ts";
import { type AttemptMessage, mayPost, requeue, sequenceOf, type WorkerContext } from "./context.ts";
import { type Attempt, followUp, post, record } from "./posting.ts";

/** A message with the delivery and the endpoint that it names. */
interface Task {
  message: AttemptMessage;
  webhook: WebhookRow;
  delivery: DeliveryRecord;
}

const SOON_MS = SECOND;
const UNNUMBERED_MS = 5 * SECOND;

/** @param known the number of the delivery, where the message says it */
export async function perform(context: WorkerContext, message: AttemptMessage, known?: number): Promise<void> {
  const { store, ids, log, secrets } = context;
  const { webhook: webhookId, delivery: deliveryId, attempt: n } = message;
  const drop = (reason: string) => log({ level: "info", message: "a delivery was dropped", reason, ...message });
  const [webhook, found] = await Promise.all([
    findWebhook(store, webhookId),
    findDelivery(store, webhookId, deliveryId),
  ]);
  if (found?.delivery.outcome === "failed") await disableFailing(store, webhookId);
  if (found?.delivery.outcome !== "pending") return drop("it is not pending");
  const { body } = found;
  const isAlone = n > 1 || known !== undefined;
  const delivery = isAlone ? found.delivery : await withGroupClaim(store, webhookId, found.delivery);
  if (!webhook?.active || body === undefined || !(await mayPost(context))) {
    drop("its endpoint is gone or disabled, its payload was erased, or its workspace may not send");
    return abandonDelivery(store, webhookId, delivery);
  }
  if (delivery.attempt_count >= n) return resume(context, { message, webhook, delivery });
  // Before the claim: if the secrets cannot be read, no attempt is lost.
  const signing = signingSecrets(await secrets.root(), store, webhook);
  const sequence = known ?? (await sequenceOf(context, webhookId, delivery));
  if (sequence === undefined) return requeue(context, [message], UNNUMBERED_MS);
  const { id, earlier } = delivery;
  const isClaimed = await claimAttempt(store, { webhook: webhookId, id }, { n, earlier, sequence, owner: ids.uuid() });
  if (!isClaimed) return requeue(context, [message], SOON_MS);
  const attempt: Attempt = { webhook, delivery, n };
  const posted = await post(context, attempt, { body, signing, sequence });
  await followUp(context, webhook, [await record(context, attempt, posted)]);
}

/**
 * Continues after an attempt that was claimed before: the message of the next attempt may be missing, or the worker
 * failed during the request.
 */
async function resume(context: WorkerContext, { message, webhook, delivery }: Task): Promise<void> {
  const { clock, log } = context;
  const { attempt: n } = message;
  if (delivery.attempt_count > n) return log({ level: "info", message: "a repeated attempt was dropped", ...message });
  const recorded = delivery.attempts.find((attempt) => attempt.n === n);
  if (recorded) {
    const { status_code, error } = recorded;
    const result: AttemptResult =
      status_code === null ? { kind: "unanswered", error: error ?? "" } : { kind: "answered", status: status_code };
    const verdict = verdictOf(result, n - delivery.earlier);
    if (verdict.kind === "retry")
      await requeue(context, [{ ...message, attempt: n + 1 }], verdict.afterSeconds * SECOND);
    return;
  }
  const left = delivery.lease - clock.now();
  if (left > 0) return requeue(context, [message], left);
  const posted = { at: clock.now(), result: UNKNOWN_RESULT, isFinal: false };
  const sequence = delivery.storedCount < n ? (delivery.sequence ?? undefined) : undefined;
  await followUp(context, webhook, [await record(context, { webhook, delivery, n, sequence }, posted)]);
}
