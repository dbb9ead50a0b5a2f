// One EventBridge schedule per minute that has due rows, whatever their number (docs/decisions/0021#timers).
import { ConflictException, CreateScheduleCommand, SchedulerClient } from "@aws-sdk/client-scheduler";
import { MINUTE, timestamp } from "./clock.ts";
import { type Capability, setting } from "./deps.ts";

export interface MinuteSchedules {
  /** Makes sure that the due worker is triggered for a minute (since the epoch). It exists already: nothing to do. */
  ensure(minute: number): Promise<void>;
}

/** `due-202611202113` */
const nameOf = (minute: number) =>
  `due-${timestamp(minute * MINUTE)
    .replaceAll(/[-T:]/g, "")
    .slice(0, 12)}`;

export const minuteSchedules: Capability<"schedules", MinuteSchedules> = {
  as: "schedules",
  env: ["SCHEDULE_GROUP", "SCHEDULER_ROLE_ARN", "DUE_QUEUE_ARN"],
  grants: [
    { actions: ["scheduler:CreateSchedule"], on: "schedule-group" },
    { actions: ["iam:PassRole"], on: "scheduler-role" },
  ],
  open: (deps) => {
    const client = deps.aws(SchedulerClient);
    const GroupName = setting(deps, "SCHEDULE_GROUP");
    const RoleArn = setting(deps, "SCHEDULER_ROLE_ARN");
    const Arn = setting(deps, "DUE_QUEUE_ARN");
    const schedules: MinuteSchedules = {
      ensure: async (minute) => {
        // A minute early, for the scheduler may be up to a minute late: the rows then wait in their queue to the second.
        const at = timestamp((minute - 1) * MINUTE).slice(0, 19);
        await client
          .send(
            new CreateScheduleCommand({
              Name: nameOf(minute),
              GroupName,
              ScheduleExpression: `at(${at})`,
              ScheduleExpressionTimezone: "UTC",
              FlexibleTimeWindow: { Mode: "OFF" },
              ActionAfterCompletion: "DELETE",
              Target: { Arn, RoleArn, Input: JSON.stringify({ minute }) },
            }),
          )
          .catch((error: unknown) => {
            if (!(error instanceof ConflictException) && (error as Error).name !== "ConflictException") throw error;
          });
      },
    };
    return () => schedules;
  },
};
