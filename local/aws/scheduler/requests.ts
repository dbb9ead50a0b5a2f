// What a schedule may ask for, checked as the service checks it.
import { isRecord, membersOf, readers, refuseOthers } from "../members.ts";
import { awsFailure, type Wire } from "../stand-in.ts";
import { invalid, readTiming, type Timing } from "./expressions.ts";

export const read = readers("ValidationException", "ValidationException");

const CHANGE =
  "Name GroupName ScheduleExpression ScheduleExpressionTimezone StartDate EndDate Description State KmsKeyArn Target FlexibleTimeWindow ClientToken ActionAfterCompletion";
export const members = membersOf({
  CreateSchedule: CHANGE,
  UpdateSchedule: CHANGE,
  DeleteSchedule: "Name GroupName ClientToken",
  GetSchedule: "Name GroupName",
  ListSchedules: "GroupName NamePrefix State NextToken MaxResults",
  CreateScheduleGroup: "Name Tags ClientToken",
  DeleteScheduleGroup: "Name ClientToken",
  GetScheduleGroup: "Name",
  ListScheduleGroups: "NamePrefix NextToken MaxResults",
});
const TARGET = new Set("Arn RoleArn Input RetryPolicy DeadLetterConfig SqsParameters".split(" "));

const NAME = /^[0-9a-zA-Z-_.]{1,64}$/;
export const MOST_RETRIES = 185;
export const LONGEST_AGE_SECONDS = 86_400;

export function nameIn(input: Wire, member = "Name"): string {
  const name = read.needed(input, member);
  if (!NAME.test(name))
    throw invalid(
      `1 validation error detected: Value '${name}' at '${member.toLowerCase()}' failed to satisfy constraint: Member must satisfy regular expression pattern: [0-9a-zA-Z-_.]+`,
    );
  return name;
}

export const groupIn = (input: Wire): string =>
  input.GroupName === undefined ? "default" : nameIn(input, "GroupName");

export const notFound = (kind: string, name: string) =>
  awsFailure("ResourceNotFoundException", `${kind} ${name} does not exist.`, { status: 404 });
export const conflict = (kind: string, name: string) =>
  awsFailure("ConflictException", `${kind} ${name} already exists.`, { status: 409 });

/** A time as the protocol carries it: seconds since the epoch, or RFC 3339. */
function timeIn(input: Wire, name: string): number | undefined {
  const value = input[name];
  if (value === undefined || value === null) return undefined;
  const at = typeof value === "number" ? value * 1_000 : Date.parse(String(value));
  if (Number.isNaN(at)) throw invalid(`${name} is no time.`);
  return at;
}

/** @throws ValidationException. */
export function timingOf(input: Wire, createdAt: number): Timing {
  return readTiming(read.needed(input, "ScheduleExpression"), {
    zone: read.text(input, "ScheduleExpressionTimezone") ?? "UTC",
    createdAt,
    start: timeIn(input, "StartDate"),
    end: timeIn(input, "EndDate"),
  });
}

/** Checks target, window, state and retry policy. @throws ValidationException. */
export function checkSchedule(input: Wire): void {
  const target = read.record(input, "Target");
  if (!target) throw invalid("Target is required.");
  refuseOthers(target, TARGET, "Target");
  const arn = read.needed(target, "Arn");
  read.needed(target, "RoleArn");
  if (!/^arn:aws:(sqs|lambda):/.test(arn))
    throw invalid(`The embedded scheduler reaches SQS queues and Lambda functions, not ${arn}.`);
  const window = read.record(input, "FlexibleTimeWindow");
  const mode = window && read.word(window, "Mode", ["OFF", "FLEXIBLE"]);
  if (!window || !mode) throw invalid("FlexibleTimeWindow is required.");
  const minutes = read.integer(window, "MaximumWindowInMinutes", 1, 1_440);
  if ((mode === "FLEXIBLE") !== (minutes !== undefined))
    throw invalid("MaximumWindowInMinutes goes with the mode FLEXIBLE.");
  read.word(input, "State", ["ENABLED", "DISABLED"]);
  read.word(input, "ActionAfterCompletion", ["NONE", "DELETE"]);
  policyOf(target);
}

export function policyOf(target: Wire): { mostAttempts: number; longestAgeMs: number } {
  const policy = isRecord(target.RetryPolicy) ? target.RetryPolicy : {};
  const mostAttempts = read.integer(policy, "MaximumRetryAttempts", 0, MOST_RETRIES) ?? MOST_RETRIES;
  const seconds = read.integer(policy, "MaximumEventAgeInSeconds", 60, LONGEST_AGE_SECONDS) ?? LONGEST_AGE_SECONDS;
  return { mostAttempts, longestAgeMs: seconds * 1_000 };
}
