// Sends messages to a queue, each with its own delay.
import { SendMessageBatchCommand, SQSClient } from "@aws-sdk/client-sqs";
import type { QueueName } from "../contract/messages.ts";
import { SECOND } from "../kernel/clock.ts";
import { type Deps, setting } from "../kernel/deps.ts";
import { namedError } from "../kernel/errors.ts";
import { chunksOf } from "../rules/chunks.ts";
import { hashOf } from "./hash.ts";
import { type SandboxTimerInput, setSandboxTimers } from "./sandbox/timers.ts";

/** The env variable that holds a queue's URL. */
export const queueVariable = (queue: QueueName) => `${queue.toUpperCase().replaceAll("-", "_")}_QUEUE_URL`;

export interface DelayedMessage<M> {
  message: M;
  delaySeconds?: number | undefined;
}

/** Messages of one request, and requests in flight. */
const PER_REQUEST = 10;
const MAX_REQUESTS = 10;

/** Sends messages to a queue. In a sandbox a delay is one of its own time. */
export function openSender(
  deps: Deps,
  queue: QueueName,
): (entries: readonly DelayedMessage<unknown>[]) => Promise<void> {
  const client = deps.aws(SQSClient);
  const QueueUrl = setting(deps, queueVariable(queue));
  const request = async (batch: readonly DelayedMessage<unknown>[]) => {
    const entries = batch.map(({ message, delaySeconds }, i) => ({
      Id: String(i),
      MessageBody: bodyOf(message),
      ...groupOf(message),
      ...(delaySeconds && { DelaySeconds: delaySeconds }),
    }));
    const { Failed = [] } = await client.send(new SendMessageBatchCommand({ QueueUrl, Entries: entries }));
    if (Failed.length > 0)
      throw namedError(
        "ServiceUnavailable",
        `The queue ${queue} refused ${Failed.length} messages: ${Failed[0]?.Code}`,
      );
  };
  const { sandbox } = deps;
  return async (entries) => {
    const delayed = entries.filter(({ delaySeconds }) => sandbox && delaySeconds);
    const atOnce = delayed.length > 0 ? entries.filter((entry) => !delayed.includes(entry)) : entries;
    for (const requests of chunksOf(chunksOf(atOnce, PER_REQUEST), MAX_REQUESTS))
      await Promise.all(requests.map(request));
    // A delay of a queue is one of real time.
    if (sandbox && delayed.length > 0) await setSandboxTimers(deps, sandbox, delayed.map(delayedTimer(deps, queue)));
  };
}

/** A queue refuses two characters that JSON leaves as they are. */
const bodyOf = (message: unknown): string =>
  JSON.stringify(message).replaceAll(/[\ufffe\uffff]/g, (character) => `\\u${character.charCodeAt(0).toString(16)}`);

const delayedTimer =
  ({ clock }: Deps, queue: QueueName) =>
  ({ message, delaySeconds = 0 }: DelayedMessage<unknown>): SandboxTimerInput => ({
    at: clock.now() + delaySeconds * SECOND,
    name: `${queue}#${hashOf(JSON.stringify(message))}`,
    work: { kind: "message", queue, message },
  });

/** The fair-queue group of a message: the workspace that it names. */
const groupOf = (message: unknown): { MessageGroupId?: string } =>
  typeof message === "object" && message !== null && "tenant" in message
    ? { MessageGroupId: String(message.tenant) }
    : {};
