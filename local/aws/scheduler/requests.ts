// Validates the request of a schedule as the service does.
import { membersOf, readers, refuseOthers } from "../members.ts";
import { type AwsFailure, awsFailure, type Wire } from "../stand-in.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../time.ts";

export const read = readers("ValidationException", "ValidationException");

export const members = membersOf({
  CreateSchedule:
    "Name GroupName ScheduleExpression ScheduleExpressionTimezone Description Target FlexibleTimeWindow ClientToken ActionAfterCompletion",
  GetSchedule: "Name GroupName",
  ListSchedules: "GroupName NamePrefix NextToken MaxResults",
  CreateScheduleGroup: "Name ClientToken",
  ListScheduleGroups: "NamePrefix NextToken MaxResults",
});
const TARGET = new Set("Arn RoleArn Input RetryPolicy DeadLetterConfig".split(" "));
const WINDOW = new Set(["Mode"]);
const POLICY = new Set(["MaximumRetryAttempts", "MaximumEventAgeInSeconds"]);
const DEAD_LETTERS = new Set(["Arn"]);

const ARN = "arn:aws:scheduler:us-east-1:000000000000";
export const scheduleArn = (group: string, name: string): string => `${ARN}:schedule/${group}/${name}`;
export const groupArn = (group: string): string => `${ARN}:schedule-group/${group}`;
export const DEFAULT_GROUP = "default";

const NAME = /^[0-9a-zA-Z-_.]{1,64}$/;
const MAX_RETRY_ATTEMPTS = 185;
const MAX_AGE_SECONDS = 86_400;

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

/** @throws ValidationException. */
export const timingOf = (input: Wire, createdAt: number): Timing =>
  readTiming(read.needed(input, "ScheduleExpression"), createdAt);

/** Checks time, target, window and retry policy. @throws ValidationException. */
export function checkSchedule(input: Wire, now: number): void {
  nameIn(input);
  read.word(input, "ScheduleExpressionTimezone", ["UTC"]);
  checkTime(input, now);
  const target = structure(input, "Target", TARGET);
  if (!target) throw invalid("Target is required.");
  const arn = read.needed(target, "Arn");
  const role = read.needed(target, "RoleArn");
  if (!/^arn:aws:iam::\d{12}:role\/.+$/.test(role)) throw invalid(`${role} is not the ARN of a role.`);
  if (!/^arn:aws:(sqs|lambda):/.test(arn))
    throw invalid(`The embedded scheduler reaches SQS queues and Lambda functions, not ${arn}.`);
  structure(target, "DeadLetterConfig", DEAD_LETTERS);
  const window = structure(input, "FlexibleTimeWindow", WINDOW);
  if (!window || !read.word(window, "Mode", ["OFF"])) throw invalid("FlexibleTimeWindow is required.");
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

function checkTime(input: Wire, now: number): void {
  const timing = timingOf(input, now);
  // Whether the service rejects a time in the past or never fires it is not documented. The product relies on neither.
  if (!timing.recurring && timing.next(now - GRACE) === undefined)
    throw invalid(`Invalid Schedule Expression ${input.ScheduleExpression}: no time to come.`);
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

interface Timing {
  recurring: boolean;
  /** The first firing after an instant, if there is one. */
  next(after: number): number | undefined;
}

const invalid = (message: string): AwsFailure => awsFailure("ValidationException", message);

const unitMs: Record<string, number> = {
  minute: MINUTE,
  minutes: MINUTE,
  hour: HOUR,
  hours: HOUR,
  day: DAY,
  days: DAY,
};
const AT = /^at\((\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\)$/;
const RATE = /^rate\(([1-9]\d*) (minutes?|hours?|days?)\)$/;

/** @throws ValidationException for what the service would reject, and for `cron(…)`, which the stand-in does not know. */
function readTiming(expression: string, createdAt: number): Timing {
  const at = AT.exec(expression);
  if (at) return { recurring: false, next: onceAt(expression, at[1]!) };
  const rate = RATE.exec(expression);
  if (rate) return { recurring: true, next: everyPeriod(Number(rate[1]) * unitMs[rate[2]!]!, createdAt) };
  if (expression.startsWith("cron(")) throw invalid(`The embedded scheduler does not know ${expression}.`);
  throw invalid(`Invalid Schedule Expression ${expression}.`);
}

function onceAt(expression: string, time: string): Timing["next"] {
  const instant = Date.parse(`${time}Z`);
  if (Number.isNaN(instant) || new Date(instant).toISOString().slice(0, 19) !== time)
    throw invalid(`Invalid Schedule Expression ${expression}.`);
  return (after) => (instant > after ? instant : undefined);
}

const everyPeriod =
  (period: number, origin: number): Timing["next"] =>
  (after) =>
    after < origin ? origin : origin + (Math.floor((after - origin) / period) + 1) * period;
