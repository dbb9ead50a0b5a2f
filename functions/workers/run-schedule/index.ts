// One tick of a schedule becomes one job; the tick after it is set before, so that none depends on this one (SCH-12).
import { HOUR, timestamp } from "../../../shared/clock.ts";
import { planHas } from "../../../shared/plans.ts";
import { storeWrite, timers, workspaceRead } from "../../../shared/resources.ts";
import { nextRun } from "../../../shared/rules/cron.ts";
import { onTransactionCanceled } from "../../../shared/store/refusals.ts";
import type { JobSpec } from "../../../shared/store/sends/jobs.ts";
import {
  findSchedule,
  readCron,
  type ScheduleItem,
  setTick,
  tickJobId,
  tickWrite,
} from "../../../shared/store/sends/schedules.ts";
import { startSend } from "../../../shared/store/sends/sends.ts";
import { queueWorker } from "../../../shared/worker.ts";

/** A tick later than this is noted as missed and not sent (docs/decisions/0021#late-work). */
const TOO_LATE_MS = HOUR;

export const runSchedule = queueWorker(
  "run-schedule",
  "Starts the send of a schedule's tick.",
  [storeWrite, timers, workspaceRead],
  async ({ schedule: id, revision, tick }, { store, timers, clock, workspace }) => {
    const schedule = await findSchedule(store, id);
    if (!schedule?.active || schedule.revision !== revision || !schedule.next_run_at) return;
    if (Date.parse(schedule.next_run_at) > tick) return;
    const now = clock.now();
    const isLate = now - tick > TOO_LATE_MS;
    // After a long stop the ticks in between are skipped, not walked through.
    const next = nextRun(readCron(schedule), schedule.timezone, isLate ? now - TOO_LATE_MS : tick);
    await setTick(timers, id, revision, next);
    const workspaceRecord = await workspace();
    const missed = isLate ? timestamp(tick) : undefined;
    const goOn = tickWrite(store, schedule, tick, next, missed);
    if (
      isLate ||
      !workspaceRecord ||
      workspaceRecord.status === "deleted" ||
      !planHas(workspaceRecord.plan, "schedules")
    )
      return store.transact([goOn]).catch(onTransactionCanceled(() => undefined));
    // A suspended workspace's send waits, as every scheduled one does (AMB-86).
    const at = workspaceRecord.status === "suspended" ? timestamp(tick) : null;
    const allowance = { plan: workspaceRecord.plan, sendCap: workspaceRecord.monthly_send_cap };
    const job = { id: tickJobId(store.tenant, id, tick), isRepeatable: true, spec: specOf(schedule, at) };
    await startSend(store, timers, allowance, job, [goOn]);
  },
);

const specOf = ({ id, template_id, channel_ids, target }: ScheduleItem, scheduled_at: string | null): JobSpec => ({
  name: null,
  category: "marketing",
  title: null,
  body: null,
  data: null,
  template_id,
  channel_ids,
  target,
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
