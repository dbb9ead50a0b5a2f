// Injected faults: provider outcomes for the sinks, throttled AWS calls, an unavailable live stream.
import * as v from "valibot";
import { Amount } from "../shared/contract/schemas.ts";
import { type ChannelType, channelTypes } from "../shared/rules/channel-types.ts";
import { awsFailure, CONFLICTING, canceledTransaction, type Hooks, type ServiceName, type Wire } from "./aws/index.ts";

const outcomes = ["permanent", "invalid_token", "transient", "rate_limited", "timeout"] as const;

const services: readonly ServiceName[] = ["dynamodb", "sqs", "scheduler", "kms", "s3", "ses", "eventbridge"];

type FaultChannel = ChannelType | `verify:${ChannelType}` | "stream" | `aws:${(typeof services)[number]}`;

const faultChannels: readonly FaultChannel[] = [
  ...channelTypes,
  ...channelTypes.map((type) => `verify:${type}` as const),
  "stream",
  ...services.map((service) => `aws:${service}` as const),
];

const Text = v.pipe(v.string("must be a string"), v.nonEmpty("must not be empty"));

export const Fault = v.strictObject({
  channel: v.picklist(faultChannels, "is not a channel, verify:<channel>, stream or aws:<service>"),
  outcome: v.optional(v.picklist(outcomes, `must be one of ${outcomes.join(", ")}`), "transient"),
  /** How many more times it applies; absent: until the faults are cleared. */
  times: v.optional(v.pipe(Amount, v.minValue(1, "must be at least 1"))),
  /** Limits the fault to this subscriber. */
  subscriber_id: v.optional(Text),
  /** The message of a failed verification. */
  message: v.optional(Text),
  /** The `Retry-After` of a provider that limits the rate, in seconds. */
  retry_after_seconds: v.optional(v.pipe(Amount, v.maxValue(86_400, "must be at most 86400"))),
  /** Limits a fault of an AWS service to this operation. */
  operation: v.optional(Text),
  /** For DynamoDB: transactions conflict, instead of throttled calls. */
  conflict: v.optional(v.boolean("must be true or false")),
});
export type Fault = v.InferOutput<typeof Fault>;

export interface Faults {
  add(fault: Fault): void;
  clear(): void;
  /** Takes the fault that applies now, which uses up one of its times. */
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
    if (faults.length === 0) return undefined;

    const fault = faults.find(
      (found) =>
        found.channel === channel &&
        [undefined, subscriber].includes(found.subscriber_id) &&
        [undefined, operation].includes(found.operation) &&
        (!found.conflict || TRANSACTIONS.includes(operation)),
    );
    if (fault?.times === undefined) return fault;

    fault.times--;
    if (fault.times === 0) faults = faults.filter((other) => other !== fault);
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

/** The answer of DynamoDB while another transaction holds each of the items. */
function conflicting({ TransactItems }: Wire): Error {
  const items = Array.isArray(TransactItems) ? TransactItems : [];
  return canceledTransaction(items.map(() => CONFLICTING));
}

/** The status is 400, so that no client retries and the caller gets the 503 at once. */
const streamUnavailable = () =>
  awsFailure("ServiceUnavailableException", "The live stream is unavailable by a fault of the control surface.");

const throttled = (service: string) =>
  awsFailure("ThrottlingException", `Rate exceeded: a fault of the control surface for ${service}.`);
