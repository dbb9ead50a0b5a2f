// One request to an endpoint, and the follow-up of its result (WHK-7 to WHK-11).
import { SECOND } from "../../../shared/kernel/clock.ts";
import {
  ATTEMPT_TIMEOUT_MS,
  type AttemptResult,
  type Verdict,
  verdictOf,
  webhookHeaders,
} from "../../../shared/rules/webhook-events.ts";
import { type FinishedAttempt, recordAttempt } from "../../../shared/store/webhooks/attempt-results.ts";
import type { DeliveryRecord } from "../../../shared/store/webhooks/deliveries.ts";
import type { WebhookRow } from "../../../shared/store/webhooks/items.ts";
import { disableFailing, failureWrite, successWrites } from "../../../shared/store/webhooks/webhooks.ts";
import { type AttemptMessage, attemptOf, requeue, type WorkerContext } from "./context.ts";

/** A claimed attempt. */
export interface Attempt {
  webhook: WebhookRow;
  delivery: DeliveryRecord;
  n: number;
  /** For a first attempt that was claimed with its group. */
  sequence?: number | undefined;
}

/** The result of an attempt. `isFinal`: the target is never allowed. */
export interface PostedAttempt {
  at: number;
  result: AttemptResult;
  isFinal: boolean;
}

export async function post(
  { clock, egress }: WorkerContext,
  { webhook, delivery: { id, event_type } }: Attempt,
  { body, signing, sequence }: { body: string; signing: readonly string[]; sequence: number },
): Promise<PostedAttempt> {
  const at = clock.now();
  const answer = await egress.request({
    purpose: "webhook",
    url: webhook.target_url,
    headers: webhookHeaders(signing, { id, event_type, sequence }, body, at),
    body,
    timeoutMs: ATTEMPT_TIMEOUT_MS,
  });
  const result: AttemptResult =
    answer.kind === "answered"
      ? { kind: "answered", status: answer.status }
      : { kind: "unanswered", error: answer.reason };
  return { at, result, isFinal: answer.kind === "not_sent" && answer.isRefused };
}

/** The work left after a result is recorded. */
type FollowUp =
  | { kind: "delivered" }
  | { kind: "failed" }
  | { kind: "retry"; message: AttemptMessage; afterSeconds: number }
  /** The result was recorded or given up before: there is no follow-up. */
  | { kind: "settled before" };

export async function record(
  { store, log }: WorkerContext,
  { webhook, delivery, n, sequence }: Attempt,
  { at, result, isFinal }: PostedAttempt,
): Promise<FollowUp> {
  const verdict: Verdict = isFinal ? { kind: "failed" } : verdictOf(result, n - delivery.earlier);
  const outcome = verdict.kind === "retry" ? "pending" : verdict.kind;
  const failures = outcome === "failed" ? [failureWrite(store, webhook.id)] : [];
  const extraItems = outcome === "delivered" ? successWrites(webhook) : failures;
  // The attempt was given up, which may have counted as a failure since the endpoint was read.
  const lateItems = outcome === "delivered" ? successWrites({ ...webhook, consecutive_failures: 1 }) : extraItems;
  const attemptAt = (attempt: number) => attemptOf({ tenant: store.tenant, webhook: webhook.id }, delivery.id, attempt);
  const key = { webhook: webhook.id, id: delivery.id };
  const finished: FinishedAttempt = { n, at, result, outcome, sequence };
  const recorded = await recordAttempt(store, key, finished, { extraItems, lateItems });
  if (recorded === "settled before") {
    log({ level: "info", message: "an attempt was recorded or given up before", ...attemptAt(n) });
    return { kind: "settled before" };
  }
  if (verdict.kind !== "retry") return verdict;
  return { ...verdict, message: attemptAt(n + 1) };
}

/** Queues the next attempts, and disables an endpoint that fails permanently. */
export async function followUp(
  context: WorkerContext,
  webhook: WebhookRow,
  results: readonly FollowUp[],
): Promise<void> {
  const retries = results.filter((result) => result.kind === "retry");
  for (const [seconds, group] of Map.groupBy(retries, ({ afterSeconds }) => afterSeconds)) {
    const messages = group.map(({ message }) => message);
    await requeue(context, messages, seconds * SECOND);
  }
  if (results.some(({ kind }) => kind === "failed")) await disableFailing(context.store, webhook.id);
}
