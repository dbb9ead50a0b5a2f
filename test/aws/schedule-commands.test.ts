// What the schedule of a minute carries, and when it is made.
import { CreateScheduleCommand, SchedulerClient } from "@aws-sdk/client-scheduler";
import { mockClient } from "aws-sdk-client-mock";
import { expect, it } from "vitest";
import { minuteSchedules } from "../../functions/workers/react/timers.ts";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { NO_TENANT } from "../../shared/kernel/deps.ts";
import { awsDeps, failure, NOW } from "./clients.ts";

const env = { SCHEDULE_GROUP: "engagement", SCHEDULER_ROLE_ARN: "arn:role", DUE_QUEUE_ARN: "arn:due" };
const minute = NOW / MINUTE;

function mockedSchedules() {
  const deps = awsDeps(env);
  const scheduler = mockClient(deps.aws(SchedulerClient));
  scheduler.on(CreateScheduleCommand).resolves({});
  return { scheduler, schedules: minuteSchedules.open(deps)(NO_TENANT) };
}

it("a schedule triggers the due queue once, a minute early, and removes itself", async () => {
  const { scheduler, schedules } = mockedSchedules();
  await schedules.ensure(minute);
  expect(scheduler.call(0).args[0].input).toEqual({
    Name: "due-202611202113",
    GroupName: "engagement",
    ScheduleExpression: "at(2026-11-20T21:12:00)",
    ScheduleExpressionTimezone: "UTC",
    FlexibleTimeWindow: { Mode: "OFF" },
    ActionAfterCompletion: "DELETE",
    Target: { Arn: "arn:due", RoleArn: "arn:role", Input: `{"kind":"minute","minute":${minute}}` },
  });
});

it("the schedule of a minute is made once by each environment", async () => {
  const { scheduler, schedules } = mockedSchedules();
  for (const wanted of [minute, minute, minute + 1]) await schedules.ensure(wanted);
  expect(scheduler.calls()).toHaveLength(2);
});

it("a schedule that another environment made is one", async () => {
  const { scheduler, schedules } = mockedSchedules();
  scheduler.on(CreateScheduleCommand).rejects(failure("ConflictException"));
  await schedules.ensure(minute);
  await schedules.ensure(minute);
  expect(scheduler.calls()).toHaveLength(1);
});

it.each(["ThrottlingException", "ServiceQuotaExceededException", "ExpiredTokenException", "TimeoutError"])(
  "a schedule that failed with %s is made by the next try",
  async (name) => {
    const { scheduler, schedules } = mockedSchedules();
    scheduler.on(CreateScheduleCommand).rejectsOnce(failure(name)).resolves({});
    await expect(schedules.ensure(minute)).rejects.toMatchObject({ name });
    await schedules.ensure(minute);
    expect(scheduler.calls()).toHaveLength(2);
  },
);
