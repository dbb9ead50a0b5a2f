// Messages that used up their attempts: counted, read without removing them, and sent again.
import {
  ChangeMessageVisibilityBatchCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  SQSClient,
  StartMessageMoveTaskCommand,
} from "@aws-sdk/client-sqs";
import { type DeadQueueName, deadQueueNames, deadQueueOf, PUBLISHER, queueNames } from "../contract/messages.ts";
import { publishedEnv, publishedParts } from "../contract/stream-sources.ts";
import { timestamp } from "../kernel/clock.ts";
import { type Deps, perEnvironment, setting } from "../kernel/deps.ts";
import { chunksOf } from "../rules/chunks.ts";

export interface DeadLetter {
  id: string;
  sent_at: string | null;
  /** How often it was received, which includes reading it here. */
  received: number;
  /** The message: ids only. */
  message: unknown;
}

interface DeadLetters {
  queues: readonly DeadQueueName[];
  count(queue: DeadQueueName): Promise<number>;
  /** Reads at most 100 messages, which stay in the queue. */
  read(queue: DeadQueueName): Promise<DeadLetter[]>;
  /** Begins to move all messages back to the queue that they came from. */
  redrive(queue: DeadQueueName): Promise<Redrive>;
}

/** `count` messages were there; `running`: an earlier move of this queue is not over, and SQS accepts only one. */
type Redrive = { kind: "begun"; count: number } | { kind: "running" };

const MAX_READ = 100;
const PER_REQUEST = 10;
/** Messages that were read are hidden in the meantime, so that each is read once. */
const HIDDEN_SECONDS = 20;

const reading = ["sqs:GetQueueAttributes", "sqs:ReceiveMessage", "sqs:ChangeMessageVisibility"];
const moving = ["sqs:StartMessageMoveTask", "sqs:DeleteMessage"];

export const deadLetters = /* @__PURE__ */ perEnvironment(
  "deadLetters",
  {
    env: ["QUEUE_URL_PREFIX", "QUEUE_ARN_PREFIX", ...publishedEnv],
    grants: [
      ...deadQueueNames.map((name) => ({ actions: [...reading, ...moving], on: `dead:${name}` })),
      ...queueNames.map((name) => ({ actions: ["sqs:SendMessage"], on: `queue:${name}` })),
    ],
  },
  openDeadLetters,
);

function openDeadLetters(deps: Deps): DeadLetters {
  const client = deps.aws(SQSClient);
  const placeOf = (queue: DeadQueueName) => ({ QueueUrl: `${setting(deps, "QUEUE_URL_PREFIX")}${deadQueueOf(queue)}` });

  const count: DeadLetters["count"] = async (queue) => {
    const AttributeNames = ["ApproximateNumberOfMessages"] as const;
    const { Attributes = {} } = await client.send(
      new GetQueueAttributesCommand({ ...placeOf(queue), AttributeNames: [...AttributeNames] }),
    );
    return Number(Attributes.ApproximateNumberOfMessages ?? 0);
  };

  const release = async (queue: DeadQueueName, messages: readonly Message[]) => {
    for (const batch of chunksOf(messages, PER_REQUEST)) {
      const Entries = batch.map(({ ReceiptHandle }, n) => ({ Id: String(n), ReceiptHandle, VisibilityTimeout: 0 }));
      await client.send(new ChangeMessageVisibilityBatchCommand({ ...placeOf(queue), Entries }));
    }
  };

  const read: DeadLetters["read"] = async (queue) => {
    const total = Math.min(MAX_READ, await count(queue));
    const found: Message[] = [];
    while (found.length < total) {
      const { Messages = [] } = await client.send(
        new ReceiveMessageCommand({
          ...placeOf(queue),
          MaxNumberOfMessages: PER_REQUEST,
          VisibilityTimeout: HIDDEN_SECONDS,
          // A short poll reads only some of SQS's servers.
          WaitTimeSeconds: 1,
          MessageSystemAttributeNames: ["SentTimestamp", "ApproximateReceiveCount"],
        }),
      );
      if (Messages.length === 0) break;
      found.push(...Messages);
    }
    await release(queue, found);
    return found.map(shownOf);
  };

  const { bus, archive } = publishedParts(deps.env);
  return {
    queues: deadQueueNames.filter((name) => name !== PUBLISHER || bus || archive),
    count,
    read,
    redrive: async (queue) => {
      const found = await count(queue);
      if (found === 0) return { kind: "begun", count: 0 };
      const prefix = setting(deps, "QUEUE_ARN_PREFIX");
      const move = new StartMessageMoveTaskCommand({
        SourceArn: `${prefix}${deadQueueOf(queue)}`,
        DestinationArn: `${prefix}${queue}`,
      });
      return client.send(move).then(
        () => ({ kind: "begun", count: found }),
        (error: Error) => {
          // SQS has no error name for this, only a message.
          if (/already a task running/.test(error.message)) return { kind: "running" };
          throw error;
        },
      );
    },
  };
}

function shownOf({ MessageId = "", Attributes = {}, Body = "" }: Message): DeadLetter {
  const { SentTimestamp, ApproximateReceiveCount } = Attributes;
  return {
    id: MessageId,
    sent_at: SentTimestamp === undefined ? null : timestamp(Number(SentTimestamp)),
    received: Number(ApproximateReceiveCount ?? 0),
    message: parsed(Body),
  };
}

/** A message that is not JSON may have failed because of that. */
function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}
