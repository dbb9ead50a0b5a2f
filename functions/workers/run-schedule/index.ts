// One tick of a schedule becomes one job. The timer of the next tick is set first, so that it does not depend on the job
// (SCH-12).
import { type Clock, HOUR, timestamp } from "../../../shared/kernel/clock.ts";
import type { Context, LogEntry } from "../../../shared/kernel/deps.ts";
import { nextRun } from "../../../shared/rules/cron.ts";
import { type PlanName, planHas } from "../../../shared/rules/plans.ts";
import { queueWorker } from "../../../shared/runtime/worker.ts";
import { timers, workspaceRead } from "../../../shared/store/capabilities.ts";
import { storeWrite } from "../../../shared/store/context.ts";
import { whereItHolds } from "../../../shared/store/refusals.ts";
import {
  findSchedule,
  readCron,
  type ScheduleRow,
  setTick,
  tickJobId,
  tickWrite,
} from "../../../shared/store/schedules/schedules.ts";
import { noteFailedTick } from "../../../shared/store/sends/jobs/job-outcomes.ts";
import type { JobFailure } from "../../../shared/store/sends/jobs/job-record.ts";
import type { JobSpec } from "../../../shared/store/sends/jobs/job-spec.ts";
import { startSend } from "../../../shared/store/sends/jobs/sends.ts";
import { topicOfSend } from "../../../shared/store/topics/topics.ts";

/** A tick later than this is recorded as missed and not sent (docs/decisions/0021#late-work). */
const TOO_LATE_MS = HOUR;

const MISSED: JobFailure = { code: "MISSED", message: "it was more than an hour late" };
const NOT_IN_PLAN: JobFailure = {
  code: "PLAN_FEATURE_UNAVAILABLE",
  message: "the workspace's plan does not include schedules",
};

const uses = [storeWrite, timers, workspaceRead] as const;
type WorkerContext = Context<typeof uses> & { clock: Clock; log(entry: LogEntry): void };

export const runSchedule = queueWorker(
  "run-schedule",
  "Starts the send of a schedule's tick.",
  uses,
  async ({ schedule: id, revision, tick: upTo }, context) => {
    // The message of an earlier tick may still be on its way: a schedule takes its ticks in their order.
    for (;;) {
      const schedule = await findSchedule(context.store, id);
      if (!schedule?.active || schedule.revision !== revision) return;
      const { next } = schedule;
      if (next === undefined || next > upTo) return;
      await takeTick(context, schedule, next);
    }
  },
);

/** One tick: the timer of the next one, then the send or why there is none. */
async function takeTick(context: WorkerContext, schedule: ScheduleRow, tick: number): Promise<void> {
  const { store, timers, clock, workspace, log } = context;
  const { id, revision } = schedule;
  const now = clock.now();
  const isLate = now - tick > TOO_LATE_MS;
  // After a long stop the ticks in between are skipped.
  const next = nextRun(readCron(schedule), schedule.timezone, isLate ? now - TOO_LATE_MS : tick);
  await setTick(store, timers, { id, revision, next });
  const workspaceRecord = await workspace();
  const missed = isLate ? timestamp(tick) : undefined;
  const advance = tickWrite(schedule, tick, next, missed);
  const isOpen = workspaceRecord !== undefined && workspaceRecord.status !== "deleted";
  const failure = isOpen ? whySkipped(workspaceRecord.plan, isLate) : undefined;
  if (failure || !isOpen) {
    const about = { tenant: store.tenant, schedule: id, revision, tick, is_late: isLate };
    log({ level: "info", message: "a tick was skipped: too late, or its workspace may not send", ...about });
    if (failure) await noteFailedTick(store, id, tick, failure);
    return whereItHolds(store.transact([advance]));
  }
  // A suspended workspace's send waits, as every scheduled one does (AMB-86).
  const at = workspaceRecord.status === "suspended" ? timestamp(tick) : null;
  const allowance = { plan: workspaceRecord.plan, sendCap: workspaceRecord.monthly_send_cap };
  const spec = { ...specOf(schedule, at), topic: await topicOfSend(store, schedule.topic) };
  const send = { id: tickJobId(store, id, tick), isRepeatable: true, spec, extraItems: [advance] };
  await startSend(store, timers, allowance, send);
}

function whySkipped(plan: PlanName, isLate: boolean): JobFailure | undefined {
  if (isLate) return MISSED;
  return planHas(plan, "schedules") ? undefined : NOT_IN_PLAN;
}

const specOf = ({ id, template_id, channel_ids }: ScheduleRow, scheduled_at: string | null): JobSpec => ({
  name: null,
  category: "marketing",
  title: null,
  body: null,
  data: null,
  template_id,
  channel_ids,
  target: { type: "all" },
  subscriber_ids_count: null,
  device_filters: null,
  subscriber_filters: null,
  scheduled_at,
  channel_arbitration_mode: "explicit",
  holdout_percentage: 0,
  split_percentage: null,
  variant_b: null,
  bypass_quiet_hours: false,
  source: { type: "schedule", id },
});
