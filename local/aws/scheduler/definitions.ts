// What a schedule may say: read and checked from a request, told again by `GetSchedule`.
import { readers, refuseOthers } from "../members.ts";
import type { Wire } from "../stand-in.ts";
import { type Expression, parseExpression } from "./expressions.ts";

export const read = readers("ValidationException", "ValidationException");

const region = "us-east-1:000000000000";
export const scheduleArn = (group: string, name: string): string =>
  `arn:aws:scheduler:${region}:schedule/${group}/${name}`;
export const groupArn = (group: string): string => `arn:aws:scheduler:${region}:schedule-group/${group}`;

/** The members of a schedule as they were given, with AWS's defaults. Dates are epoch seconds. */
export interface Definition {
  Name: string;
  GroupName: string;
  ScheduleExpression: string;
  ScheduleExpressionTimezone: string;
  State: string;
  ActionAfterCompletion: string;
  FlexibleTimeWindow: { Mode: string; MaximumWindowInMinutes?: number };
  Target: Target;
  StartDate?: number;
  EndDate?: number;
  Description?: string;
  KmsKeyArn?: string;
}

export interface Target {
  Arn: string;
  RoleArn: string;
  Input?: string;
  RetryPolicy: { MaximumEventAgeInSeconds: number; MaximumRetryAttempts: number };
  DeadLetterConfig?: { Arn: string };
  SqsParameters?: { MessageGroupId?: string };
}

const targetMembers = new Set("Arn RoleArn Input RetryPolicy DeadLetterConfig SqsParameters".split(" "));
const windowMembers = new Set(["Mode", "MaximumWindowInMinutes"]);
const retryMembers = new Set(["MaximumEventAgeInSeconds", "MaximumRetryAttempts"]);
const arnMember = new Set(["Arn"]);
const sqsMembers = new Set(["MessageGroupId"]);

const queueOrFunction = /^arn:aws:(sqs:[a-z0-9-]+:\d{12}:[A-Za-z0-9_-]+|lambda:[a-z0-9-]+:\d{12}:function:[\w:$-]+)$/;

export function readName(input: Wire, member: string): string {
  const name = read.needed(input, member);
  if (!/^[0-9a-zA-Z-_.]{1,64}$/.test(name))
    throw read.refuse(`Value '${name}' at '${member}' failed to satisfy a pattern.`);
  return name;
}

export function readDefinition(input: Wire, now: number): Definition {
  const definition: Definition = {
    Name: readName(input, "Name"),
    GroupName: read.text(input, "GroupName") ?? "default",
    ScheduleExpression: read.needed(input, "ScheduleExpression"),
    ScheduleExpressionTimezone: read.text(input, "ScheduleExpressionTimezone") ?? "UTC",
    State: read.word(input, "State", ["ENABLED", "DISABLED"]) ?? "ENABLED",
    ActionAfterCompletion: read.word(input, "ActionAfterCompletion", ["NONE", "DELETE"]) ?? "NONE",
    FlexibleTimeWindow: readWindow(input),
    Target: readTarget(input),
    ...given("StartDate", readDate(input, "StartDate")),
    ...given("EndDate", readDate(input, "EndDate")),
    ...given("Description", read.text(input, "Description")),
    ...given("KmsKeyArn", read.text(input, "KmsKeyArn")),
  };
  checkTimes(definition, now);
  return definition;
}

/** The expression of a definition that was checked before, or the refusal of one that never could be. */
export function expressionOf({ ScheduleExpression, ScheduleExpressionTimezone }: Definition): Expression {
  try {
    return parseExpression(ScheduleExpression, ScheduleExpressionTimezone);
  } catch (error) {
    throw read.refuse(`Invalid Schedule Expression ${ScheduleExpression}. ${(error as Error).message}`);
  }
}

const given = <K extends string, V>(name: K, value: V | undefined) =>
  (value === undefined ? {} : { [name]: value }) as { [P in K]?: V };

const MINUTE = 60_000;

function checkTimes(definition: Definition, now: number): void {
  const { StartDate, EndDate } = definition;
  const expression = expressionOf(definition);
  // What real AWS does with a one-time schedule of the past is nowhere documented: here nothing gets lost in silence.
  if (!expression.recurring && expression.next(now - MINUTE, 0) === undefined) {
    throw read.refuse(`Invalid Schedule Expression ${definition.ScheduleExpression}. It lies in the past.`);
  }
  if (!expression.recurring) return;
  if (StartDate !== undefined && StartDate * 1000 < now - 5 * MINUTE) {
    throw read.refuse("The StartDate you specify cannot be earlier than 5 minutes ago.");
  }
  if (EndDate !== undefined && EndDate * 1000 <= Math.max(now, (StartDate ?? 0) * 1000)) {
    throw read.refuse("The EndDate you specify must come after the StartDate and must not be in the past.");
  }
}

function readDate(input: Wire, name: string): number | undefined {
  const value = input[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "number" || !Number.isFinite(value)) throw read.refuse(`${name} must be epoch seconds.`);
  return value;
}

function structure(input: Wire, name: string, members: ReadonlySet<string>): Wire | undefined {
  const value = read.record(input, name);
  if (value) refuseOthers(value, members, name);
  return value;
}

function readWindow(input: Wire): Definition["FlexibleTimeWindow"] {
  const window = structure(input, "FlexibleTimeWindow", windowMembers) ?? {};
  const minutes = read.integer(window, "MaximumWindowInMinutes", 1, 1440);
  const Mode = read.word(window, "Mode", ["OFF", "FLEXIBLE"]) ?? read.needed(window, "Mode");
  if ((Mode === "FLEXIBLE") !== (minutes !== undefined)) {
    throw read.refuse(
      "MaximumWindowInMinutes belongs to a FlexibleTimeWindow of mode FLEXIBLE, and there it is needed.",
    );
  }
  return { Mode, ...given("MaximumWindowInMinutes", minutes) };
}

function readTarget(input: Wire): Target {
  const target = structure(input, "Target", targetMembers);
  if (!target) throw read.refuse("Target must not be null.");
  const Arn = read.needed(target, "Arn");
  if (!queueOrFunction.test(Arn)) throw read.refuse(`The embedded scheduler cannot deliver to ${Arn}.`);
  const RoleArn = read.needed(target, "RoleArn");
  if (!/^arn:aws:iam::\d{12}:role\/.+$/.test(RoleArn)) throw read.refuse(`${RoleArn} is not the ARN of a role.`);
  const retry = structure(target, "RetryPolicy", retryMembers) ?? {};
  const dead = structure(target, "DeadLetterConfig", arnMember);
  const queue = structure(target, "SqsParameters", sqsMembers);
  if (queue && !Arn.startsWith("arn:aws:sqs:")) throw read.refuse("SqsParameters belong to a queue.");
  return {
    Arn,
    RoleArn,
    RetryPolicy: {
      MaximumEventAgeInSeconds: read.integer(retry, "MaximumEventAgeInSeconds", 60, 86_400) ?? 86_400,
      MaximumRetryAttempts: read.integer(retry, "MaximumRetryAttempts", 0, 185) ?? 185,
    },
    ...given("Input", read.text(target, "Input")),
    ...given("DeadLetterConfig", dead && { Arn: read.needed(dead, "Arn") }),
    ...given("SqsParameters", queue && given("MessageGroupId", read.text(queue, "MessageGroupId"))),
  };
}
