// Handles failed records of the table's stream again: the dead letters of its workers name the objects that hold them.
import { GetObjectCommand, S3Client } from "@aws-sdk/client-s3";
import {
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  type Message,
  ReceiveMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import * as v from "valibot";
import type { Aws } from "../shared/kernel/deps.ts";

/** Longer than one invocation of a worker. A message that fails again is received once by a command. */
const HIDDEN_SECONDS = 300;

/** Invokes a function with an event. @throws if it fails */
export type Invoke = (event: object) => Promise<unknown>;

const ObjectCreated = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    detail: v.object({ bucket: v.object({ name: v.string() }), object: v.object({ key: v.string() }) }),
  }),
);

interface StoredObject {
  bucket: string;
  key: string;
}

/**
 * Gives each batch to the worker that gave it up, and deletes its message when it was handled. The object stays until it
 * expires.
 * @param QueueName of the dead letters of the worker
 * @returns how many batches were handled
 * @throws an error with what failed again; those messages stay
 */
export async function redriveRecords(aws: Aws, QueueName: string, worker: Invoke): Promise<number> {
  const sqs = aws(SQSClient);
  const { QueueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName }));
  const { Attributes } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["ApproximateNumberOfMessages"] }),
  );
  const failed: string[] = [];
  let handled = 0;
  for (let left = Number(Attributes?.ApproximateNumberOfMessages ?? 0); left > 0; left--) {
    const { Messages: [message] = [] } = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 1, VisibilityTimeout: HIDDEN_SECONDS }),
    );
    if (message === undefined) break;
    const object = objectIn(message);
    if (object === undefined) {
      failed.push(`message ${message.MessageId}: it names no object of S3`);
      continue;
    }
    try {
      checkHandled(await worker(await eventAt(aws, object)));
    } catch (error) {
      failed.push(`s3://${object.bucket}/${object.key}: ${(error as Error).message}`);
      continue;
    }
    await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: message.ReceiptHandle }));
    handled++;
  }
  if (failed.length === 0) return handled;
  throw new Error(`${handled} batches were handled, ${failed.length} failed again:\n${failed.join("\n")}`);
}

/** A worker may answer that it did not handle some of the records. @throws an error that names the first */
function checkHandled(answer: unknown): void {
  const { batchItemFailures: [first] = [] } = Object(answer) as { batchItemFailures?: { itemIdentifier: string }[] };
  if (first) throw new Error(`the record ${first.itemIdentifier} failed`);
}

/** The object that a message of EventBridge is about; undefined for any other message. */
function objectIn({ Body }: Message): StoredObject | undefined {
  const parsed = v.safeParse(ObjectCreated, Body);
  if (!parsed.success) return undefined;
  const { bucket, object } = parsed.output.detail;
  return { bucket: bucket.name, key: object.key };
}

/** The event that failed, of the record that Lambda stored: as an object, or as its text. */
async function eventAt(aws: Aws, { bucket, key }: StoredObject): Promise<object> {
  const { Body } = await aws(S3Client).send(new GetObjectCommand({ Bucket: bucket, Key: key }));
  const { payload } = JSON.parse((await Body?.transformToString()) ?? "{}") as { payload?: string | object };
  if (payload === undefined) throw new Error("the object has no payload");
  return typeof payload === "string" ? JSON.parse(payload) : payload;
}
