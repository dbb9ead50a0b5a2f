// Due rows: a schedule for their minute, or the due queue at once when the time is near (docs/decisions/0021#timers).
import { CreateScheduleCommand, SchedulerClient } from "@aws-sdk/client-scheduler";
import type { Message } from "../../../shared/contract/messages.ts";
import { type Clock, MINUTE, timestamp } from "../../../shared/kernel/clock.ts";
import { type Context, perEnvironment, setting } from "../../../shared/kernel/deps.ts";
import { chunksOf } from "../../../shared/rules/chunks.ts";
import { dueQueue } from "../../../shared/runtime/resources.ts";
import type { Changes } from "../../../shared/store/changes.ts";
import { DueItem } from "../../../shared/store/platform-items.ts";

const MAX_REMEMBERED = 10_000;

interface MinuteSchedules {
  /** Makes sure that the due worker is triggered for a minute (since the epoch); an existing schedule is kept. */
  ensure(minute: number): Promise<void>;
}

/** `due-202611202113` */
const nameOf = (minute: number) =>
  `due-${timestamp(minute * MINUTE)
    .replaceAll(/[-T:]/g, "")
    .slice(0, 12)}`;

export const minuteSchedules = /* @__PURE__ */ perEnvironment(
  "schedules",
  {
    env: ["SCHEDULE_GROUP", "SCHEDULER_ROLE_ARN", "DUE_QUEUE_ARN"],
    grants: [
      { actions: ["scheduler:CreateSchedule"], on: "schedule-group" },
      { actions: ["iam:PassRole"], on: "scheduler-role" },
    ],
  },
  (deps): MinuteSchedules => {
    const client = deps.aws(SchedulerClient);
    const GroupName = setting(deps, "SCHEDULE_GROUP");
    const RoleArn = setting(deps, "SCHEDULER_ROLE_ARN");
    const Arn = setting(deps, "DUE_QUEUE_ARN");
    /**
     * Minutes whose schedule this environment has seen. A schedule is deleted a minute early, when due rows no longer
     * need it.
     */
    const ensured = new Set<number>();
    return {
      ensure: async (minute) => {
        if (ensured.has(minute)) return;
        // A minute early, because the scheduler can be a minute late. Messages are delayed in their queue to the
        // second.
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
              Target: { Arn, RoleArn, Input: JSON.stringify({ kind: "minute", minute } satisfies Message<"due">) },
            }),
          )
          .catch((error: unknown) => {
            if (!(error instanceof Error) || error.name !== "ConflictException") throw error;
          });
        if (ensured.size >= MAX_REMEMBERED) ensured.clear();
        ensured.add(minute);
      },
    };
  },
);

/** Due rows nearer than this skip the minute's schedule. */
const SOON_MS = 2 * MINUTE;

/** Schedules that are created at a time. */
const AT_ONCE = 10;

export const timerUses = [dueQueue, minuteSchedules] as const;

/**
 * Queues due rows of the next minutes at once, and makes sure that every later minute with due rows has its schedule.
 */
export async function scheduleTimers(
  changes: Changes,
  { clock, dueQueue, schedules }: Context<typeof timerUses> & { clock: Clock },
): Promise<void> {
  const rows = changes.of(DueItem, "due").map(({ after }) => after);
  const soon = rows.filter(({ at }) => at - clock.now() < SOON_MS);
  const minutes = new Set(rows.filter((row) => !soon.includes(row)).map(({ at }) => Math.floor(at / MINUTE)));
  await dueQueue.send(soon.map(({ pk, sk }) => ({ kind: "row", row: { pk, sk } })));
  for (const batch of chunksOf([...minutes], AT_ONCE))
    await Promise.all(batch.map((minute) => schedules.ensure(minute)));
}
