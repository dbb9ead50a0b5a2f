// Schedules of the local service: their targets are its functions and queues.
import { CreateScheduleCommand, SchedulerClient } from "@aws-sdk/client-scheduler";
import { expect, test } from "vitest";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { testWorld } from "../support/world.ts";

test("a function is invoked with the input, and again while it fails", async () => {
  const world = await testWorld();
  const seen: unknown[] = [];
  world.host.register({
    name: "probe",
    timeoutSeconds: 3,
    create: () => async (event: unknown) => {
      seen.push(event);
      if (seen.length === 1) throw new Error("not yet");
    },
  });
  const client = world.depsFor("test").aws(SchedulerClient);
  const Target = {
    Arn: "arn:aws:lambda:us-east-1:000000000000:function:probe",
    RoleArn: "arn:aws:iam::000000000000:role/scheduler",
    Input: '{"a":1}',
  };
  const ScheduleExpression = "at(2026-11-20T12:05:00)";
  await client.send(
    new CreateScheduleCommand({ Name: "s", ScheduleExpression, FlexibleTimeWindow: { Mode: "OFF" }, Target }),
  );
  await world.advance(10 * MINUTE);
  expect(seen).toEqual([{ a: 1 }, { a: 1 }]);
  await world.close();
});
