// Drives the embedded queues as Lambda's pollers do: at least once, in any order, sometimes late.
import { queueArn } from "../../local/account.ts";
import type { Sqs } from "../../local/aws/index.ts";
import { MAX_RECEIVES, type QueueName, queueNames, WORKER_TIMEOUT_SECONDS } from "../../shared/contract/messages.ts";
import { MINUTE, SECOND } from "../../shared/kernel/clock.ts";
import type { Faults } from "./faults.ts";
import type { Fleet, Outcome } from "./fleet.ts";
import type { Kernel } from "./kernel.ts";

export interface ReceivedMessage {
  id: string;
  body: Record<string, unknown>;
}

interface QueueDeps {
  kernel: Kernel;
  sqs: Sqs;
  fleet: Fleet;
  faults: Faults;
  urlOf(queue: QueueName): string;
  /** A batch goes to its worker: trace points hang here. */
  starts(queue: QueueName, messages: ReceivedMessage[]): void;
}

/** Of a timer. What the table's stream leads to is no repair, though it may be worded alike. */
export const isWatchdog = ({ kind, watch, minute, segment }: ReceivedMessage["body"]): boolean =>
  kind === "continue" || (kind === "watch" && minute !== undefined) || (watch === true && segment !== undefined);

const MAX_CONCURRENT = 3;
const SOON_MS = 120;
const LATE_MS = 90 * SECOND;
/** An operator sends the messages of a dead-letter queue again so long after one arrived there. */
const REPAIRED_MS = 8 * MINUTE;

interface Message {
  MessageId: string;
  ReceiptHandle: string;
  Body: string;
  Attributes: Record<string, string>;
}

export function driveQueues({ kernel, sqs, fleet, faults, ...deps }: QueueDeps) {
  const { profile } = faults;
  const random = kernel.random.fork();
  const active = new Map<string, number>();
  let armed: { at: number; callOff(): void } | undefined;
  const isWorked = new Set<string>(queueNames);
  /** How often each poisoned message still fails. */
  const poisoned = new Map<string, number>();
  const known = new Set<string>();

  const pollSoon = (queue: QueueName) => {
    const isLate = faults.strikes(random, profile.late);
    kernel.after(random.between(1, isLate ? LATE_MS : SOON_MS), () => void poll(queue));
  };

  /** Delayed and hidden messages: one event for the earliest of them. */
  const arm = () => {
    const at = sqs.nextVisible();
    if (at === undefined || (armed && armed.at <= at)) return;
    armed?.callOff();
    const callOff = kernel.after(at - kernel.now(), () => {
      armed = undefined;
      for (const queue of queueNames) if (sqs.ready(queue) > 0) pollSoon(queue);
      arm();
    });
    armed = { at, callOff };
  };

  sqs.onSend((queue) => {
    if (!isWorked.has(queue)) return void redriveLater(queue);
    if (sqs.ready(queue) > 0) pollSoon(queue as QueueName);
    else arm();
  });

  let isRepairing = false;
  const redriveLater = (dead: string) => {
    if (isRepairing) return;
    isRepairing = true;
    kernel.after(random.between(MINUTE, REPAIRED_MS), async () => {
      isRepairing = false;
      poisoned.clear();
      kernel.note(`operator sends the messages of ${dead} again`);
      for (const queue of queueNames) {
        const { visible } = sqs.depth(`${queue}-dead`);
        if (visible > 0) await sqs.operate("StartMessageMoveTask", { SourceArn: queueArn(`${queue}-dead`) });
      }
    });
  };
  const isPoisoned = ({ MessageId }: Message) => {
    if (!known.has(MessageId)) {
      known.add(MessageId);
      // Most recover; the others come to the dead-letter queue.
      if (faults.strikes(random, profile.poison))
        poisoned.set(MessageId, random.chance(0.7) ? random.between(1, 2) : MAX_RECEIVES);
    }
    const left = poisoned.get(MessageId) ?? 0;
    if (left > 0) poisoned.set(MessageId, left - 1);
    return left > 0;
  };

  const poll = async (queue: QueueName) => {
    if ((active.get(queue) ?? 0) >= MAX_CONCURRENT) return;
    const QueueUrl = deps.urlOf(queue);
    const answer = await sqs.operate("ReceiveMessage", {
      QueueUrl,
      MaxNumberOfMessages: random.between(1, 10),
      MessageSystemAttributeNames: ["ApproximateReceiveCount"],
    });
    const messages = (answer.Messages ?? []) as Message[];
    arm();
    if (messages.length === 0) return;
    active.set(queue, (active.get(queue) ?? 0) + 1);
    const done = await work(queue, messages);
    // Now and then the deletion comes to nothing: the message is delivered again.
    const kept = done.filter(() => !faults.strikes(random, profile.duplicate / 4));
    for (const { ReceiptHandle } of kept) await sqs.operate("DeleteMessage", { QueueUrl, ReceiptHandle });
    active.set(queue, active.get(queue)! - 1);
    arm();
    if (sqs.ready(queue) > 0) pollSoon(queue);
  };

  const work = async (queue: QueueName, messages: Message[]): Promise<Message[]> => {
    const received = messages.map(({ MessageId, Body }) => ({ id: MessageId, body: JSON.parse(Body) }));
    deps.starts(queue, received);
    const sick = messages.filter(isPoisoned);
    const wanted = messages.filter(
      (message, at) => !sick.includes(message) && (profile.watchdog || !isWatchdog(received[at]!.body)),
    );
    if (sick.length > 0) kernel.note(`${queue} fails ${sick.map(({ Body }) => Body).join(", ")}`);
    if (wanted.length === 0) return messages.filter((message) => !sick.includes(message));
    const tenants = received.flatMap(({ body }) => (typeof body.tenant === "string" ? [body.tenant] : []));
    const Records = wanted.map(({ MessageId, Body, ReceiptHandle, Attributes }) => ({
      messageId: MessageId,
      body: Body,
      receiptHandle: ReceiptHandle,
      attributes: Attributes,
    }));
    const outcome = await fleet.invoke(queue, { Records }, { tenants, timeoutSeconds: WORKER_TIMEOUT_SECONDS });
    const failed = failedIn(outcome);
    return messages.filter((message) => !sick.includes(message) && !failed.includes(message.MessageId));

    function failedIn(result: Outcome): string[] {
      if ("failed" in result) return messages.map(({ MessageId }) => MessageId);
      const { batchItemFailures } = result.answer as { batchItemFailures: { itemIdentifier: string }[] };
      if (batchItemFailures.length > 0)
        kernel.note(`${queue} failed ${batchItemFailures.length} of ${messages.length}`);
      return batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
    }
  };

  return {
    /** A message from outside the service. */
    send: async (queue: QueueName, body: object) => {
      await sqs.operate("SendMessage", { QueueUrl: deps.urlOf(queue), MessageBody: JSON.stringify(body) });
    },
    depths: () => queueNames.flatMap((name) => [name, `${name}-dead`]).map((name) => ({ name, ...sqs.depth(name) })),
  };
}
