// Shared by the tasks of this worker: their context, their messages, and the conditions of posting.
import type { Message } from "../../../shared/contract/messages.ts";
import { type Clock, SECOND } from "../../../shared/kernel/clock.ts";
import type { Context, LogEntry } from "../../../shared/kernel/deps.ts";
import type { Ids } from "../../../shared/kernel/ids.ts";
import { planHas } from "../../../shared/rules/plans.ts";
import { egress, postWebhookQueue } from "../../../shared/runtime/resources.ts";
import { secrets, timers, workspaceRead } from "../../../shared/store/capabilities.ts";
import { storeWrite } from "../../../shared/store/context.ts";
import type { DeliveryRecord } from "../../../shared/store/webhooks/deliveries.ts";
import { acceptedAt, numberLate, STREAM_MS, sequencesOf } from "../../../shared/store/webhooks/sequences.ts";

export const uses = [storeWrite, secrets, workspaceRead, egress, timers, postWebhookQueue] as const;
export type WorkerContext = Context<typeof uses> & { clock: Clock; ids: Ids; log(entry: LogEntry): void };

type QueueMessage = Message<"post-webhook">;
export type AttemptMessage = Extract<QueueMessage, { kind: "attempt" }>;
export type GroupMessage = Extract<QueueMessage, { kind: "group" }>;
export type ReplayMessage = Extract<QueueMessage, { kind: "replay" }>;
export type WatchMessage = Extract<QueueMessage, { kind: "watch" }>;

export const attemptOf = (
  { tenant, webhook }: Pick<AttemptMessage, "tenant" | "webhook">,
  delivery: string,
  attempt: number,
): AttemptMessage => ({ kind: "attempt", tenant, webhook, delivery, attempt });

/** Whether deliveries may be posted: not for a workspace that is closed or suspended, or whose plan has no webhooks. */
export async function mayPost({ workspace }: WorkerContext): Promise<boolean> {
  const workspaceRecord = await workspace();
  return workspaceRecord?.status === "active" && planHas(workspaceRecord.plan, "webhooks");
}

/** The number of a delivery; undefined for a new one that the stream has yet to number. */
export async function sequenceOf(
  { store, clock }: WorkerContext,
  webhook: string,
  { id, sequence, lease, attempt_count }: DeliveryRecord,
): Promise<number | undefined> {
  if (sequence !== null) return sequence;
  const row = { id, lease: attempt_count === 0 && lease > 0 ? lease : undefined };
  const since = acceptedAt(row);
  const found = (await sequencesOf(store, webhook, [{ id, acceptedAt: since }])).get(id);
  if (found !== undefined || clock.now() - since < STREAM_MS) return found;
  return numberLate(store, webhook, row);
}

export const requeue = (
  { postWebhookQueue: queue }: WorkerContext,
  messages: readonly QueueMessage[],
  milliseconds: number,
): Promise<void> => queue.send(messages, { delaySeconds: Math.ceil(milliseconds / SECOND) });
