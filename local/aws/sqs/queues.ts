// The queues: names, attributes, tags and dead-letter queues.
import type { Database } from "../database.ts";
import { isRecord } from "../members.ts";
import { type AwsFailure, awsFailure, type Wire } from "../stand-in.ts";
import { read } from "./contents.ts";

export const account = "000000000000";
const arnPrefix = `arn:aws:sqs:us-east-1:${account}:`;
/** The host of queue URLs within this process; the AWS port answers with the host that was asked. */
export const QUEUE_HOST = "http://sqs.local/";
export const urlOf = (name: string): string => `${QUEUE_HOST}${account}/${name}`;
export const arnOf = (name: string): string => arnPrefix + name;

export interface Queue {
  name: string;
  attributes: Record<string, string>;
  tags: Record<string, string>;
  /** Milliseconds. */
  created: number;
  modified: number;
}

/** Numeric attributes: default, minimum and maximum. */
const numbers: Record<string, [initial: number, min: number, max: number]> = {
  DelaySeconds: [0, 0, 900],
  MaximumMessageSize: [1_048_576, 1_024, 1_048_576],
  MessageRetentionPeriod: [345_600, 60, 1_209_600],
  ReceiveMessageWaitTimeSeconds: [0, 0, 20],
  VisibilityTimeout: [30, 0, 43_200],
  KmsDataKeyReusePeriodSeconds: [300, 60, 86_400],
};
/** Attributes that are stored and returned. Except those of redrive, they have no effect here. */
const texts = new Set(["Policy", "KmsMasterKeyId", "SqsManagedSseEnabled", "RedriveAllowPolicy", "RedrivePolicy"]);
const PERMISSIONS = new Set(["allowAll", "denyAll", "byQueue"]);
const MAX_SOURCES = 10;
const fifoOnly = new Set(["FifoQueue", "ContentBasedDeduplication", "DeduplicationScope", "FifoThroughputLimit"]);

export const numberOf = (queue: Queue, name: string): number => Number(queue.attributes[name] ?? numbers[name]![0]);

export interface Redrive {
  queue: string;
  maxReceiveCount: number;
}

export function redriveOf(queue: Queue): Redrive | undefined {
  const policy = queue.attributes.RedrivePolicy;
  return policy ? readRedrive(policy) : undefined;
}

export type Queues = ReturnType<typeof createQueues>;

export function createQueues(prepared: () => Database) {
  let loaded: Map<string, Queue> | undefined;

  const all = (): Map<string, Queue> => {
    loaded ??= new Map(
      prepared()
        .all("SELECT name, state FROM sqs_queues ORDER BY name")
        .map(({ name, state }) => [String(name), JSON.parse(String(state)) as Queue]),
    );
    return loaded;
  };

  const save = (queue: Queue): void => {
    prepared().run("INSERT OR REPLACE INTO sqs_queues (name, state) VALUES (?, ?)", queue.name, JSON.stringify(queue));
    all().set(queue.name, queue);
  };

  const named = (name: string): Queue => {
    const queue = all().get(name);
    if (!queue) throw awsFailure("QueueDoesNotExist", "The specified queue does not exist.");
    return queue;
  };

  return {
    all,
    save,
    named,
    /** The queue that a request's `QueueUrl` names, on any host. */
    at: (input: Wire): Queue => {
      const path = read.needed(input, "QueueUrl").replace(/^https?:\/\/[^/]+/, "");
      const match = /^\/?(?:\d{12}\/)?([^/]+)$/.exec(path);
      if (!match) throw awsFailure("InvalidAddress", `The address ${input.QueueUrl} is not valid for this endpoint.`);
      return named(match[1]!);
    },
    remove: (name: string): void => {
      prepared().run("DELETE FROM sqs_queues WHERE name = ?", name);
      all().delete(name);
    },
  };
}

export function checkName(name: string): void {
  if (name.endsWith(".fifo")) throw fifoRefused();
  if (!/^[A-Za-z0-9_-]{1,80}$/.test(name)) {
    throw read.refuse("Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length");
  }
}

export const fifoRefused = (): AwsFailure =>
  awsFailure("UnsupportedOperation", "The embedded SQS has standard queues only.");

/** The attributes of a request, each in range and known. */
export function readQueueAttributes(input: Wire): Record<string, string> {
  const attributes = read.textMap(input, "Attributes");
  for (const [name, value] of Object.entries(attributes)) {
    const range = numbers[name];
    if (fifoOnly.has(name)) throw fifoRefused();
    if (range ? !isWithin(value, range) : !texts.has(name)) {
      if (range) throw invalidAttribute(name);
      throw awsFailure("InvalidAttributeName", `Unknown Attribute ${name}.`);
    }
    if (name === "RedrivePolicy" && value) readRedrive(value);
    if (name === "RedriveAllowPolicy" && value) readAllowed(value);
    if (name === "Policy" && value) readPolicy(name, value);
    if (name === "SqsManagedSseEnabled" && !/^(true|false)$/i.test(value)) throw invalidAttribute(name);
  }
  return attributes;
}

const isWithin = (value: string, [, min, max]: [number, number, number]) =>
  /^\d+$/.test(value) && Number(value) >= min && Number(value) <= max;

const invalidAttribute = (name: string): AwsFailure =>
  awsFailure("InvalidAttributeValue", `Invalid value for the parameter ${name}.`);

function readPolicy(name: string, text: string): Wire {
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return value;
  } catch {
    // Rejected below, like JSON that is not an object.
  }
  throw invalidAttribute(name);
}

function readRedrive(policy: string): Redrive {
  const value = readPolicy("RedrivePolicy", policy);
  const arn = String(value.deadLetterTargetArn ?? "");
  const maxReceiveCount = Number(value.maxReceiveCount);
  const others = Object.keys(value).some((key) => key !== "deadLetterTargetArn" && key !== "maxReceiveCount");
  const isCount = Number.isInteger(maxReceiveCount) && maxReceiveCount >= 1 && maxReceiveCount <= 1_000;
  if (others || !arn.startsWith("arn:aws:sqs:") || !isCount)
    throw read.refuse(`Value ${policy} for parameter RedrivePolicy is invalid.`);
  return { queue: arn.slice(arn.lastIndexOf(":") + 1), maxReceiveCount };
}

function readAllowed(policy: string): (source: Queue) => boolean {
  const { redrivePermission, sourceQueueArns, ...others } = readPolicy("RedriveAllowPolicy", policy);
  const isByQueue = redrivePermission === "byQueue";
  const sources = Array.isArray(sourceQueueArns) ? sourceQueueArns.map(String) : undefined;
  const isSound = isByQueue
    ? sources && sources.length > 0 && sources.length <= MAX_SOURCES
    : sourceQueueArns === undefined;
  if (!PERMISSIONS.has(String(redrivePermission)) || !isSound || Object.keys(others).length > 0)
    throw read.refuse(`Value ${policy} for parameter RedriveAllowPolicy is invalid.`);
  return ({ name }) => redrivePermission === "allowAll" || (sources?.includes(arnOf(name)) ?? false);
}

/** Whether a dead-letter queue accepts messages of `source`. */
export function allowsRedrive(target: Queue, source: Queue): boolean {
  const policy = target.attributes.RedriveAllowPolicy;
  return !policy || readAllowed(policy)(source);
}

/** All attributes of `GetQueueAttributes` except the message counts. */
export function describeQueue(queue: Queue): Record<string, string> {
  const described: Record<string, string> = {
    QueueArn: arnOf(queue.name),
    CreatedTimestamp: String(Math.floor(queue.created / 1000)),
    LastModifiedTimestamp: String(Math.floor(queue.modified / 1000)),
    SqsManagedSseEnabled: "true",
  };
  for (const name of Object.keys(numbers)) {
    if (name !== "KmsDataKeyReusePeriodSeconds") described[name] = String(numberOf(queue, name));
  }
  for (const [name, value] of Object.entries(queue.attributes)) if (value) described[name] = value;
  return described;
}

export const attributeNames = new Set([
  ...Object.keys(numbers),
  ...texts,
  ...fifoOnly,
  "All",
  "QueueArn",
  "CreatedTimestamp",
  "LastModifiedTimestamp",
  "ApproximateNumberOfMessages",
  "ApproximateNumberOfMessagesDelayed",
  "ApproximateNumberOfMessagesNotVisible",
]);
