// Event source mappings: what triggers a worker from a queue or from a table's stream, as Lambda's pollers do.
import type { SQSMessageAttributes, SQSRecord } from "aws-lambda";
import { SECOND } from "../shared/kernel/clock.ts";
import { REGION } from "./lambda.ts";
import { lineageIn } from "./lineage.ts";
import { backoff, failedIdentifiers, type Mapping, type MappingDeps } from "./mapping.ts";
import { type StreamMappingOptions, streamMapping } from "./stream-mapping.ts";

interface QueueMappingOptions {
  queue: string;
  function: string;
  /** Up to 10 messages are received at a time; more are gathered without waiting. */
  batchSize?: number;
  maxConcurrency?: number;
}

export interface Mappings {
  mapQueue(options: QueueMappingOptions): Mapping;
  mapTableStream(options: StreamMappingOptions): Mapping;
  /** In the order of their creation. */
  all(): readonly Mapping[];
}

const RECEIVE_LIMIT = 10;

export function createMappings(deps: MappingDeps): Mappings {
  const mappings: Mapping[] = [];
  const added = (mapping: Mapping) => {
    mappings.push(mapping);
    return mapping;
  };
  return {
    mapQueue: (options) => added(queueMapping(deps, options)),
    mapTableStream: (options) => added(streamMapping(deps, options)),
    all: () => mappings,
  };
}

interface Message {
  MessageId: string;
  ReceiptHandle: string;
  Body: string;
  MD5OfBody: string;
  MD5OfMessageAttributes?: string;
  Attributes?: Record<string, string>;
  MessageAttributes?: Record<string, { DataType: string; StringValue?: string; BinaryValue?: string }>;
}

interface Source {
  url: string;
  arn: string;
  deadUrl: string | undefined;
}

function queueMapping({ clock, sqs, host, log }: MappingDeps, options: QueueMappingOptions): Mapping {
  const { queue, function: target, batchSize = RECEIVE_LIMIT, maxConcurrency = 10 } = options;
  const name = `${queue} -> ${target}`;
  let active = 0;
  let receiving = 0;
  let failures = 0;
  let retryAt = 0;
  let source: Promise<Source> | undefined;

  const urlOf = async (QueueName: string) => String((await sqs.operate("GetQueueUrl", { QueueName })).QueueUrl);

  const locate = async (): Promise<Source> => {
    const url = await urlOf(queue);
    const AttributeNames = ["QueueArn", "RedrivePolicy"];
    const { Attributes } = await sqs.operate("GetQueueAttributes", { QueueUrl: url, AttributeNames });
    const { QueueArn = "", RedrivePolicy = "{}" } = Attributes as Record<string, string>;
    const deadQueue = String(JSON.parse(RedrivePolicy).deadLetterTargetArn ?? "")
      .split(":")
      .at(-1);
    return { url, arn: QueueArn, deadUrl: deadQueue ? await urlOf(deadQueue) : undefined };
  };

  const receive = async (url: string): Promise<Message[]> => {
    const gathered: Message[] = [];
    while (gathered.length < batchSize) {
      const answer = await sqs.operate("ReceiveMessage", {
        QueueUrl: url,
        MaxNumberOfMessages: Math.min(RECEIVE_LIMIT, batchSize - gathered.length),
        MessageSystemAttributeNames: ["All"],
        MessageAttributeNames: ["All"],
        WaitTimeSeconds: 0,
      });
      const messages = (answer.Messages ?? []) as Message[];
      gathered.push(...messages);
      if (messages.length < RECEIVE_LIMIT) break;
    }
    return gathered;
  };

  const remove = async (url: string, messages: Message[]) => {
    for (let from = 0; from < messages.length; from += RECEIVE_LIMIT) {
      const entries = messages.slice(from, from + RECEIVE_LIMIT).map(({ ReceiptHandle }, index) => ({
        Id: String(index),
        ReceiptHandle,
      }));
      await sqs.operate("DeleteMessageBatch", { QueueUrl: url, Entries: entries });
    }
  };

  /** Lambda's recursive loop detection: messages of too long a chain go to the dead-letter queue, if there is one. */
  const withoutLoops = async ({ url, deadUrl }: Source, messages: Message[]): Promise<Message[]> => {
    const isStopped = ({ Attributes }: Message) => host.stops(target, lineageIn([Attributes?.AWSTraceHeader]));
    const stopped = messages.filter(isStopped);
    if (stopped.length === 0) return messages;
    log("Lambda would stop these messages: a recursive loop.", { mapping: name, messages: stopped.length });
    for (const { Body, MessageAttributes } of deadUrl ? stopped : [])
      await sqs.operate("SendMessage", { QueueUrl: deadUrl, MessageBody: Body, MessageAttributes });
    await remove(url, stopped);
    return messages.filter((message) => !stopped.includes(message));
  };

  const gather = async () => {
    receiving++;
    try {
      source ??= locate();
      const located = await source;
      const received = await receive(located.url);
      failures = 0;
      // A queue that reports messages and returns none (a fault, or a locked message group) is polled again later.
      if (received.length === 0 && sqs.ready(queue) > 0) retryAt = clock.now() + SECOND;
      return { ...located, messages: await withoutLoops(located, received) };
    } catch (error) {
      source = undefined;
      retryAt = clock.now() + backoff(++failures);
      log("A queue could not be read.", { mapping: name, error: String(error) });
      return undefined;
    } finally {
      receiving--;
    }
  };

  const pump = async () => {
    active++;
    try {
      const batch = await gather();
      if (!batch || batch.messages.length === 0) return false;
      const { url, arn, messages } = batch;
      const event = { Records: messages.map((message) => recordOf(message, arn)) };
      const lineage = lineageIn(messages.map(({ Attributes }) => Attributes?.AWSTraceHeader));
      const done = await host.invoke(target, event, lineage).then(
        (answer) => succeeded(messages, answer),
        (error: unknown) => {
          log("A worker failed.", { mapping: name, error: String(error) });
          return [];
        },
      );
      if (done.length < messages.length)
        log("Messages go back to their queue.", {
          mapping: name,
          of: messages.length,
          failed: messages.length - done.length,
        });
      await remove(url, done).catch((error: unknown) => {
        log("Messages could not be deleted and will be delivered again.", { mapping: name, error: String(error) });
      });
      return true;
    } finally {
      active--;
    }
  };

  const runnable = () => clock.now() >= retryAt && active < maxConcurrency && sqs.ready(queue) > receiving * batchSize;

  return {
    name,
    function: target,
    runnable,
    pump: async () => runnable() && (await pump()),
    nextAt: () => (retryAt > clock.now() ? retryAt : undefined),
  };
}

/** The messages to delete: an unknown or empty identifier, or a list that is none, fails the whole batch. */
function succeeded(messages: Message[], answer: unknown): Message[] {
  const failed = failedIdentifiers(answer);
  const found = new Set(messages.map((message) => message.MessageId));
  if (!failed?.every((id) => found.has(id))) return [];
  return messages.filter((message) => !failed.includes(message.MessageId));
}

function recordOf(message: Message, arn: string): SQSRecord {
  const messageAttributes: SQSMessageAttributes = {};
  for (const [key, value] of Object.entries(message.MessageAttributes ?? {})) {
    messageAttributes[key] = {
      ...(value.StringValue !== undefined && { stringValue: value.StringValue }),
      ...(value.BinaryValue !== undefined && { binaryValue: value.BinaryValue }),
      stringListValues: [],
      binaryListValues: [],
      dataType: value.DataType,
    };
  }
  return {
    messageId: message.MessageId,
    receiptHandle: message.ReceiptHandle,
    body: message.Body,
    // The cast holds because "All" makes SQS return every system attribute that Lambda passes on.
    attributes: message.Attributes as unknown as SQSRecord["attributes"],
    messageAttributes,
    md5OfBody: message.MD5OfBody,
    ...(message.MD5OfMessageAttributes && { md5OfMessageAttributes: message.MD5OfMessageAttributes }),
    eventSource: "aws:sqs",
    eventSourceARN: arn,
    awsRegion: REGION,
  };
}
