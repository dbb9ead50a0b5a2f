// A frozen world of schedules behind the real Scheduler client, whose targets are a list.
import * as aws from "@aws-sdk/client-scheduler";
import { type Database, openDatabase } from "../../database.ts";
import { requestHandler } from "../../protocol.ts";
import { createScheduler, type Deliver } from "../../scheduler.ts";
import { awsFailure } from "../../stand-in.ts";
import { frozenClock, ids } from "./clock.ts";
import { onlyWith } from "./services.ts";

export const start = Date.UTC(2026, 0, 1);
export const queue = "arn:aws:sqs:us-east-1:000000000000:due";
export const RoleArn = "arn:aws:iam::000000000000:role/scheduler";

type DeliveredCall = Parameters<Deliver>[0] & { at: number };

export function scheduleWorld({ database = openDatabase(":memory:") }: { database?: Database } = {}) {
  const clock = frozenClock(start);
  const delivered: DeliveredCall[] = [];
  const failing = new Set<string>();
  const standIn = createScheduler({
    clock,
    ids,
    database,
    deliver: async (target) => {
      if (failing.has(target.arn)) throw awsFailure("QueueDoesNotExist", "no such queue");
      delivered.push({ ...target, at: clock.now() });
    },
  });
  const services = onlyWith({ scheduler: standIn });
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
  type ScheduleFields = Omit<Partial<aws.CreateScheduleCommandInput>, "Target"> & { Target?: Partial<aws.Target> };
  const create = (name: string, expression: string, more: ScheduleFields = {}) =>
    client.send(
      new aws.CreateScheduleCommand(input(name, expression, more as Partial<aws.CreateScheduleCommandInput>)),
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
  return { clock, client, standIn, delivered, failing, database, create, get, firesUntil };
}
