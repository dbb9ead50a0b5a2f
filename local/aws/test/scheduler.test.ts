// The embedded EventBridge Scheduler through the real client: it really fires, on a frozen clock.
import * as aws from "@aws-sdk/client-scheduler";
import { describe, expect, test } from "vitest";
import { DAY, HOUR, MINUTE, SECOND } from "../time.ts";
import { queue, RoleArn, scheduleWorld, start } from "./support/schedule-world.ts";
import { nameOf } from "./support/services.ts";

describe("schedules", () => {
  test("schedules are created, described and listed", async () => {
    const { client, create, get, standIn } = scheduleWorld();
    const created = await create("one", "at(2026-01-01T10:00:00)", { ScheduleExpressionTimezone: "UTC" });
    expect(created.ScheduleArn).toBe("arn:aws:scheduler:us-east-1:000000000000:schedule/default/one");
    expect(await get("one")).toMatchObject({
      Arn: created.ScheduleArn,
      Name: "one",
      GroupName: "default",
      ScheduleExpression: "at(2026-01-01T10:00:00)",
      ScheduleExpressionTimezone: "UTC",
      State: "ENABLED",
      ActionAfterCompletion: "NONE",
      CreationDate: new Date(start),
      FlexibleTimeWindow: { Mode: "OFF" },
      Target: { Arn: queue, RoleArn },
    });
    await create("two", "rate(5 minutes)");
    await create("three", "rate(5 minutes)");
    const list = (input: aws.ListSchedulesCommandInput) =>
      client.send(new aws.ListSchedulesCommand(input)).then(({ Schedules }) => Schedules?.map(({ Name }) => Name));
    expect(await list({})).toEqual(["one", "three", "two"]);
    expect(await list({ NamePrefix: "t" })).toEqual(["three", "two"]);
    const page = await client.send(new aws.ListSchedulesCommand({ MaxResults: 2 }));
    expect(await list({ MaxResults: 2, NextToken: page.NextToken })).toEqual(["two"]);
    expect(await nameOf(get("four"))).toBe("ResourceNotFoundException");
    expect(standIn.meter()).toEqual({ created: 3, deleted: 0, fired: 0 });
  });

  test("schedules exist once, and a repeat with the same client token is the same request", async () => {
    const { create, standIn } = scheduleWorld();
    const first = await create("one", "rate(1 hour)", { ClientToken: "token" });
    expect(await create("one", "rate(1 hour)", { ClientToken: "token" })).toMatchObject({
      ScheduleArn: first.ScheduleArn,
    });
    expect(await nameOf(create("one", "rate(1 hour)"))).toBe("ConflictException");
    expect(await nameOf(create("one", "rate(2 hours)", { ClientToken: "token" }))).toBe("ConflictException");
    expect(standIn.meter().created).toBe(1);
  });

  test.each<[string, string, Parameters<ReturnType<typeof scheduleWorld>["create"]>[2]]>([
    ["a broken expression", "at(tomorrow)", {}],
    ["a day that does not exist", "at(2026-02-30T00:00:00)", {}],
    ["a time in the past", "at(2025-12-31T23:00:00)", {}],
    ["another zone than UTC", "at(2026-03-29T02:30:00)", { ScheduleExpressionTimezone: "Europe/Berlin" }],
    ["a rate of nothing", "rate(0 minutes)", {}],
    ["a cron", "cron(0 8 * * ? *)", {}],
    ["a flexible window", "rate(1 day)", { FlexibleTimeWindow: { Mode: "FLEXIBLE" } }],
    ["a target of another kind", "rate(1 day)", { Target: { Arn: "arn:aws:sns:us-east-1:000000000000:topic" } }],
    ["no role", "rate(1 day)", { Target: { RoleArn: "" } }],
    ["too many retries", "rate(1 day)", { Target: { RetryPolicy: { MaximumRetryAttempts: 186 } } }],
  ])("schedules are refused with %s", async (_, expression, more) => {
    expect(await nameOf(scheduleWorld().create("x", expression, more))).toBe("ValidationException");
  });

  test("schedules are refused with members this service does not know", async () => {
    const { create } = scheduleWorld();
    const Target = { EventBridgeParameters: { DetailType: "a", Source: "b" } };
    expect(await nameOf(create("x", "rate(1 day)", { Target }))).toBe("UnknownParameterException");
  });
});

test("groups hold schedules; one is always there", async () => {
  const { client, create } = scheduleWorld();
  expect(await nameOf(create("x", "rate(1 day)", { GroupName: "g" }))).toBe("ResourceNotFoundException");
  await client.send(new aws.CreateScheduleGroupCommand({ Name: "g" }));
  expect(await nameOf(client.send(new aws.CreateScheduleGroupCommand({ Name: "g" })))).toBe("ConflictException");
  await create("x", "rate(1 day)", { GroupName: "g" });
  await create("x", "rate(1 day)");
  const { Schedules } = await client.send(new aws.ListSchedulesCommand({ GroupName: "g" }));
  expect(Schedules).toMatchObject([{ Name: "x", GroupName: "g", Target: { Arn: queue } }]);
  const { ScheduleGroups } = await client.send(new aws.ListScheduleGroupsCommand({}));
  expect(ScheduleGroups?.map(({ Name }) => Name)).toEqual(["default", "g"]);
});

describe("firing", () => {
  test("a one-time schedule fires once", async () => {
    const { create, standIn, firesUntil } = scheduleWorld();
    await create("one", "at(2026-01-01T01:30:00)");
    await create("earlier", "at(2026-01-01T00:00:00)");
    expect(standIn.next()).toBe(start);
    expect(await firesUntil(start + DAY)).toEqual(["2026-01-01T00:00", "2026-01-01T01:30"]);
    expect(standIn.next()).toBeUndefined();
    expect(standIn.meter().fired).toBe(2);
  });

  test("the input of a schedule has its context filled in", async () => {
    const { create, delivered, firesUntil } = scheduleWorld();
    const Input = JSON.stringify({ at: "<aws.scheduler.scheduled-time>", arn: "<aws.scheduler.schedule-arn>" });
    await create("one", "at(2026-01-01T01:30:00)", { ScheduleExpressionTimezone: "UTC", Target: { Input } });
    await firesUntil(start + DAY);
    expect(delivered[0]).toMatchObject({ arn: queue });
    expect(JSON.parse(delivered[0]!.input)).toEqual({
      at: "2026-01-01T01:30:00Z",
      arn: "arn:aws:scheduler:us-east-1:000000000000:schedule/default/one",
    });
  });

  test("a schedule that has fired is deleted if it says so, and else kept", async () => {
    const { create, get, firesUntil } = scheduleWorld();
    await create("one", "at(2026-01-01T01:30:00)", { ActionAfterCompletion: "DELETE" });
    await create("kept", "at(2026-01-01T00:00:00)");
    await firesUntil(start + DAY);
    expect(await nameOf(get("one"))).toBe("ResourceNotFoundException");
    expect((await get("kept")).State).toBe("ENABLED");
  });

  test("a rate starts at once", async () => {
    const { create, firesUntil, delivered } = scheduleWorld();
    await create("now", "rate(12 hours)");
    await firesUntil(start + DAY);
    expect(delivered.map(({ at }) => at - start)).toEqual([0, 12 * HOUR, DAY]);
  });

  test("what fell due together fires in order of its time; recurring ones may collapse or be left alone", async () => {
    const { create, clock, standIn, delivered } = scheduleWorld();
    await create("sweep", "rate(1 minute)");
    await create("b", "at(2026-01-01T00:30:00)");
    await create("a", "at(2026-01-01T00:20:00)");
    clock.jumpTo(start + HOUR);
    expect(standIn.next({ recurring: false })).toBe(start + 20 * MINUTE);
    expect(await standIn.fireDue(clock.now(), { recurring: false })).toBe(2);
    expect(delivered.map(({ input }) => input)).toEqual(["a", "b"]);
    expect(standIn.next({ recurring: false })).toBeUndefined();
    expect(await standIn.fireDue(clock.now(), { collapse: true })).toBe(1);
    expect(standIn.next()).toBe(start + HOUR + MINUTE);
    clock.jumpTo(start + HOUR + 3 * MINUTE);
    expect(await standIn.fireDue(clock.now())).toBe(3);
  });

  test("two callers do not fire the same thing twice", async () => {
    const { create, standIn, delivered, clock } = scheduleWorld();
    await create("one", "at(2026-01-01T00:20:00)");
    clock.jumpTo(start + HOUR);
    await Promise.all([standIn.fireDue(clock.now()), standIn.fireDue(clock.now())]);
    expect(delivered).toHaveLength(1);
  });

  test("without an input the target gets the service's own event", async () => {
    const { create, delivered, firesUntil } = scheduleWorld();
    await create("one", "at(2026-01-01T00:10:00)", { Target: { Input: undefined } });
    await firesUntil(start + HOUR);
    expect(JSON.parse(delivered[0]!.input)).toMatchObject({ source: "aws.scheduler", time: "2026-01-01T00:10:00Z" });
  });

  test("a due schedule fires after a restart", async () => {
    const before = scheduleWorld();
    await before.create("one", "at(2026-01-01T00:20:00)");
    const after = scheduleWorld({ database: before.database });
    expect(await after.firesUntil(start + HOUR)).toEqual(["2026-01-01T00:20"]);
  });
});

describe("failing targets", () => {
  const dead = "arn:aws:sqs:us-east-1:000000000000:dead";

  test("schedules whose target fails are tried again until they work", async () => {
    const { create, failing, delivered, standIn, clock, firesUntil } = scheduleWorld();
    await create("one", "at(2026-01-01T00:10:00)", { Target: { Input: "<aws.scheduler.attempt-number>" } });
    failing.add(queue);
    clock.jumpTo(start + 10 * MINUTE);
    expect(await standIn.fireDue(clock.now())).toBe(0);
    expect(standIn.next({ recurring: false })).toBe(start + 10 * MINUTE + SECOND);
    failing.delete(queue);
    expect(await firesUntil(start + HOUR)).toEqual(["2026-01-01T00:10"]);
    expect(delivered[0]?.input).toBe("2");
    expect(standIn.next()).toBeUndefined();
  });

  test.each([
    ["attempts", { MaximumRetryAttempts: 2 }, 3 * SECOND],
    ["age", { MaximumEventAgeInSeconds: 60 }, 31 * SECOND],
  ])("schedules whose target fails end as a dead letter after too many %s", async (_, RetryPolicy, after) => {
    const { create, failing, delivered, standIn, firesUntil } = scheduleWorld();
    const Target = { RetryPolicy, DeadLetterConfig: { Arn: dead }, Input: "payload" };
    await create("one", "at(2026-01-01T00:10:00)", { Target });
    failing.add(queue);
    await firesUntil(start + DAY);
    expect(delivered).toMatchObject([{ arn: dead, input: "payload", at: start + 10 * MINUTE + after }]);
    expect(standIn.next()).toBeUndefined();
  });

  test("schedules whose target fails end, too, when the dead-letter queue is not there", async () => {
    const { create, failing, standIn, firesUntil } = scheduleWorld();
    const Target = { RetryPolicy: { MaximumRetryAttempts: 0 }, DeadLetterConfig: { Arn: dead } };
    await create("one", "at(2026-01-01T00:10:00)", { Target });
    failing.add(queue).add(dead);
    await firesUntil(start + DAY);
    expect(standIn.next()).toBeUndefined();
  });
});
