// When a failed message is delivered again: after a back-off with jitter, instead of the queue's whole visibility timeout.
import { ChangeMessageVisibilityBatchCommand, SQSClient } from "@aws-sdk/client-sqs";
import type { SQSRecord } from "aws-lambda";
import { type QueueName, VISIBILITY_SECONDS } from "../contract/messages.ts";
import { type Capability, setting } from "../kernel/deps.ts";
import { errorFields } from "../kernel/log.ts";
import { queueVariable } from "../store/queue-sender.ts";

const FIRST_DELAY_SECONDS = 5;
const FACTOR = 4;
/** The share of a delay that is random, so that messages that failed together do not return together. */
const JITTER = 0.5;
const BYTE = 256;

/** @param received how often the message was received, with this time; @param random from 0 to 1 */
export function delaySeconds(received: number, random: number): number {
  const whole = Math.min(VISIBILITY_SECONDS, FIRST_DELAY_SECONDS * FACTOR ** (received - 1));
  return Math.round(whole * (1 - JITTER * random));
}

export interface Redelivery {
  /** Sets when failed messages, at most ten, are delivered again. It never throws: without it they wait the whole time. */
  backOff(failed: readonly Pick<SQSRecord, "receiptHandle" | "attributes">[]): Promise<void>;
}

export const redelivery = <Q extends QueueName>(queue: Q): Capability<"redelivery", Redelivery> => ({
  as: "redelivery",
  env: [queueVariable(queue)],
  grants: [{ actions: ["sqs:ChangeMessageVisibility"], on: `queue:${queue}` }],
  open: (deps) => {
    const client = deps.aws(SQSClient);
    const QueueUrl = setting(deps, queueVariable(queue));
    const backOff: Redelivery["backOff"] = async (failed) => {
      const Entries = failed
        .filter(({ receiptHandle }) => receiptHandle)
        .map(({ receiptHandle, attributes }, n) => ({
          Id: String(n),
          ReceiptHandle: receiptHandle,
          VisibilityTimeout: delaySeconds(Number(attributes.ApproximateReceiveCount), deps.ids.bytes(1)[0]! / BYTE),
        }));
      if (Entries.length === 0) return;
      await client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl, Entries })).catch((error: unknown) => {
        deps.log({
          level: "warn",
          message: "failed messages wait the whole time",
          worker: queue,
          ...errorFields(error),
        });
      });
    };
    return () => ({ backOff });
  },
});
