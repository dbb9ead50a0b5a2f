// Injected faults: provider outcomes for the sinks, throttled AWS calls, an unavailable live stream.
import { type ChannelType, channelTypes } from "../shared/rules/channel-types.ts";
import { awsFailure, CONFLICTING, canceledTransaction, type Hooks, type ServiceName, type Wire } from "./aws/index.ts";

export const outcomes = ["permanent", "invalid_token", "transient", "rate_limited", "timeout"] as const;

const services: readonly ServiceName[] = ["dynamodb", "sqs", "scheduler", "kms", "s3", "ses", "eventbridge"];

type FaultChannel = ChannelType | `verify:${ChannelType}` | "stream" | `aws:${(typeof services)[number]}`;

export const faultChannels: readonly FaultChannel[] = [
  ...channelTypes,
  ...channelTypes.map((type) => `verify:${type}` as const),
  "stream",
  ...services.map((service) => `aws:${service}` as const),
];

export interface Fault {
  channel: FaultChannel;
  outcome: (typeof outcomes)[number];
  /** How many more times it applies; absent: until the faults are cleared. */
  times?: number | undefined;
  /** This subscriber only. */
  subscriber_id?: string | undefined;
  /** The message of a failed verification. */
  message?: string | undefined;
  /** What a provider that limits the rate asks to wait, in seconds. */
  retry_after_seconds?: number | undefined;
  /** Of an AWS service: this operation only. */
  operation?: string | undefined;
  /** Of DynamoDB: transactions conflict, instead of throttled calls. */
  conflict?: boolean | undefined;
}

export interface Faults {
  add(fault: Fault): void;
  clear(): void;
  /** The fault that applies now. It uses up one of its times. */
  take(channel: FaultChannel, subscriber?: string, operation?: string): Fault | undefined;
  /** Called between the SDK clients of a function and the embedded services. */
  hooks(functionName: string): Hooks;
}

const TRANSACTIONS = ["TransactWriteItems", "TransactGetItems"];

/** The function name under which the local service does its own work: faults do not apply to it. */
export const UNDISTURBED = "control";

export function createFaults(): Faults {
  let faults: Fault[] = [];

  const take: Faults["take"] = (channel, subscriber, operation = "") => {
    const fault = faults.find(
      (found) =>
        found.channel === channel &&
        [undefined, subscriber].includes(found.subscriber_id) &&
        [undefined, operation].includes(found.operation) &&
        (!found.conflict || TRANSACTIONS.includes(operation)),
    );
    if (fault?.times !== undefined && --fault.times === 0) faults = faults.filter((other) => other !== fault);
    return fault;
  };

  return {
    add: (fault) => {
      faults.push({ ...fault });
    },
    clear: () => {
      faults = [];
    },
    take,
    hooks: (functionName) => {
      if (functionName === UNDISTURBED) return {};
      return {
        before: (service, operation, input) => {
          if (functionName === "stream" && take("stream")) throw streamUnavailable();
          const fault = take(`aws:${service}`, undefined, operation);
          if (fault) throw fault.conflict ? conflicting(input) : throttled(service);
        },
      };
    },
  };
}

/** As DynamoDB answers while another transaction holds each of the items. */
function conflicting({ TransactItems }: Wire): Error {
  const items = Array.isArray(TransactItems) ? TransactItems : [];
  return canceledTransaction(items.map(() => CONFLICTING));
}

/** A 400, so that no client retries: the caller gets the 503 at once. */
const streamUnavailable = () =>
  awsFailure("ServiceUnavailableException", "The live stream is unavailable by a fault of the control surface.");

const throttled = (service: string) =>
  awsFailure("ThrottlingException", `Rate exceeded: a fault of the control surface for ${service}.`);
