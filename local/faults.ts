// Injected faults: provider outcomes for the sinks, throttled AWS calls, an unavailable live stream.
import { type ChannelType, channelTypes } from "../shared/plans.ts";
import type { Hooks, ServiceName } from "./aws/protocol.ts";
import { awsFailure } from "./aws/stand-in.ts";

export const outcomes = ["permanent", "invalid_token", "transient", "throttled", "timeout"] as const;

const services: readonly ServiceName[] = ["dynamodb", "sqs", "scheduler", "kms", "s3", "ses"];

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
}

export interface Faults {
  add(fault: Fault): void;
  clear(): void;
  /** The fault that applies now. It uses up one of its times. */
  take(channel: FaultChannel, subscriber?: string): Fault | undefined;
  /** Called between the SDK clients of a function and the embedded services. */
  hooks(functionName: string): Hooks;
}

/** The function name under which the local service does its own work: faults do not apply to it. */
export const UNDISTURBED = "control";

export function createFaults(): Faults {
  let faults: Fault[] = [];

  const take: Faults["take"] = (channel, subscriber) => {
    const fault = faults.find(
      (found) => found.channel === channel && (found.subscriber_id === undefined || found.subscriber_id === subscriber),
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
        before: (service) => {
          if (functionName === "stream" && take("stream")) throw streamUnavailable();
          if (take(`aws:${service}`)) throw throttled(service);
        },
      };
    },
  };
}

/** A 400, so that no client retries: the caller gets the 503 at once. */
const streamUnavailable = () =>
  awsFailure("ServiceUnavailableException", "The live stream is unavailable by a fault of the control surface.");

const throttled = (service: string) =>
  awsFailure("ThrottlingException", `Rate exceeded: a fault of the control surface for ${service}.`);
