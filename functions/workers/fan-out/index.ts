// Sets jobs in motion: fires what is due, dispatches what is queued, plans ranges, looks after what is under way.
import { HOUR, MINUTE, SECOND, timestamp } from "../../../shared/clock.ts";
import { absent } from "../../../shared/store/conditions.ts";
import { keys } from "../../../shared/store/keys.ts";
import { countTarget, targetExists } from "../../../shared/store/lists/targets.ts";
import { onTransactionCanceled } from "../../../shared/store/refusals.ts";
import { PLANNED_RANGE, planRange, rangesOf } from "../../../shared/store/sends/audiences.ts";
import { findJob, finishJob, type JobItem, moveJob } from "../../../shared/store/sends/jobs.ts";
import { deliverySettingsOf, planningRules, selectedChannels } from "../../../shared/store/sends/planning.ts";
import { closeRange, getRange, isComplete } from "../../../shared/store/sends/ranges.ts";
import { reservation, usageRefusal, warnOfUsage } from "../../../shared/store/workspaces/usage.ts";
import { queueWorker } from "../../../shared/worker.ts";
import { chunkMessages, release, uses, WATCH_AFTER_MS, type WorkerContext, watch } from "./watch.ts";

/** A one-off send later than this is not sent any more (docs/decisions/0021#late-work). */
const TOO_LATE_MS = 24 * HOUR;
/** A suspended workspace's sends are held, and looked at again this much later (AMB-86). */
const HELD_RETRY_MS = 5 * MINUTE;
/** How long after its timer was set a job may still appear. */
const APPEARING_MS = 60 * SECOND;
const APPEARING_RETRY_SECONDS = 10;
/** What a queue can hold a message back. */
const MAX_DELAY_SECONDS = 900;
/** Planning stops here and goes on in another message. */
const PLANNING_MS = 40 * SECOND;
export const fanOut = queueWorker(
  "fan-out",
  "Fires, dispatches and plans notification jobs.",
  uses,
  async (message, context) => {
    const { store, clock, fanOutQueue: queue } = context;
    const job = await findJob(store, message.job);
    if (!job) {
      const mayAppear = message.since !== undefined && clock.now() < message.since + APPEARING_MS;
      if (mayAppear) await queue.send([message], { delaySeconds: APPEARING_RETRY_SECONDS });
      return;
    }
    if (message.release) return release(context, job, message.range);
    if (message.range !== undefined) return plan(context, job, message.range);
    if (message.due) return fire(context, job);
    if (message.watch) return watch(context, job, () => dispatch(context, job));
    return dispatch(context, job);
  },
);

/** A scheduled job's time has come. The queued job then comes back through the table's stream. */
async function fire(context: WorkerContext, job: JobItem): Promise<void> {
  const { store, clock, timers } = context;
  if (job.status !== "scheduled" || job.scheduled_at === null || job.held) return;
  const now = clock.now();
  const at = Math.max(Date.parse(job.scheduled_at), job.releasedAt ?? 0);
  if (now < at) return waitFor(context, job.id, at - now);
  if (now - at > TOO_LATE_MS) return fail(store, job.id, "expired");
  const workspace = await context.workspace();
  if (workspace?.status !== "active") return timers.set([{ kind: "job", id: job.id, at: now + HELD_RETRY_MS }]);
  await timers.set([{ kind: "job-watch", id: job.id, at: now + WATCH_AFTER_MS }]);
  await moveJob(store, job.id, "fire", { when: absent("held") });
}

/**
 * Another clock was ahead of ours: the message comes again. Setting the same timer anew could meet the removal of its
 * row, which may be under way just now, and lose it.
 */
const waitFor = ({ store, fanOutQueue: queue }: WorkerContext, job: string, ms: number): Promise<void> =>
  queue.send([{ tenant: store.tenant, job, due: true }], {
    delaySeconds: Math.min(MAX_DELAY_SECONDS, Math.ceil(ms / SECOND)),
  });

/** Fixes content, channels and ranges, then sends the ranges out to be planned. */
async function dispatch(context: WorkerContext, job: JobItem): Promise<void> {
  const { store, clock, workspace } = context;
  if (job.status !== "queued") return announce(context, job);
  const via = (await selectedChannels(store, job)).map(({ id, type, credentials }) => ({ id, type, credentials }));
  if (via.length === 0) return fail(store, job.id, "no usable channel");
  const template =
    job.template_id === null ? undefined : await store.get(keys.entity(store.tenant, "template", job.template_id));
  if (job.template_id !== null && !template) return fail(store, job.id, "the template no longer exists");
  if (!(await targetExists(store, job.target))) return fail(store, job.id, `the ${job.target?.type} no longer exists`);
  const refusal = await reserveSends(context, job);
  if (refusal) return fail(store, job.id, refusal);
  const moved = await moveJob(store, job.id, "dispatch", {
    change: {
      set: {
        dispatched_at: timestamp(clock.now()),
        ranges: job.ranges ?? rangesOf(job),
        means: JSON.stringify(deliverySettingsOf(job, via, await workspace())),
        title: template ? String(template.title) : undefined,
        body: template ? String(template.body) : undefined,
      },
    },
  });
  const dispatched = moved ?? (await findJob(store, job.id));
  if (dispatched) await announce(context, dispatched);
}

/** A scheduled send takes its share of the quota when its time has come, once. @returns why it may not. */
async function reserveSends({ store, workspace }: WorkerContext, job: JobItem): Promise<string | undefined> {
  if (job.reserved !== undefined) return undefined;
  const workspaceRecord = await workspace();
  if (!workspaceRecord) return "the workspace no longer exists";
  const allowance = { plan: workspaceRecord.plan, sendCap: workspaceRecord.monthly_send_cap };
  const audience = job.subscriber_ids_count ?? (await countTarget(store, job.target));
  const sends = Math.round(audience * (1 - job.holdout_percentage / 100));
  const reserving = {
    update: keys.job(store.tenant, job.id),
    change: { set: { reserved: sends } },
    when: absent("reserved"),
  };
  const refusal = await store
    .transact([reserving, ...(sends > 0 ? [reservation(store, "sends", sends, allowance)] : [])])
    .then(
      () => undefined,
      onTransactionCanceled(([done, usage]) =>
        done ? undefined : usageRefusal("sends", sends, usage?.old, allowance).message,
      ),
    );
  if (refusal === undefined) await warnOfUsage(store, "sends", allowance);
  return refusal;
}

/** Tells the workers of every range that is not closed: its chunks if they are planned, else that planning is due. */
async function announce(
  { store, fanOutQueue: queue, deliverQueue: deliver }: WorkerContext,
  job: JobItem,
): Promise<void> {
  if (job.status !== "processing" || !job.ranges) return;
  const { tenant } = store;
  if (job.ranges.length === 1 && job.ranges[0] === PLANNED_RANGE) {
    const { chunks } = await getRange(store, job.id, PLANNED_RANGE);
    await deliver.send(chunkMessages(tenant, job.id, PLANNED_RANGE, 0, chunks));
    if (chunks === 0) await completeRange(store, job.id, PLANNED_RANGE);
    return;
  }
  await queue.send(job.ranges.map((range) => ({ tenant, job: job.id, range })));
  if (job.ranges.length === 0) await finishJob(store, job.id);
}

async function plan(
  { store, clock, fanOutQueue: queue, deliverQueue: deliver }: WorkerContext,
  job: JobItem,
  range: string,
): Promise<void> {
  if (job.status !== "processing") return;
  const until = clock.now() + PLANNING_MS;
  if (!job.deliverySettings) return;
  const rules = await planningRules(store, job.id, job, job.deliverySettings);
  const state = await planRange(store, job.id, range, rules, {
    announce: (chunks) => deliver.send(chunks.map((chunk) => ({ tenant: store.tenant, job: job.id, range, chunk }))),
    isTimeUp: () => clock.now() >= until,
  });
  // Chunks that close from here on close the range themselves, for they see that it is planned.
  if (isComplete(state)) await completeRange(store, job.id, range);
  if (!state.planned) await queue.send([{ tenant: store.tenant, job: job.id, range }]);
}

async function completeRange(store: WorkerContext["store"], job: string, range: string): Promise<void> {
  if (await closeRange(store, job, range)) await finishJob(store, job);
}

async function fail(store: WorkerContext["store"], job: string, error: string): Promise<void> {
  await moveJob(store, job, "fail", { change: { set: { error, completed_at: timestamp(store.clock.now()) } } });
}
