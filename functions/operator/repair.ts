// Repairs by the operator: messages that used up their attempts, and counters.
import * as v from "valibot";
import { type DeadQueueName, deadQueueNames, isOfStream } from "../../shared/contract/messages.ts";
import { OneOf } from "../../shared/contract/schemas.ts";
import type { DeadLetter } from "../../shared/runtime/dead-letters.ts";
import { getWorkspace } from "../../shared/store/workspaces/workspaces.ts";
import type { OperatorContext, Refusal } from "./context.ts";

const Queue = OneOf(deadQueueNames);

export const DeadLettersRequest = v.strictObject({ dead_letters: v.strictObject({ queue: v.optional(Queue) }) });
export const RedriveRequest = v.strictObject({ redrive: v.strictObject({ queue: Queue }) });
export const RecountRequest = v.strictObject({ recount: v.strictObject({ tenant_id: v.string() }) });

/** The number of messages in each dead-letter queue; for one queue also the messages, at most 100. */
export async function seeDeadLetters(
  { deadLetters }: OperatorContext,
  { dead_letters: { queue } }: v.InferOutput<typeof DeadLettersRequest>,
): Promise<{ dead_letters: { queue: DeadQueueName; count: number }[]; messages?: DeadLetter[] } | Refusal> {
  if (queue !== undefined && !deadLetters.queues.includes(queue)) return notDeployed(queue);
  const names = queue === undefined ? deadLetters.queues : [queue];
  const counts = await Promise.all(names.map(async (name) => ({ queue: name, count: await deadLetters.count(name) })));
  if (queue === undefined) return { dead_letters: counts.filter(({ count }) => count > 0) };
  return { dead_letters: counts, messages: await deadLetters.read(queue) };
}

const notDeployed = (queue: DeadQueueName): Refusal => ({
  error: "conflict",
  message: `The deployment has no ${queue}: the settings eventBus and archive are off.`,
});

const streamRecords = (queue: DeadQueueName): Refusal => ({
  error: "conflict",
  message: `The messages of ${queue} name objects of a bucket, which hold the failed records. docs/operate.md says how to handle them again.`,
});

const stillMoving = (queue: DeadQueueName): Refusal => ({
  error: "conflict",
  message: `Messages of ${queue} are being sent again already. Redrive what is left once \`dead-letters\` counts no fewer of them than before.`,
});

/** Sends the messages of a dead-letter queue again. */
export async function redrive(
  { deadLetters }: OperatorContext,
  { redrive: { queue } }: v.InferOutput<typeof RedriveRequest>,
): Promise<{ redriven: { queue: DeadQueueName; count: number } } | Refusal> {
  if (!deadLetters.queues.includes(queue)) return notDeployed(queue);
  if (isOfStream(queue)) return streamRecords(queue);
  const redriven = await deadLetters.redrive(queue);
  return redriven.kind === "running" ? stillMoving(queue) : { redriven: { queue, count: redriven.count } };
}

/** Compares the counters of a workspace with the rows they count, and repairs them, as every night. */
export async function recount(
  { platform, recountQueue }: OperatorContext,
  { recount: { tenant_id } }: v.InferOutput<typeof RecountRequest>,
): Promise<{ recounting: { tenant_id: string } } | Refusal> {
  const workspace = await getWorkspace(platform, tenant_id);
  if (!workspace) return { error: "not_found" };
  await recountQueue.send([{ tenant: workspace.id }]);
  return { recounting: { tenant_id } };
}
