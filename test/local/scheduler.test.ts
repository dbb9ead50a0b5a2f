// The embedded EventBridge Scheduler through the real client: it really fires, on a frozen clock.
import * as aws from "@aws-sdk/client-scheduler";
import { describe, expect, test } from "vitest";
import { type Database, openDatabase } from "../../local/aws/database.ts";
import { requestHandler, type Services } from "../../local/aws/protocol.ts";
import type { DeliveryTarget } from "../../local/aws/scheduler/deliveries.ts";
import { createScheduler } from "../../local/aws/scheduler.ts";
import { awsFailure, type StandIn } from "../../local/aws/stand-in.ts";
import { createClock } from "../../local/clock.ts";
import { DAY, HOUR, MINUTE, systemIds } from "../../shared/clock.ts";

const start = Date.UTC(2026, 0, 1);
const queue = "arn:aws:sqs:us-east-1:000000000000:due";
const RoleArn = "arn:aws:iam::000000000000:role/scheduler";
const absent: StandIn = {
  operate: async () => {
    throw awsFailure("InternalFailure", "not part of this test", { status: 500 });
  },
};

interface Delivered extends DeliveryTarget {
  at: number;
  name: string;
}

function world({ database = openDatabase(":memory:") }: { database?: Database } = {}) {
  const clock = createClock({ start, ticking: false });
  const delivered: Delivered[] = [];
  const failing = new Set<string>();
  const standIn = createScheduler({
    clock,
    ids: systemIds,
    database,
    deliver: async (target, { name }) => {
      if (failing.has(target.arn)) throw awsFailure("QueueDoesNotExist", "no such queue");
      delivered.push({ ...target, at: clock.now(), name });
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
    Target: { Arn: queue, RoleArn, Input: "{}", ...more.Target },
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
  return { clock, client, standIn, delivered, failing, database, create, update, get, firesUntil };
}

const nameOf = (work: Promise<unknown>) =>
  work.then(
    () => "no error",
    (error: Error) => error.name,
  );

describe("schedules", () => {
  test("are created, told, changed, listed and deleted", async () => {
    const { client, create, update, get, clock, standIn } = world();
    const created = await create("one", "at(2026-01-01T10:00:00)", {
      Description: "first",
      Target: { SqsParameters: { MessageGroupId: "tenant" }, RetryPolicy: { MaximumRetryAttempts: 3 } },
    });
    expect(created.ScheduleArn).toBe("arn:aws:scheduler:us-east-1:000000000000:schedule/default/one");
    clock.jumpTo(start + MINUTE);
    const changed = await update("one", "at(2026-01-01T11:00:00)");
    expect(changed.ScheduleArn).toBe(created.ScheduleArn);
    expect(await get("one")).toMatchObject({
      Arn: created.ScheduleArn,
      Name: "one",
      GroupName: "default",
      ScheduleExpression: "at(2026-01-01T11:00:00)",
      ScheduleExpressionTimezone: "UTC",
      State: "ENABLED",
      ActionAfterCompletion: "NONE",
      CreationDate: new Date(start),
      LastModificationDate: new Date(start + MINUTE),
      FlexibleTimeWindow: { Mode: "OFF" },
      Target: { Arn: queue, RoleArn, RetryPolicy: { MaximumEventAgeInSeconds: 86_400, MaximumRetryAttempts: 185 } },
    });
    expect((await get("one")).Description).toBeUndefined();
    await create("two", "rate(5 minutes)", { State: "DISABLED" });
    await create("three", "rate(5 minutes)");
    const list = (input: aws.ListSchedulesCommandInput) =>
      client.send(new aws.ListSchedulesCommand(input)).then(({ Schedules }) => Schedules?.map(({ Name }) => Name));
    expect(await list({})).toEqual(["one", "three", "two"]);
    expect(await list({ NamePrefix: "t", State: "ENABLED" })).toEqual(["three"]);
    const page = await client.send(new aws.ListSchedulesCommand({ MaxResults: 2 }));
    expect(await list({ MaxResults: 2, NextToken: page.NextToken })).toEqual(["two"]);
    expect([standIn.recurring("one"), standIn.recurring("default/two")]).toEqual([false, true]);
    await client.send(new aws.DeleteScheduleCommand({ Name: "one" }));
    expect(await nameOf(get("one"))).toBe("ResourceNotFoundException");
    expect(await nameOf(update("one", "rate(1 day)"))).toBe("ResourceNotFoundException");
    expect(await nameOf(client.send(new aws.DeleteScheduleCommand({ Name: "one" })))).toBe("ResourceNotFoundException");
    expect(standIn.meter()).toEqual({ created: 3, deleted: 1, fired: 0 });
  });

  test("exist once, and a repeat with the same client token is the same request", async () => {
    const { client, create, standIn } = world();
    const first = await create("one", "rate(1 hour)", { ClientToken: "token" });
    expect(await create("one", "rate(1 hour)", { ClientToken: "token" })).toMatchObject({
      ScheduleArn: first.ScheduleArn,
    });
    expect(await nameOf(create("one", "rate(1 hour)"))).toBe("ConflictException");
    expect(await nameOf(create("two", "rate(1 hour)", { ClientToken: "token" }))).toBe("ConflictException");
    const remove = () => client.send(new aws.DeleteScheduleCommand({ Name: "one", ClientToken: "gone" }));
    await remove();
    await remove();
    expect(standIn.meter()).toMatchObject({ created: 1, deleted: 1 });
  });

  test.each<[string, string, Parameters<ReturnType<typeof world>["create"]>[2]]>([
    ["a broken expression", "at(tomorrow)", {}],
    ["a day that does not exist", "at(2026-02-30T00:00:00)", {}],
    ["a time in the past", "at(2025-12-31T23:00:00)", {}],
    ["a time inside the gap of the zone", "at(2026-03-29T02:30:00)", { ScheduleExpressionTimezone: "Europe/Berlin" }],
    ["an unknown zone", "rate(1 day)", { ScheduleExpressionTimezone: "Mars/Base" }],
    ["a rate of nothing", "rate(0 minutes)", {}],
    ["a five-field cron", "cron(0 8 * * *)", {}],
    ["both day fields", "cron(0 8 1 * MON *)", {}],
    ["a minute out of range", "cron(60 8 * * ? *)", {}],
    ["a start long ago", "rate(1 day)", { StartDate: new Date(start - HOUR) }],
    ["an end before the start", "rate(1 day)", { StartDate: new Date(start + DAY), EndDate: new Date(start + HOUR) }],
    ["a window without its minutes", "rate(1 day)", { FlexibleTimeWindow: { Mode: "FLEXIBLE" } }],
    ["a target of another kind", "rate(1 day)", { Target: { Arn: "arn:aws:sns:us-east-1:000000000000:topic" } }],
    ["no role", "rate(1 day)", { Target: { RoleArn: "" } }],
    ["too many retries", "rate(1 day)", { Target: { RetryPolicy: { MaximumRetryAttempts: 186 } } }],
  ])("are refused with %s", async (_, expression, more) => {
    expect(await nameOf(world().create("x", expression, more))).toBe("ValidationException");
  });

  test("are refused with members this service does not know", async () => {
    const { create } = world();
    const Target = { EventBridgeParameters: { DetailType: "a", Source: "b" } };
    expect(await nameOf(create("x", "rate(1 day)", { Target }))).toBe("UnknownParameterException");
  });
});

describe("groups", () => {
  test("hold schedules and go with them", async () => {
    const { client, create } = world();
    expect(await nameOf(create("x", "rate(1 day)", { GroupName: "g" }))).toBe("ResourceNotFoundException");
    const { ScheduleGroupArn: ResourceArn } = await client.send(new aws.CreateScheduleGroupCommand({ Name: "g" }));
    expect(await nameOf(client.send(new aws.CreateScheduleGroupCommand({ Name: "g" })))).toBe("ConflictException");
    await create("x", "rate(1 day)", { GroupName: "g" });
    await create("x", "rate(1 day)");
    const { Schedules } = await client.send(new aws.ListSchedulesCommand({ GroupName: "g" }));
    expect(Schedules).toMatchObject([{ Name: "x", GroupName: "g", Target: { Arn: queue } }]);
    const { ScheduleGroups } = await client.send(new aws.ListScheduleGroupsCommand({}));
    expect(ScheduleGroups?.map(({ Name }) => Name)).toEqual(["default", "g"]);
    await client.send(new aws.TagResourceCommand({ ResourceArn, Tags: [{ Key: "a", Value: "1" }] }));
    const { Tags } = await client.send(new aws.ListTagsForResourceCommand({ ResourceArn }));
    expect(Tags).toEqual([{ Key: "a", Value: "1" }]);
    await client.send(new aws.DeleteScheduleGroupCommand({ Name: "g" }));
    expect(await nameOf(client.send(new aws.GetScheduleGroupCommand({ Name: "g" })))).toBe("ResourceNotFoundException");
    expect((await client.send(new aws.ListSchedulesCommand({}))).Schedules).toHaveLength(1);
    expect(await nameOf(client.send(new aws.DeleteScheduleGroupCommand({ Name: "default" })))).toBe(
      "ValidationException",
    );
  });
});

describe("firing", () => {
  test("a one-time schedule fires once, with its context, and is deleted if it says so", async () => {
    const { create, get, standIn, delivered, firesUntil } = world();
    const Input = JSON.stringify({ at: "<aws.scheduler.scheduled-time>", arn: "<aws.scheduler.schedule-arn>" });
    const Target = { Input, SqsParameters: { MessageGroupId: "tenant" } };
    const when = { ScheduleExpressionTimezone: "Asia/Tokyo", ActionAfterCompletion: "DELETE" as const };
    await create("one", "at(2026-01-01T10:30:00)", { ...when, Target });
    await create("kept", "at(2026-01-01T00:00:00)");
    expect(standIn.next()).toBe(start);
    expect(await firesUntil(start + DAY)).toEqual(["2026-01-01T00:00", "2026-01-01T01:30"]);
    expect(delivered[1]).toMatchObject({ arn: queue, name: "one", messageGroupId: "tenant" });
    expect(JSON.parse(delivered[1]!.input)).toEqual({
      at: "2026-01-01T01:30:00Z",
      arn: "arn:aws:scheduler:us-east-1:000000000000:schedule/default/one",
    });
    expect(await nameOf(get("one"))).toBe("ResourceNotFoundException");
    expect((await get("kept")).State).toBe("ENABLED");
    expect(standIn.next()).toBeUndefined();
    expect(standIn.meter().fired).toBe(2);
  });

  test("a disabled schedule rests until it is enabled", async () => {
    const { create, update, standIn } = world();
    await create("one", "at(2026-01-01T10:00:00)", { State: "DISABLED" });
    expect(standIn.next()).toBeUndefined();
    await update("one", "at(2026-01-01T10:00:00)");
    expect(standIn.next()).toBe(start + 10 * HOUR);
  });

  test("a rate starts at once or at its start, and stops at its end", async () => {
    const { create, firesUntil, delivered } = world();
    await create("now", "rate(12 hours)");
    await firesUntil(start + DAY);
    expect(delivered.map(({ at }) => at - start)).toEqual([0, 12 * HOUR, DAY]);
    delivered.length = 0;
    const later = { StartDate: new Date(start + 30 * HOUR), EndDate: new Date(start + 41 * HOUR) };
    const other = world();
    await other.create("later", "rate(5 hours)", { ...later, ActionAfterCompletion: "DELETE" });
    await other.firesUntil(start + 3 * DAY);
    expect(other.delivered.map(({ at }) => at - start)).toEqual([30 * HOUR, 35 * HOUR, 40 * HOUR]);
    expect(await nameOf(other.get("later"))).toBe("ResourceNotFoundException");
  });

  test("a flexible window fires inside it", async () => {
    const { create, standIn } = world();
    const FlexibleTimeWindow = { Mode: "FLEXIBLE" as const, MaximumWindowInMinutes: 10 };
    await create("one", "at(2026-01-01T10:00:00)", { FlexibleTimeWindow });
    const after = standIn.next()! - (start + 10 * HOUR);
    expect(after >= 0 && after < 10 * MINUTE).toBe(true);
  });

  test("what fell due together fires in order of its time; recurring ones may collapse or be left alone", async () => {
    const { create, clock, standIn, delivered } = world();
    await create("sweep", "rate(1 minute)");
    await create("b", "at(2026-01-01T00:30:00)");
    await create("a", "at(2026-01-01T00:20:00)");
    clock.jumpTo(start + HOUR);
    expect(standIn.next({ recurring: false })).toBe(start + 20 * MINUTE);
    expect(await standIn.fireDue(clock.now(), { recurring: false })).toBe(2);
    expect(delivered.map(({ name }) => name)).toEqual(["a", "b"]);
    expect(standIn.next({ recurring: false })).toBeUndefined();
    expect(await standIn.fireDue(clock.now(), { collapse: true })).toBe(1);
    expect(standIn.next()).toBe(start + HOUR + MINUTE);
    clock.jumpTo(start + HOUR + 3 * MINUTE);
    expect(await standIn.fireDue(clock.now())).toBe(3);
  });

  test("two callers do not fire the same thing twice", async () => {
    const { create, standIn, delivered, clock } = world();
    await create("one", "at(2026-01-01T00:20:00)");
    clock.jumpTo(start + HOUR);
    await Promise.all([standIn.fireDue(clock.now()), standIn.fireDue(clock.now())]);
    expect(delivered).toHaveLength(1);
  });

  test("a due schedule fires after a restart", async () => {
    const before = world();
    await before.create("one", "at(2026-01-01T00:20:00)");
    const after = world({ database: before.database });
    expect(await after.firesUntil(start + HOUR)).toEqual(["2026-01-01T00:20"]);
  });
});

describe("failing targets", () => {
  const dead = "arn:aws:sqs:us-east-1:000000000000:dead";

  test("are tried again until they work", async () => {
    const { create, failing, delivered, standIn, clock, firesUntil } = world();
    await create("one", "at(2026-01-01T00:10:00)", { Target: { Input: "<aws.scheduler.attempt-number>" } });
    failing.add(queue);
    clock.jumpTo(start + 10 * MINUTE);
    await standIn.fireDue(clock.now());
    expect(standIn.next({ recurring: false })).toBe(start + 11 * MINUTE);
    failing.delete(queue);
    expect(await firesUntil(start + HOUR)).toEqual(["2026-01-01T00:11"]);
    expect(delivered[0]?.input).toBe("2");
    expect(standIn.next()).toBeUndefined();
  });

  test.each([
    ["attempts", { MaximumRetryAttempts: 2 }, "MaximumRetryAttempts", "2"],
    ["age", { MaximumEventAgeInSeconds: 150 }, "MaximumEventAgeInSeconds", "1"],
  ])("end as a dead letter after too many %s", async (_, RetryPolicy, condition, retries) => {
    const { create, failing, delivered, standIn, firesUntil } = world();
    const Target = { RetryPolicy, DeadLetterConfig: { Arn: dead }, Input: "payload" };
    await create("one", "at(2026-01-01T00:10:00)", { Target });
    failing.add(queue);
    await firesUntil(start + DAY);
    expect(delivered).toMatchObject([
      {
        arn: dead,
        input: "payload",
        attributes: {
          ERROR_CODE: "QueueDoesNotExist",
          EXHAUSTED_RETRY_CONDITION: condition,
          RETRY_ATTEMPTS: retries,
          TARGET_ARN: queue,
        },
      },
    ]);
    expect(standIn.next()).toBeUndefined();
  });
});

describe("cron", () => {
  const table: [expression: string, zone: string, times: string[]][] = [
    [
      "cron(15 8,20 ? * MON-FRI *)",
      "UTC",
      ["2026-01-01T08:15", "2026-01-01T20:15", "2026-01-02T08:15", "2026-01-02T20:15", "2026-01-05T08:15"],
    ],
    ["cron(0/30 9 1 1 ? 2026)", "UTC", ["2026-01-01T09:00", "2026-01-01T09:30"]],
    ["cron(0 0 L * ? *)", "UTC", ["2026-01-31T00:00", "2026-02-28T00:00", "2026-03-31T00:00"]],
    ["cron(0 0 LW * ? *)", "UTC", ["2026-01-30T00:00", "2026-02-27T00:00", "2026-03-31T00:00"]],
    ["cron(0 0 1W * ? *)", "UTC", ["2026-01-01T00:00", "2026-02-02T00:00", "2026-03-02T00:00"].slice(1)],
    ["cron(0 0 31W * ? *)", "UTC", ["2026-01-30T00:00", "2026-03-31T00:00", "2026-05-29T00:00"]],
    ["cron(0 12 ? * 3#2 *)", "UTC", ["2026-01-13T12:00", "2026-02-10T12:00"]],
    ["cron(0 12 ? * FRIL *)", "UTC", ["2026-01-30T12:00", "2026-02-27T12:00"]],
    ["cron(0 12 ? * L *)", "UTC", ["2026-01-03T12:00", "2026-01-10T12:00"]],
    ["cron(0 12 29 FEB ? *)", "UTC", ["2028-02-29T12:00", "2032-02-29T12:00"]],
    ["cron(0-10/5 0 1 2 ? *)", "UTC", ["2026-02-01T00:00", "2026-02-01T00:05", "2026-02-01T00:10", "2027-02-01T00:00"]],
    ["cron(30 2 28,29,30 3 ? *)", "Europe/Berlin", ["2026-03-28T01:30", "2026-03-30T00:30"]],
    ["cron(30 2 25 10 ? *)", "Europe/Berlin", ["2026-10-25T00:30", "2027-10-25T00:30"]],
    ["cron(0 9 ? JUL MON-TUE *)", "Australia/Lord_Howe", ["2026-07-05T22:30", "2026-07-06T22:30"]],
  ];

  test.each(table)("%s in %s", async (expression, zone, times) => {
    const { create, firesUntil } = world();
    await create("cron", expression, { ScheduleExpressionTimezone: zone });
    const last = Date.parse(`${times.at(-1)}:00Z`);
    expect(await firesUntil(last)).toEqual(times);
  });

  test("a day that never comes never fires", async () => {
    const { create, standIn } = world();
    await create("never", "cron(0 0 31 2 ? *)");
    expect(standIn.next()).toBeUndefined();
  });
});
