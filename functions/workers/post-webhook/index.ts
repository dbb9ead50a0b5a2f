// Posts one delivery to its endpoint: the attempt is claimed before the request and recorded after it (WHK-1 to WHK-11).
import { type Clock, type Ids, SECOND } from "../../../shared/clock.ts";
import type { Context, LogEntry } from "../../../shared/deps.ts";
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
  type DeliveryRecord,
  findDelivery,
  recordAttempt,
} from "../../../shared/store/webhooks/deliveries.ts";
import type { WebhookRow } from "../../../shared/store/webhooks/items.ts";
import {
  disableFailing,
  failureWrite,
  findWebhook,
  noteSuccess,
  signingSecrets,
} from "../../../shared/store/webhooks/webhooks.ts";
import { queueWorker } from "../../../shared/worker.ts";

const uses = [storeWrite, secrets, workspaceRead, egress, postWebhookQueue] as const;
type WorkerContext = Context<typeof uses> & { clock: Clock; ids: Ids; log(entry: LogEntry): void };

/** A message with the delivery and the endpoint that it names. */
interface Task {
  message: Message<"post-webhook">;
  webhook: WebhookRow;
  delivery: DeliveryRecord;
}

export const postWebhook = queueWorker(
  "post-webhook",
  "Posts events to webhook endpoints.",
  uses,
  async (message, context) => {
    const { store, ids, log } = context;
    const { webhook: webhookId, delivery: deliveryId, attempt } = message;
    const drop = (reason: string) => log({ level: "info", message: "a delivery was dropped", reason, ...message });
    const [webhook, found] = await Promise.all([
      findWebhook(store, webhookId),
      findDelivery(store, webhookId, deliveryId),
    ]);
    if (found?.delivery.outcome !== "pending") return drop("it is not pending");
    const { delivery, body } = found;
    if (!webhook?.active || body === undefined || !(await mayPost(context))) {
      drop("its endpoint is gone or disabled, its payload was erased, or its workspace may not send");
      return abandonDelivery(store, webhookId, deliveryId);
    }
    const task = { message, webhook, delivery };
    if (delivery.attempt_count >= attempt) return resumeAttempt(context, task);
    if (!(await claimAttempt(store, webhookId, deliveryId, attempt, ids.uuid())))
      return requeue(context, message, { delaySeconds: 1 });
    await postDelivery(context, task, body);
  },
);

/** Nothing is sent for a workspace that is closed or suspended, or whose plan has no webhooks. */
async function mayPost({ workspace }: WorkerContext): Promise<boolean> {
  const workspaceRecord = await workspace();
  return workspaceRecord?.status === "active" && planHas(workspaceRecord.plan, "webhooks");
}

async function postDelivery(context: WorkerContext, task: Task, body: string): Promise<void> {
  const { store, clock, egress, secrets } = context;
  const { webhook, delivery } = task;
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
  await recordOutcome(context, task, { at, result, isFinal });
}

/**
 * Continues after an attempt that was claimed before: the message of the next attempt may be missing, or the worker
 * failed during the request.
 */
async function resumeAttempt(context: WorkerContext, task: Task): Promise<void> {
  const { message, delivery } = task;
  const { attempt } = message;
  if (delivery.attempt_count > attempt)
    return context.log({ level: "info", message: "a repeated attempt was dropped", ...message });
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
  await recordOutcome(context, task, { at: context.clock.now(), result, isFinal: false });
}

async function recordOutcome(
  context: WorkerContext,
  { message, webhook, delivery }: Task,
  { at, result, isFinal }: { at: number; result: AttemptResult; isFinal: boolean },
): Promise<void> {
  const { store } = context;
  const { attempt: n } = message;
  const verdict = isFinal ? ({ outcome: "failed" } as const) : verdictOf(result, n - delivery.earlier);
  const outcome = "outcome" in verdict ? verdict.outcome : "pending";
  const extraItems = outcome === "failed" ? [failureWrite(store, webhook.id)] : [];
  if (!(await recordAttempt(store, webhook.id, delivery.id, { n, at, result, outcome }, extraItems)))
    return context.log({ level: "info", message: "an attempt was recorded before", ...message });
  if ("retryAfterSeconds" in verdict)
    return requeue(context, { ...message, attempt: n + 1 }, { delaySeconds: verdict.retryAfterSeconds });
  if (verdict.outcome === "delivered") await noteSuccess(store, webhook);
  else await disableFailing(store, webhook.id);
}

const requeue = (
  { postWebhookQueue: queue }: WorkerContext,
  message: Message<"post-webhook">,
  options: { delaySeconds: number },
): Promise<void> => queue.send([message], options);
