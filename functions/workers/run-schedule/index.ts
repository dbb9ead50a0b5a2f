// One tick of a schedule becomes one job. The timer of the next tick is set first, so that it does not depend on the job
// (SCH-12).
import { type Clock, HOUR, timestamp } from "../../../shared/kernel/clock.ts";
import type { Context, LogEntry } from "../../../shared/kernel/deps.ts";
import { nextRun } from "../../../shared/rules/cron.ts";
import { planHas } from "../../../shared/rules/plans.ts";
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
import { type JobSpec, PLAIN_SEND } from "../../../shared/store/sends/jobs/job-spec.ts";
import { startSend } from "../../../shared/store/sends/jobs/sends.ts";
import { topicOfSend } from "../../../shared/store/topics/topics.ts";
import { allowanceOf } from "../../../shared/store/workspaces/usage.ts";
import type { WorkspaceRecord } from "../../../shared/store/workspaces/workspaces.ts";

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
    // The message of an earlier tick may still be in a queue: a schedule takes its ticks in order.
    for (;;) {
      const schedule = await findSchedule(context.store, id);
      if (!schedule?.active || schedule.revision !== revision) return;
      const { next } = schedule;
      if (next === undefined || next > upTo) return;
      await takeTick(context, schedule, next);
    }
  },
);

/** Takes one tick: sets the timer of the next one, then makes the send or records why there is none. */
async function takeTick(context: WorkerContext, schedule: ScheduleRow, tick: number): Promise<void> {
  const { store, timers, clock } = context;
  const { id, revision } = schedule;
  const now = clock.now();
  const isLate = now - tick > TOO_LATE_MS;
  // After a long stop the ticks in between are skipped.
  const next = nextRun(readCron(schedule), schedule.timezone, isLate ? now - TOO_LATE_MS : tick);
  await setTick(store, timers, { id, revision, next });

  const advance = tickWrite(schedule, tick, next, isLate ? timestamp(tick) : undefined);
  const verdict = decide(await context.workspace(), isLate);
  if (verdict.kind === "skip") return skip(context, { schedule, tick, isLate, advance }, verdict.failure);
  const { owner } = verdict;
  // A suspended workspace's send waits, as every scheduled one does (AMB-86).
  const at = owner.status === "suspended" ? timestamp(tick) : null;
  const spec = { ...specOf(schedule, at), topic: await topicOfSend(store, schedule.topic) };
  const send = { id: tickJobId(store, id, tick), isRepeatable: true, spec, extraItems: [advance] };
  await startSend(store, timers, allowanceOf(owner), send);
}

type Verdict =
  | { kind: "send"; owner: WorkspaceRecord }
  /** A deleted workspace gets no record of a failure. */
  | { kind: "skip"; failure: JobFailure | undefined };

function decide(owner: WorkspaceRecord | undefined, isLate: boolean): Verdict {
  if (!owner || owner.status === "deleted") return { kind: "skip", failure: undefined };
  if (isLate) return { kind: "skip", failure: MISSED };
  return planHas(owner.plan, "schedules") ? { kind: "send", owner } : { kind: "skip", failure: NOT_IN_PLAN };
}

interface SkippedTick {
  schedule: ScheduleRow;
  tick: number;
  isLate: boolean;
  /** Moves the schedule on to its next tick. */
  advance: ReturnType<typeof tickWrite>;
}

async function skip(
  { store, log }: WorkerContext,
  { schedule: { id, revision }, tick, isLate, advance }: SkippedTick,
  failure: JobFailure | undefined,
): Promise<void> {
  const message = "a tick was skipped: too late, or its workspace may not send";
  log({ level: "info", message, tenant: store.tenant, schedule: id, revision, tick, is_late: isLate });
  if (failure) await noteFailedTick(store, id, tick, failure);
  await whereItHolds(store.transact([advance]));
}

const specOf = ({ id, template_id, channel_ids }: ScheduleRow, scheduled_at: string | null): JobSpec => ({
  ...PLAIN_SEND,
  category: "marketing",
  template_id,
  channel_ids,
  target: { type: "all" },
  scheduled_at,
  source: { type: "schedule", id },
});
