// A frozen world of schedules behind the real Scheduler client, whose targets are a list.
import * as aws from "@aws-sdk/client-scheduler";
import { type Database, openDatabase } from "../../local/aws/database.ts";
import { requestHandler, type Services } from "../../local/aws/protocol.ts";
import { createScheduler, type Deliver } from "../../local/aws/scheduler.ts";
import { awsFailure, type StandIn } from "../../local/aws/stand-in.ts";
import { createClock } from "../../local/clock.ts";
import { systemIds } from "../../shared/runtime/system.ts";

export const start = Date.UTC(2026, 0, 1);
export const queue = "arn:aws:sqs:us-east-1:000000000000:due";
export const RoleArn = "arn:aws:iam::000000000000:role/scheduler";
const absent: StandIn = {
  operate: async () => {
    throw awsFailure("InternalFailure", "not part of this test", { status: 500 });
  },
};

type Delivered = Parameters<Deliver>[0] & { at: number };

export function scheduleWorld({ database = openDatabase(":memory:") }: { database?: Database } = {}) {
  const clock = createClock({ start, ticking: false });
  const delivered: Delivered[] = [];
  const failing = new Set<string>();
  let meanwhile: (() => Promise<unknown>) | undefined;
  const standIn = createScheduler({
    clock,
    ids: systemIds,
    database,
    deliver: async (target) => {
      await meanwhile?.();
      if (failing.has(target.arn)) throw awsFailure("QueueDoesNotExist", "no such queue");
      delivered.push({ ...target, at: clock.now() });
    },
  });
  const services: Services = { dynamodb: absent, sqs: absent, kms: absent, scheduler: standIn };
  const client = new aws.SchedulerClient({
    region: "eu-west-1",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
    requestHandler: requestHandler(services),
    maxAttempts: 1,
  });
  const input = (Name: string, ScheduleExpression: string, more: Partial<aws.CreateScheduleCommandInput> = {}) => ({
    Name,
    ScheduleExpression,
    FlexibleTimeWindow: { Mode: "OFF" as const },
    ...more,
    Target: { Arn: queue, RoleArn, Input: Name, ...more.Target },
  });
  type More = Omit<Partial<aws.CreateScheduleCommandInput>, "Target"> & { Target?: Partial<aws.Target> };
  const create = (name: string, expression: string, more: More = {}) =>
    client.send(
      new aws.CreateScheduleCommand(input(name, expression, more as Partial<aws.CreateScheduleCommandInput>)),
    );
  const update = (name: string, expression: string, more: More = {}) =>
    client.send(
      new aws.UpdateScheduleCommand(input(name, expression, more as Partial<aws.CreateScheduleCommandInput>)),
    );
  const get = (Name: string) => client.send(new aws.GetScheduleCommand({ Name }));
  /** Moves time from due instant to due instant and answers when (since the start) each firing was. */
  const firesUntil = async (to: number) => {
    for (let next = standIn.next(); next !== undefined && next <= to; next = standIn.next()) {
      clock.jumpTo(next);
      await standIn.fireDue(next);
    }
    clock.jumpTo(to);
    return delivered.map(({ at }) => new Date(at).toISOString().slice(0, 16));
  };
  const whileDelivering = (work: () => Promise<unknown>) => {
    meanwhile = work;
  };
  return { clock, client, standIn, delivered, failing, database, create, update, get, firesUntil, whileDelivering };
}

export const nameOf = (work: Promise<unknown>) =>
  work.then(
    () => "no error",
    (error: Error) => error.name,
  );
