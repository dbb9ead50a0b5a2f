// One attempt at one delivery: it is claimed before the request and recorded after it.
import { SECOND } from "../../../shared/kernel/clock.ts";
import { type AttemptResult, type Verdict, verdictOf } from "../../../shared/rules/webhook-events.ts";
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

interface Task {
  message: AttemptMessage;
  webhook: WebhookRow;
  delivery: DeliveryRecord;
}

type Step =
  | { kind: "post"; task: Task; body: string }
  /** The attempt was claimed before: the rest of its work is done. */
  | { kind: "resume"; task: Task }
  /** The delivery ends without this attempt. */
  | { kind: "abandon"; delivery: DeliveryRecord }
  /** Its delivery has ended. */
  | { kind: "over"; hasFailed: boolean };

const SOON_MS = SECOND;
const UNNUMBERED_MS = 5 * SECOND;

/** Performs an attempt. @param known the number of the delivery, if the message has it */
export async function perform(context: WorkerContext, message: AttemptMessage, known?: number): Promise<void> {
  const { store, log } = context;
  const drop = (reason: string) => log({ level: "info", message: "a delivery was dropped", reason, ...message });
  const step = await nextStep(context, message, known);
  switch (step.kind) {
    case "post":
      return postOnce(context, step, known);
    case "resume":
      return resume(context, step.task);
    case "abandon":
      drop("its endpoint is gone or disabled, its payload was erased, or its workspace may not send");
      return abandonDelivery(store, message.webhook, step.delivery);
    case "over":
      if (step.hasFailed) await disableFailing(store, message.webhook);
      return drop("it is not pending");
  }
}

/** Decides from the stored state. It only reads. */
async function nextStep(context: WorkerContext, message: AttemptMessage, known: number | undefined): Promise<Step> {
  const { store } = context;
  const { webhook: id, delivery: deliveryId, attempt: n } = message;
  const [webhook, found] = await Promise.all([findWebhook(store, id), findDelivery(store, id, deliveryId)]);
  if (found?.delivery.outcome !== "pending") return { kind: "over", hasFailed: found?.delivery.outcome === "failed" };

  const { body } = found;
  const isAlone = n > 1 || known !== undefined;
  const delivery = isAlone ? found.delivery : await withGroupClaim(store, id, found.delivery);
  const isOpen = webhook?.active && body !== undefined && (await mayPost(context));
  if (!isOpen) return { kind: "abandon", delivery };
  const task = { message, webhook, delivery };
  return delivery.attempt_count >= n ? { kind: "resume", task } : { kind: "post", task, body };
}

async function postOnce(
  context: WorkerContext,
  { task, body }: Extract<Step, { kind: "post" }>,
  known: number | undefined,
): Promise<void> {
  const { store, ids, secrets } = context;
  const { message, webhook, delivery } = task;
  const { id, earlier } = delivery;
  // Before the claim: if the secrets cannot be read, no attempt is lost.
  const signing = signingSecrets(await secrets.root(), store, webhook);
  const sequence = known ?? (await sequenceOf(context, webhook.id, delivery));
  if (sequence === undefined) return requeue(context, [message], UNNUMBERED_MS);

  const attempt: Attempt = { webhook, delivery, n: message.attempt };
  const claim = { n: attempt.n, earlier, sequence, owner: ids.uuid() };
  const claimed = await claimAttempt(store, { webhook: webhook.id, id }, claim);
  if (claimed === "taken") return requeue(context, [message], SOON_MS);

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
  if (recorded) return retry(context, message, verdictOf(resultOf(recorded), n - delivery.earlier));

  const left = delivery.lease - clock.now();
  if (left > 0) return requeue(context, [message], left);
  const posted = { at: clock.now(), result: UNKNOWN_RESULT, isFinal: false };
  const sequence = delivery.storedCount < n ? (delivery.sequence ?? undefined) : undefined;
  await followUp(context, webhook, [await record(context, { webhook, delivery, n, sequence }, posted)]);
}

/** Queues the next attempt, if there is one. */
async function retry(context: WorkerContext, message: AttemptMessage, verdict: Verdict): Promise<void> {
  if (verdict.kind !== "retry") return;
  await requeue(context, [{ ...message, attempt: message.attempt + 1 }], verdict.afterSeconds * SECOND);
}

const resultOf = ({ status_code, error }: DeliveryRecord["attempts"][number]): AttemptResult =>
  status_code === null ? { kind: "unanswered", error: error ?? "" } : { kind: "answered", status: status_code };
