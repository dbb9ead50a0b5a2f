// The payload that a target gets when its schedule fires.
import { isRecord } from "../members.ts";
import type { Wire } from "../stand-in.ts";
import { policyOf, read, scheduleArn } from "./requests.ts";
import type { Retry, Schedule } from "./schedules.ts";

const seconds = (at: number) => new Date(at).toISOString().replace(/\.\d+Z$/, "Z");

/** A firing of `schedule`, with its context filled in, except the number of the attempt. */
export function firingOf({ group, name, input }: Schedule, dueAt: number, id: string): Retry {
  const target = input.Target as Wire;
  const arn = scheduleArn(group, name);
  const { maxAttempts, maxAgeMs } = policyOf(target);
  const text = (read.text(target, "Input") ?? unasked(arn, dueAt, id))
    .replaceAll("<aws.scheduler.schedule-arn>", arn)
    .replaceAll("<aws.scheduler.scheduled-time>", seconds(dueAt))
    .replaceAll("<aws.scheduler.execution-id>", id);
  return {
    id,
    arn: String(target.Arn),
    input: text,
    deadLetterArn: isRecord(target.DeadLetterConfig) ? read.text(target.DeadLetterConfig, "Arn") : undefined,
    dueAt,
    attempt: 0,
    maxAttempts,
    givesUpAt: dueAt + maxAgeMs,
    nextAt: dueAt,
  };
}

export const withAttempt = ({ input, attempt }: Retry): string =>
  input.replaceAll("<aws.scheduler.attempt-number>", String(attempt + 1));

/** The payload of a schedule without an input. */
const unasked = (arn: string, dueAt: number, id: string): string =>
  JSON.stringify({
    version: "0",
    id,
    "detail-type": "Scheduled Event",
    source: "aws.scheduler",
    account: "000000000000",
    time: seconds(dueAt),
    region: "us-east-1",
    resources: [arn],
    detail: "{}",
  });
