// The first attempts of deliveries that were numbered together: one claim for all, one result for each.
import { throwFailures } from "../../../shared/kernel/failures.ts";
import { abandonDelivery } from "../../../shared/store/webhooks/attempt-results.ts";
import {
  ATTEMPT_LEASE_MS,
  type DeliveryRecord,
  deliveryOf,
  isKept,
  UNKNOWN_RESULT,
} from "../../../shared/store/webhooks/deliveries.ts";
import { DeliveryItem, type DeliveryRow } from "../../../shared/store/webhooks/delivery-items.ts";
import { claimGroup } from "../../../shared/store/webhooks/group-claims.ts";
import type { WebhookRow } from "../../../shared/store/webhooks/items.ts";
import { disableFailing, findWebhook, signingSecrets } from "../../../shared/store/webhooks/webhooks.ts";
import { perform } from "./attempts.ts";
import { attemptOf, type GroupMessage, mayPost, requeue, type WorkerContext } from "./context.ts";
import { followUp, type PostedAttempt, post, record } from "./posting.ts";

/** A delivery whose first attempt is due. */
interface Due {
  delivery: DeliveryRecord;
  sequence: number;
  body: string | undefined;
}

/** Makes the first attempts of the deliveries of a group, all to one endpoint. */
export async function performGroup(context: WorkerContext, message: GroupMessage): Promise<void> {
  const { store } = context;
  const [only, ...others] = message.deliveries;
  if (only !== undefined && others.length === 0) {
    return perform(context, attemptOf(message, only, 1), message.first);
  }
  const [webhook, { due, recorded }] = await Promise.all([
    findWebhook(store, message.webhook),
    readGroup(context, message),
  ]);
  // The message came before. Its worker may have stopped between the results and the follow-ups.
  await Promise.all(recorded.map(({ id, sequence }) => perform(context, attemptOf(message, id, 1), sequence)));
  if (due.length === 0) return disableFailing(store, message.webhook);
  if (!webhook) return abandon(context, message.webhook, due);
  await performDue(context, { message, webhook, due });
}

interface DueGroup {
  message: GroupMessage;
  webhook: WebhookRow;
  due: readonly Due[];
}

async function performDue(context: WorkerContext, { message, webhook, due }: DueGroup): Promise<void> {
  const { store, ids, secrets, clock } = context;
  const isOpen = webhook.active && (await mayPost(context));
  // Before the claim: if the secrets cannot be read, no attempt is lost.
  const signing = isOpen ? signingSecrets(await secrets.root(), store, webhook) : [];
  const posted = isOpen ? due.filter(({ body }) => body !== undefined) : [];
  // A delivery that is no longer held for its first attempt can be reopened: each such attempt is claimed alone.
  const isApart = posted.some(({ delivery }) => delivery.lease < clock.now() + ATTEMPT_LEASE_MS);
  const key = { webhook: webhook.id, first: message.first };
  const claim = await claimGroup(store, key, { owner: ids.uuid(), isApart });
  if (claim.kind === "held") return resumeGroup(context, { message, webhook, heldUntil: claim.until });

  const dropped = due.filter((delivery) => !posted.includes(delivery));
  if (dropped.length > 0) await abandon(context, webhook.id, dropped);
  switch (claim.kind) {
    case "claimed":
      return postAll(context, webhook, posted, signing);
    case "apart":
      return takeApart(context, message, posted);
  }
}

/**
 * The pending deliveries of a group that were not reopened: those whose first attempt is due, and those with a recorded
 * one.
 */
async function readGroup({ store }: WorkerContext, { webhook, first, deliveries }: GroupMessage) {
  const keys = deliveries.map((id) => ({ webhook, id }));
  const found = await store.getAll(DeliveryItem, keys);
  const isFirst = (row: DeliveryRow) => row.outcome === "pending" && row.reopened === undefined && isKept(store, row);
  const pending = found.flatMap((row, i) => (row && isFirst(row) ? [{ row, sequence: first + i }] : []));
  const rows = pending.filter(({ row }) => row.attempt_count === 0);
  const recorded = pending
    .filter(({ row }) => row.attempt_count === 1)
    .map(({ row, sequence }) => ({ id: row.id, sequence }));
  const due = rows.map(({ row, sequence }): Due => ({ delivery: deliveryOf(row), sequence, body: row.body }));
  return { due, recorded };
}

async function postAll(
  context: WorkerContext,
  webhook: WebhookRow,
  due: readonly Due[],
  signing: readonly string[],
): Promise<void> {
  const outcomes = await Promise.allSettled(
    due.map(async ({ delivery, sequence, body = "" }) => {
      const attempt = { webhook, delivery, n: 1, sequence };
      return record(context, attempt, await post(context, attempt, { body, signing, sequence }));
    }),
  );
  const recorded = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  await followUp(context, webhook, recorded);
  throwFailures(outcomes);
}

/** Continues after a worker that claimed the group: unrecorded attempts may have been sent. */
async function resumeGroup(
  context: WorkerContext,
  { message, webhook, heldUntil }: { message: GroupMessage; webhook: WebhookRow; heldUntil: number },
): Promise<void> {
  const { clock } = context;
  const left = heldUntil - clock.now();
  if (left > 0) return requeue(context, [message], left);
  const posted: PostedAttempt = { at: clock.now(), result: UNKNOWN_RESULT, isFinal: false };
  const { due } = await readGroup(context, message);
  const results = await Promise.all(
    due.map(({ delivery, sequence }) => record(context, { webhook, delivery, n: 1, sequence }, posted)),
  );
  await followUp(context, webhook, results);
}

/** Queues each delivery of a claimed group alone. */
async function takeApart(context: WorkerContext, message: GroupMessage, due: readonly Due[]): Promise<void> {
  const messages = due.map(({ delivery }) => attemptOf(message, delivery.id, 1));
  await requeue(context, messages, 0);
}

async function abandon({ store, log }: WorkerContext, webhook: string, due: readonly Due[]): Promise<void> {
  const deliveries = due.map(({ delivery }) => delivery.id);
  const reason = "their endpoint is gone or disabled, their payload was erased, or their workspace may not send";
  log({ level: "info", message: "deliveries were dropped", reason, tenant: store.tenant, webhook, deliveries });
  await Promise.all(due.map(({ delivery }) => abandonDelivery(store, webhook, delivery)));
}
