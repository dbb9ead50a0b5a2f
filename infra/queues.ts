// A queue and a dead-letter queue for every kind of message, and one for what the table's stream could not hand on.
import { Duration, type Stack } from "aws-cdk-lib";
import { Effect, PolicyStatement, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { type Bucket, CfnBucket } from "aws-cdk-lib/aws-s3";
import { type CfnQueuePolicy, Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import { MAX_RECEIVES, type QueueName, queueNames, VISIBILITY_SECONDS } from "../shared/messages.ts";
import { logicalIdOf } from "./functions.ts";

const DEAD_KEPT = Duration.days(14);

export interface Queues {
  live: ReadonlyMap<QueueName, Queue>;
  /** By the name of the worker whose messages end there; that of the table's stream too. */
  dead: ReadonlyMap<string, Queue>;
}

/** The worker that the table's stream wakes (house.md, "Reactions"). */
export const STREAM_WORKER = "react";

export function createQueues(stack: Stack, failures: Bucket): Queues {
  const safe = { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true };
  const deadQueue = (name: string) =>
    new Queue(stack, `${logicalIdOf(name)}DeadQueue`, {
      ...safe,
      queueName: `${stack.stackName}-${name}-dead`,
      retentionPeriod: DEAD_KEPT,
    });

  const dead = new Map<string, Queue>();
  const live = new Map<QueueName, Queue>();
  for (const name of queueNames) {
    const deadLetters = deadQueue(name);
    dead.set(name, deadLetters);
    const queue = new Queue(stack, `${logicalIdOf(name)}Queue`, {
      ...safe,
      queueName: `${stack.stackName}-${name}`,
      visibilityTimeout: Duration.seconds(VISIBILITY_SECONDS),
      deadLetterQueue: { queue: deadLetters, maxReceiveCount: MAX_RECEIVES },
    });
    live.set(name, queue);
  }
  const reactions = deadQueue(STREAM_WORKER);
  dead.set(STREAM_WORKER, reactions);
  announce(stack, failures, reactions);
  return { live, dead };
}

/** A record given up lands in the bucket, and a note of it in the queue, so that one kind of alarm is enough. */
function announce(stack: Stack, failures: Bucket, notes: Queue): void {
  notes.addToResourcePolicy(
    new PolicyStatement({
      effect: Effect.ALLOW,
      principals: [new ServicePrincipal("s3.amazonaws.com")],
      actions: ["sqs:SendMessage"],
      resources: [notes.queueArn],
      // The bucket's own ARN would be a circle: S3 asks for the right to send while the bucket is made.
      conditions: { StringEquals: { "aws:SourceAccount": stack.account } },
    }),
  );
  const bucket = failures.node.defaultChild as CfnBucket;
  bucket.notificationConfiguration = {
    queueConfigurations: [{ event: "s3:ObjectCreated:*", queue: notes.queueArn }],
  };
  bucket.addDependency(notes.node.findChild("Policy").node.defaultChild as CfnQueuePolicy);
}
