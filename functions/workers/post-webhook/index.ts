// Posts one delivery to its endpoint: the attempt is claimed before the request and recorded after it (WHK-1 to WHK-11).
import { type Clock, type Ids, SECOND } from "../../../shared/clock.ts";
import type { Context } from "../../../shared/deps.ts";
import type { Message } from "../../../shared/messages.ts";
import { planHas } from "../../../shared/plans.ts";
import { egress, postWebhookQueue, secrets, storeWrite, workspaceRead } from "../../../shared/resources.ts";
import {
  ATTEMPT_TIMEOUT_MS,
  type AttemptResult,
  verdictOf,
  webhookHeaders,
} from "../../../shared/rules/webhook-events.ts";
import {
  abandonDelivery,
  claimAttempt,
  type DeliveryItem,
  findDelivery,
  recordAttempt,
} from "../../../shared/store/webhooks/deliveries.ts";
import {
  failureWrite,
  findWebhook,
  noteSuccess,
  signingSecrets,
  switchOffFailing,
  type WebhookItem,
} from "../../../shared/store/webhooks/webhooks.ts";
import { queueWorker } from "../../../shared/worker.ts";

const uses = [storeWrite, secrets, workspaceRead, egress, postWebhookQueue] as const;
type WorkerContext = Context<typeof uses> & { clock: Clock; ids: Ids };

export const postWebhook = queueWorker(
  "post-webhook",
  "Posts events to webhook endpoints.",
  uses,
  async (message, context) => {
    const { store, ids } = context;
    const { webhook: id, delivery: deliveryId, attempt } = message;
    const [webhook, found] = await Promise.all([findWebhook(store, id), findDelivery(store, id, deliveryId)]);
    if (found?.delivery.outcome !== "pending") return;
    const { delivery, body } = found;
    if (!webhook?.active || body === undefined || !(await mayPost(context)))
      return abandonDelivery(store, id, deliveryId);
    if (delivery.attempt_count >= attempt) return resume(context, message, webhook, delivery);
    if (!(await claimAttempt(store, id, deliveryId, attempt, ids.uuid())))
      return requeue(context, message, { delaySeconds: 1 });
    await post(context, message, webhook, delivery, body);
  },
);

/** A workspace that was closed, suspended or put on a plan without webhooks tells nobody anything. */
async function mayPost({ workspace }: WorkerContext): Promise<boolean> {
  const workspaceRecord = await workspace();
  return workspaceRecord?.status === "active" && planHas(workspaceRecord.plan, "webhooks");
}

async function post(
  context: WorkerContext,
  message: Message<"post-webhook">,
  webhook: WebhookItem,
  delivery: DeliveryItem,
  body: string,
): Promise<void> {
  const { store, clock, egress, secrets } = context;
  const signing = signingSecrets(await secrets.root(), store, webhook);
  const at = clock.now();
  const answer = await egress.request({
    purpose: "webhook",
    url: webhook.target_url,
    headers: webhookHeaders(signing, delivery.id, delivery.event_type, body, at),
    body,
    timeoutMs: ATTEMPT_TIMEOUT_MS,
  });
  const result: AttemptResult = answer.outcome === "answered" ? { status: answer.status } : { error: answer.reason };
  const isFinal = answer.outcome === "not_sent" && answer.isRefused;
  await recordOutcome(context, message, webhook, delivery, { at, result, isFinal });
}

/** An attempt that was begun before: its next one may have got lost, or the one who made it is gone. */
async function resume(
  context: WorkerContext,
  message: Message<"post-webhook">,
  webhook: WebhookItem,
  delivery: DeliveryItem,
): Promise<void> {
  const { attempt } = message;
  if (delivery.attempt_count > attempt) return;
  const recorded = delivery.attempts.find(({ n }) => n === attempt);
  if (recorded) {
    const { status_code, error } = recorded;
    const result = status_code === null ? { error: error ?? "" } : { status: status_code };
    const verdict = verdictOf(result, attempt - delivery.earlier);
    if ("retryAfterSeconds" in verdict)
      await requeue(context, { ...message, attempt: attempt + 1 }, { delaySeconds: verdict.retryAfterSeconds });
    return;
  }
  const left = delivery.lease - context.clock.now();
  if (left > 0) return requeue(context, message, { delaySeconds: Math.ceil(left / SECOND) });
  const result = { error: "the outcome of this attempt is not known" };
  await recordOutcome(context, message, webhook, delivery, { at: context.clock.now(), result, isFinal: false });
}

async function recordOutcome(
  context: WorkerContext,
  message: Message<"post-webhook">,
  webhook: WebhookItem,
  delivery: DeliveryItem,
  { at, result, isFinal }: { at: number; result: AttemptResult; isFinal: boolean },
): Promise<void> {
  const { store } = context;
  const { attempt: n } = message;
  const verdict = isFinal ? ({ outcome: "failed" } as const) : verdictOf(result, n - delivery.earlier);
  const outcome = "outcome" in verdict ? verdict.outcome : "pending";
  const extraItems = outcome === "failed" ? [failureWrite(store, webhook.id)] : [];
  if (!(await recordAttempt(store, webhook.id, delivery.id, { n, at, result, outcome }, extraItems))) return;
  if ("retryAfterSeconds" in verdict)
    return requeue(context, { ...message, attempt: n + 1 }, { delaySeconds: verdict.retryAfterSeconds });
  if (verdict.outcome === "delivered") await noteSuccess(store, webhook);
  else await switchOffFailing(store, webhook.id);
}

const requeue = (
  { postWebhookQueue: queue }: WorkerContext,
  message: Message<"post-webhook">,
  options: { delaySeconds: number },
): Promise<void> => queue.send([message], options);
