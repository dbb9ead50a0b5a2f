// A queue and a dead-letter queue for every kind of message, and one for failed records of the table's stream.
import { Duration, type Stack } from "aws-cdk-lib";
import { Rule } from "aws-cdk-lib/aws-events";
import { SqsQueue } from "aws-cdk-lib/aws-events-targets";
import type { Bucket, CfnBucket } from "aws-cdk-lib/aws-s3";
import { Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import {
  type DeadQueueName,
  deadQueueOf,
  MAX_RECEIVES,
  type QueueName,
  queueNames,
  STREAM_WORKER,
  type StreamWorkerName,
  VISIBILITY_SECONDS,
} from "../shared/contract/messages.ts";
import { deployedName, logicalIdOf } from "./names.ts";

const DEAD_KEPT = Duration.days(14);

export interface Queues {
  live: ReadonlyMap<QueueName, Queue>;
  /** By the name of the worker whose messages end there, including the workers of the table's stream. */
  dead: ReadonlyMap<DeadQueueName, Queue>;
  /** What stands before the names of `shared/contract/messages.ts` in URLs and ARNs. */
  urlPrefix: string;
  arnPrefix: string;
}

/** @param failures where the failed records of each worker of the stream go */
export function createQueues(stack: Stack, failures: ReadonlyMap<StreamWorkerName, Bucket>): Queues {
  const safe = { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true };
  const deadQueue = (name: DeadQueueName) =>
    new Queue(stack, `${logicalIdOf(name)}DeadQueue`, {
      ...safe,
      queueName: deployedName(stack.stackName, deadQueueOf(name)),
      retentionPeriod: DEAD_KEPT,
    });

  const dead = new Map<DeadQueueName, Queue>();
  const live = new Map<QueueName, Queue>();
  for (const name of queueNames) {
    const deadLetters = deadQueue(name);
    dead.set(name, deadLetters);
    const queue = new Queue(stack, `${logicalIdOf(name)}Queue`, {
      ...safe,
      queueName: deployedName(stack.stackName, name),
      visibilityTimeout: Duration.seconds(VISIBILITY_SECONDS),
      deadLetterQueue: { queue: deadLetters, maxReceiveCount: MAX_RECEIVES },
    });
    live.set(name, queue);
  }
  for (const [name, bucket] of failures) {
    const notes = deadQueue(name);
    dead.set(name, notes);
    announce(stack, name, bucket, notes);
  }
  const { region, account, urlSuffix } = stack;
  const prefix = deployedName(stack.stackName, "");
  return {
    live,
    dead,
    urlPrefix: `https://sqs.${region}.${urlSuffix}/${account}/${prefix}`,
    arnPrefix: stack.formatArn({ service: "sqs", resource: prefix }),
  };
}

/** A failed record goes to the bucket, and a note of it to the queue, so that one kind of alarm is enough. */
function announce(stack: Stack, worker: StreamWorkerName, failures: Bucket, notes: Queue): void {
  // Through EventBridge: S3's own notification begins with a test message, which would trigger the alarm.
  const bucket = failures.node.defaultChild as CfnBucket;
  bucket.notificationConfiguration = { eventBridgeConfiguration: { eventBridgeEnabled: true } };
  new Rule(stack, worker === STREAM_WORKER ? "GivenUp" : `${logicalIdOf(worker)}GivenUp`, {
    description: "Stream records that could not be handled were put into the bucket.",
    eventPattern: {
      source: ["aws.s3"],
      detailType: ["Object Created"],
      detail: { bucket: { name: [failures.bucketName] } },
    },
    targets: [new SqsQueue(notes)],
  });
}
