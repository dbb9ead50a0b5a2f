// A frozen world of queues behind the real SQS client.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as sqs from "@aws-sdk/client-sqs";
import { onTestFinished } from "vitest";
import { type Database, openDatabase } from "../../database.ts";
import { requestHandler } from "../../protocol.ts";
import { createSqs, type SqsFaults } from "../../sqs.ts";
import { frozenClock, ids } from "./clock.ts";
import { onlyWith } from "./services.ts";

export const start = Date.UTC(2026, 0, 1);

/** A database on a file that goes with the test. */
export function databaseOnFile(): Database {
  const folder = mkdtempSync(join(tmpdir(), "queues-"));
  const database = openDatabase(join(folder, "queues.sqlite"));
  onTestFinished(() => {
    database.close();
    rmSync(folder, { recursive: true });
  });
  return database;
}

/** Both ways of keeping messages answer alike. */
export const places = ["memory", "a file"] as const;

interface QueueOptions {
  database: Database;
  faults?: SqsFaults;
  /** The trace header of what is sent. */
  trace?: () => string | undefined;
}

export const queuesIn =
  (place: (typeof places)[number]) =>
  (options: Partial<QueueOptions> = {}) =>
    queueWorld({ database: place === "memory" ? openDatabase(":memory:") : databaseOnFile(), ...options });

function queueWorld({ faults = {}, database, trace = () => undefined }: QueueOptions) {
  const clock = frozenClock(start);
  const standIn = createSqs({ clock, ids, database, faults, trace });
  const services = onlyWith({ sqs: standIn });
  const client = new sqs.SQSClient({
    region: "eu-west-1",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
    requestHandler: requestHandler(services),
    useQueueUrlAsEndpoint: false,
    maxAttempts: 1,
  });
  const create = async (QueueName: string, Attributes: Record<string, string> = {}) =>
    (await client.send(new sqs.CreateQueueCommand({ QueueName, Attributes }))).QueueUrl!;
  const send = (QueueUrl: string, MessageBody: string, more: Partial<sqs.SendMessageCommandInput> = {}) =>
    client.send(new sqs.SendMessageCommand({ QueueUrl, MessageBody, ...more }));
  const receive = async (QueueUrl: string, more: Partial<sqs.ReceiveMessageCommandInput> = {}) =>
    (await client.send(new sqs.ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, ...more }))).Messages ?? [];
  const bodies = async (QueueUrl: string, more: Partial<sqs.ReceiveMessageCommandInput> = {}) =>
    (await receive(QueueUrl, more)).map((message) => message.Body);
  const remove = (QueueUrl: string, ReceiptHandle = "") =>
    client.send(new sqs.DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
  const hide = (QueueUrl: string, ReceiptHandle = "", VisibilityTimeout = 0) =>
    client.send(new sqs.ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout }));
  return { clock, standIn, services, database, client, create, send, receive, bodies, remove, hide };
}

export const redrive = (queue: string, maxReceiveCount: number) => ({
  RedrivePolicy: JSON.stringify({
    deadLetterTargetArn: `arn:aws:sqs:us-east-1:000000000000:${queue}`,
    maxReceiveCount,
  }),
});
