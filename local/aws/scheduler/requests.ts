// Validates the request of a schedule as the service does.
import { MINUTE, SECOND } from "../../../shared/kernel/clock.ts";
import { membersOf, readers, refuseOthers } from "../members.ts";
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
  TagResource: "ResourceArn Tags",
  UntagResource: "ResourceArn TagKeys",
  ListTagsForResource: "ResourceArn",
});
const TARGET = new Set("Arn RoleArn Input RetryPolicy DeadLetterConfig SqsParameters".split(" "));
const WINDOW = new Set(["Mode", "MaximumWindowInMinutes"]);
const POLICY = new Set(["MaximumRetryAttempts", "MaximumEventAgeInSeconds"]);
const DEAD_LETTERS = new Set(["Arn"]);
const QUEUE = new Set(["MessageGroupId"]);

const ARN = "arn:aws:scheduler:us-east-1:000000000000";
export const scheduleArn = (group: string, name: string): string => `${ARN}:schedule/${group}/${name}`;
export const groupArn = (group: string): string => `${ARN}:schedule-group/${group}`;
export const DEFAULT_GROUP = "default";

const NAME = /^[0-9a-zA-Z-_.]{1,64}$/;
export const MAX_RETRY_ATTEMPTS = 185;
export const MAX_AGE_SECONDS = 86_400;

export function nameIn(input: Wire, member = "Name"): string {
  const name = read.needed(input, member);
  if (!NAME.test(name))
    throw invalid(
      `1 validation error detected: Value '${name}' at '${member.toLowerCase()}' failed to satisfy constraint: Member must satisfy regular expression pattern: [0-9a-zA-Z-_.]+`,
    );
  return name;
}

export const groupIn = (input: Wire): string =>
  input.GroupName === undefined ? DEFAULT_GROUP : nameIn(input, "GroupName");

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

/** Checks times, target, window, state and retry policy. @throws ValidationException. */
export function checkSchedule(input: Wire, now: number): void {
  nameIn(input);
  checkTimes(input, now);
  const target = structure(input, "Target", TARGET);
  if (!target) throw invalid("Target is required.");
  const arn = read.needed(target, "Arn");
  const role = read.needed(target, "RoleArn");
  if (!/^arn:aws:iam::\d{12}:role\/.+$/.test(role)) throw invalid(`${role} is not the ARN of a role.`);
  if (!/^arn:aws:(sqs|lambda):/.test(arn))
    throw invalid(`The embedded scheduler reaches SQS queues and Lambda functions, not ${arn}.`);
  structure(target, "DeadLetterConfig", DEAD_LETTERS);
  if (structure(target, "SqsParameters", QUEUE) && !arn.startsWith("arn:aws:sqs:"))
    throw invalid("SqsParameters go with a queue.");
  const window = structure(input, "FlexibleTimeWindow", WINDOW);
  const mode = window && read.word(window, "Mode", ["OFF", "FLEXIBLE"]);
  if (!window || !mode) throw invalid("FlexibleTimeWindow is required.");
  // A flexible schedule fires at the beginning of its window, which is inside it.
  const minutes = read.integer(window, "MaximumWindowInMinutes", 1, 1_440);
  if ((mode === "FLEXIBLE") !== (minutes !== undefined))
    throw invalid("MaximumWindowInMinutes goes with the mode FLEXIBLE.");
  read.word(input, "State", ["ENABLED", "DISABLED"]);
  read.word(input, "ActionAfterCompletion", ["NONE", "DELETE"]);
  policyOf(target);
}

function structure(input: Wire, name: string, members: ReadonlySet<string>): Wire | undefined {
  const value = read.record(input, name);
  if (value) refuseOthers(value, members, name);
  return value;
}

/** How far in the past a one-time schedule may be: the service itself is exact to the minute. */
const GRACE = MINUTE;
const OLDEST_START = 5 * MINUTE;

function checkTimes(input: Wire, now: number): void {
  const timing = timingOf(input, now);
  // Whether the service rejects a time in the past or never fires it is not documented. The product relies on neither.
  if (!timing.recurring) {
    if (timing.next(now - GRACE) === undefined)
      throw invalid(`Invalid Schedule Expression ${input.ScheduleExpression}: no time to come.`);
    return;
  }
  const [start, end] = [timeIn(input, "StartDate"), timeIn(input, "EndDate")];
  if (start !== undefined && start < now - OLDEST_START)
    throw invalid("The StartDate you specify cannot be earlier than 5 minutes ago.");
  if (end !== undefined && end <= Math.max(now, start ?? now))
    throw invalid("The EndDate you specify must come after the StartDate and lie in the future.");
}

export function policyOf(target: Wire): { maxAttempts: number; maxAgeMs: number } {
  const policy = structure(target, "RetryPolicy", POLICY) ?? {};
  const maxAttempts = read.integer(policy, "MaximumRetryAttempts", 0, MAX_RETRY_ATTEMPTS) ?? MAX_RETRY_ATTEMPTS;
  const seconds = read.integer(policy, "MaximumEventAgeInSeconds", 60, MAX_AGE_SECONDS) ?? MAX_AGE_SECONDS;
  return { maxAttempts, maxAgeMs: seconds * SECOND };
}

/** One page of a list in order of its keys; `NextToken` is the last key of the page before. */
export function pageOf<T>(input: Wire, all: T[], keyOf: (item: T) => string): { shown: T[]; NextToken?: string } {
  const size = read.integer(input, "MaxResults", 1, 100) ?? 100;
  const token = read.text(input, "NextToken");
  const after = token === undefined ? undefined : Buffer.from(token, "base64url").toString("utf8");
  const rest = all
    .filter((item) => after === undefined || keyOf(item) > after)
    .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const shown = rest.slice(0, size);
  const last = rest.length > size && shown.at(-1);
  return { shown, ...(last && { NextToken: Buffer.from(keyOf(last)).toString("base64url") }) };
}
