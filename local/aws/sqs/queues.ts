// The queues: names, attributes and dead-letter queues.
import type { Database } from "../database.ts";
import { isRecord } from "../members.ts";
import { type AwsFailure, awsFailure, type Wire } from "../stand-in.ts";
import { read } from "./contents.ts";

const account = "000000000000";
const arnPrefix = `arn:aws:sqs:us-east-1:${account}:`;
/** The host of queue URLs within this process; the AWS port answers with the host that was asked. */
export const QUEUE_HOST = "http://sqs.local/";
export const urlOf = (name: string): string => `${QUEUE_HOST}${account}/${name}`;
export const arnOf = (name: string): string => arnPrefix + name;

export interface Queue {
  name: string;
  attributes: Record<string, string>;
  /** Milliseconds. */
  created: number;
}

/** Numeric attributes: default, minimum and maximum. */
const numbers: Record<string, [initial: number, min: number, max: number]> = {
  DelaySeconds: [0, 0, 900],
  MaximumMessageSize: [1_048_576, 1_024, 1_048_576],
  MessageRetentionPeriod: [345_600, 60, 1_209_600],
  ReceiveMessageWaitTimeSeconds: [0, 0, 20],
  VisibilityTimeout: [30, 0, 43_200],
};

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
  };
}

export function checkName(name: string): void {
  if (name.endsWith(".fifo")) throw fifoRefused();
  if (!/^[A-Za-z0-9_-]{1,80}$/.test(name)) {
    throw read.refuse("Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length");
  }
}

const fifoRefused = (): AwsFailure => awsFailure("UnsupportedOperation", "The embedded SQS has standard queues only.");

/** The attributes of a request, each in range and known. */
export function readQueueAttributes(input: Wire): Record<string, string> {
  const attributes = read.textMap(input, "Attributes");
  for (const [name, value] of Object.entries(attributes)) {
    const range = numbers[name];
    if (name === "FifoQueue") throw fifoRefused();
    if (!range && name !== "RedrivePolicy") throw awsFailure("InvalidAttributeName", `Unknown Attribute ${name}.`);
    if (range && !isWithin(value, range))
      throw awsFailure("InvalidAttributeValue", `Invalid value for the parameter ${name}.`);
    if (name === "RedrivePolicy" && value) readRedrive(value);
  }
  return attributes;
}

const isWithin = (value: string, [, min, max]: [number, number, number]) =>
  /^\d+$/.test(value) && Number(value) >= min && Number(value) <= max;

function readRedrive(policy: string): Redrive {
  const { deadLetterTargetArn, maxReceiveCount: receives, ...others } = objectIn(policy);
  const arn = String(deadLetterTargetArn ?? "");
  const maxReceiveCount = Number(receives);
  const isCount = Number.isInteger(maxReceiveCount) && maxReceiveCount >= 1 && maxReceiveCount <= 1_000;
  if (Object.keys(others).length > 0 || !arn.startsWith("arn:aws:sqs:") || !isCount)
    throw read.refuse(`Value ${policy} for parameter RedrivePolicy is invalid.`);
  return { queue: arn.slice(arn.lastIndexOf(":") + 1), maxReceiveCount };
}

function objectIn(policy: string): Wire {
  try {
    const value: unknown = JSON.parse(policy);
    if (isRecord(value)) return value;
  } catch {
    // Rejected below, like JSON that is not an object.
  }
  throw awsFailure("InvalidAttributeValue", "Invalid value for the parameter RedrivePolicy.");
}

/** All attributes of `GetQueueAttributes` except the message counts. */
export function describeQueue(queue: Queue): Record<string, string> {
  const described: Record<string, string> = {
    QueueArn: arnOf(queue.name),
    CreatedTimestamp: String(Math.floor(queue.created / 1000)),
    LastModifiedTimestamp: String(Math.floor(queue.created / 1000)),
    SqsManagedSseEnabled: "true",
  };
  for (const name of Object.keys(numbers)) described[name] = String(numberOf(queue, name));
  for (const [name, value] of Object.entries(queue.attributes)) if (value) described[name] = value;
  return described;
}

export const attributeNames = new Set([
  ...Object.keys(numbers),
  "All",
  "RedrivePolicy",
  "SqsManagedSseEnabled",
  "QueueArn",
  "CreatedTimestamp",
  "LastModifiedTimestamp",
  "ApproximateNumberOfMessages",
  "ApproximateNumberOfMessagesDelayed",
  "ApproximateNumberOfMessagesNotVisible",
]);
