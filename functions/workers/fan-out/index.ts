// Drives jobs: fires the ones that are due, dispatches the queued ones, plans their ranges, watches the ones in progress.
import { HOUR, MINUTE, SECOND, timestamp } from "../../../shared/kernel/clock.ts";
import { queueWorker } from "../../../shared/runtime/worker.ts";
import { absent, all, is } from "../../../shared/store/conditions.ts";
import { changeItem, type RowOf } from "../../../shared/store/item.ts";
import { toJson } from "../../../shared/store/json-text.ts";
import { countTarget, targetExists } from "../../../shared/store/lists/targets.ts";
import { oldRow, onTransactionCanceled } from "../../../shared/store/refusals.ts";
import { planRange } from "../../../shared/store/sends/audience/audiences.ts";
import {
  channelSettings,
  deliverySettingsOf,
  planningRules,
  selectedChannels,
} from "../../../shared/store/sends/audience/planning.ts";
import { rangesOf, sourceOf } from "../../../shared/store/sends/chunks/range-names.ts";
import { completeRange, getRange, isComplete } from "../../../shared/store/sends/chunks/ranges.ts";
import { brakeFor } from "../../../shared/store/sends/jobs/brake.ts";
import { storeContent, withContent } from "../../../shared/store/sends/jobs/job-content.ts";
import { JobItem } from "../../../shared/store/sends/jobs/job-items.ts";
import { abandonJob, failJob, findJob, finishJob, moveJob } from "../../../shared/store/sends/jobs/jobs.ts";
import type { JobFailure, JobRecord } from "../../../shared/store/sends/jobs/job-record.ts";
import { resumeTimer, sendStateOf } from "../../../shared/store/sends/jobs/send-state.ts";
import { singleMessage } from "../../../shared/store/sends/jobs/single.ts";
import { contentOfTemplate, TemplateItem } from "../../../shared/store/templates/items.ts";
import { Usage } from "../../../shared/store/workspaces/items.ts";
import { reservation, usageRefusal, warnOfUsage } from "../../../shared/store/workspaces/usage.ts";
import {
  abandon,
  chunkMessages,
  release,
  resume,
  uses,
  WATCH_AFTER_MS,
  type WorkerContext,
  watch,
  watchDirect,
  watchJobs,
} from "./watch.ts";

/** A one-off send that is later than this is not sent any more (docs/decisions/0021#late-work). */
const TOO_LATE_MS = 24 * HOUR;
/** Sends of a suspended workspace are held, and checked again this much later (AMB-86). */
const HELD_RETRY_MS = 5 * MINUTE;
/** How long after its timer was set a job may still appear. */
const APPEARING_MS = 60 * SECOND;
const APPEARING_RETRY_SECONDS = 10;
const PAUSED_RETRY_SECONDS = 60;
/** The longest delay of a queue. */
const MAX_DELAY_SECONDS = 900;
/** Planning stops after this time and continues with another message. */
const PLANNING_MS = 40 * SECOND;

export const fanOutJobs = queueWorker(
  "fan-out",
  "Fires, dispatches and plans notification jobs.",
  uses,
  async (message, context) => {
    const { store, clock, log, fanOutQueue: queue } = context;
    if ("quarter" in message) return watchDirect(context, message);
    if ("jobs" in message) return watchJobs(context, message.jobs);
    const job = await findJob(store, message.job);
    if (!job) {
      const mayAppear = message.since !== undefined && clock.now() < message.since + APPEARING_MS;
      if (mayAppear) return queue.send([message], { delaySeconds: APPEARING_RETRY_SECONDS });
      return log({ level: "info", message: "a job does not exist", ...message });
    }
    if (message.resume) return resume(context, job, () => dispatch(context, job));
    if (message.release) return release(context, job, message.range);
    if (message.range !== undefined) return plan(context, job, message.range);
    if (message.due) return fire(context, job);
    if (message.watch) return watch(context, job, () => dispatch(context, job));
    return dispatch(context, job);
  },
);

/** Queues a scheduled job whose time has come. The table's stream then leads to its dispatch. */
async function fire(context: WorkerContext, job: JobRecord): Promise<void> {
  const { store, clock, timers, log } = context;
  // A held job is fired once it is released: the stream reports that.
  if (job.status !== "scheduled" || job.scheduled_at === null || job.held)
    return log({ level: "info", message: "a job is not to be fired", job: job.id, status: job.status, held: job.held });
  const now = clock.now();
  const at = Math.max(Date.parse(job.scheduled_at), job.releasedAt ?? 0);
  if (now < at) return waitFor(context, job.id, at - now);
  if (now - at > TOO_LATE_MS) return failJob(store, job, { code: "EXPIRED", message: "expired" });
  const workspace = await context.workspace();
  if (workspace?.status === "suspended") return timers.set([{ kind: "job", id: job.id, at: now + HELD_RETRY_MS }]);
  if (workspace?.status !== "active") return abandon(context, job);
  await timers.set([{ kind: "job-watch", id: job.id, at: now + WATCH_AFTER_MS }]);
  await moveJob(store, job.id, "fire", { when: absent("held") });
}

/**
 * The message was early by the difference of two clocks, so it is sent again. The same timer must not be set anew: the
 * removal of its row may be in progress, and would remove the new row.
 */
const waitFor = ({ store, fanOutQueue: queue }: WorkerContext, job: string, ms: number): Promise<void> =>
  queue.send([{ tenant: store.tenant, job, due: true }], {
    delaySeconds: Math.min(MAX_DELAY_SECONDS, Math.ceil(ms / SECOND)),
  });

/** Fixes content, channels and ranges, then announces the ranges to be planned. */
async function dispatch(context: WorkerContext, job: JobRecord): Promise<void> {
  const { store, clock, workspace, log } = context;
  const sendState = await sendStateOf(store, workspace, job);
  if (sendState === "deleted") return abandon(context, job);
  // Its campaign was paused while the job was made, so the job is about to be held.
  if (sendState === "paused")
    return context.fanOutQueue.send([{ tenant: store.tenant, job: job.id }], { delaySeconds: PAUSED_RETRY_SECONDS });
  if (sendState === "suspended") await context.timers.set([resumeTimer(job, clock.now())]);
  if (sendState !== "open")
    return log({ level: "info", message: "a job is not dispatched now", job: job.id, status: job.status, sendState });
  if (job.status !== "queued") return announce(context, job);
  if (job.direct) return context.deliverQueue.send([singleMessage(store.tenant, job.id)]);
  const via = (await selectedChannels(store, job)).map(channelSettings);
  if (via.length === 0) return failJob(store, job, { code: "NO_USABLE_CHANNEL", message: "no usable channel" });
  const template = job.template_id === null ? undefined : await store.get(TemplateItem, { id: job.template_id });
  if (job.template_id !== null && !template)
    return failJob(store, job, { code: "TEMPLATE_NOT_FOUND", message: "the template no longer exists" });
  if (!(await targetExists(store, job.target)))
    return failJob(store, job, { code: "TARGET_NOT_FOUND", message: `the ${job.target?.type} no longer exists` });
  const reserved = await reserveSends(context, job);
  if (typeof reserved === "object") return failJob(store, job, reserved);
  const content = template && (await storeTexts(store, job, template));
  const settings = await workspace();
  const brake = await brakeFor(store, job, via, settings);
  const moved = await moveJob(store, job.id, "dispatch", {
    when: absent("held"),
    change: {
      set: {
        dispatched_at: timestamp(clock.now()),
        ranges: job.ranges ?? rangesOf(job, reserved),
        delivery_settings: toJson({
          ...deliverySettingsOf(job, via, settings),
          ...(brake && { brake }),
          ...(job.step && { isCounted: true }),
        }),
        ...content,
      },
    },
  });
  const dispatched = moved ?? (await findJob(store, job.id));
  if (dispatched) await announce(context, dispatched);
}

/** Stores what a job says with the texts of its template. @returns the attributes of the job that lead to it */
async function storeTexts(
  store: WorkerContext["store"],
  job: JobRecord,
  template: RowOf<typeof TemplateItem>,
): Promise<{ content: string; is_split?: boolean | undefined } | { title: string; body: string }> {
  const { title, body } = template;
  const content = await storeContent(store, { ...(await withContent(store, job)), ...contentOfTemplate(template) });
  return content === undefined ? { title, body } : { content, is_split: job.isSplit || undefined };
}

/** Reserves the sends of a scheduled job in the quota, once. @returns how many they are, or why they are refused. */
async function reserveSends({ store, clock, workspace }: WorkerContext, job: JobRecord): Promise<number | JobFailure> {
  if (job.reserved !== undefined) return job.reserved;
  const workspaceRecord = await workspace();
  if (!workspaceRecord) return { code: "NOT_FOUND", message: "the workspace no longer exists" };
  const allowance = { plan: workspaceRecord.plan, sendCap: workspaceRecord.monthly_send_cap };
  const audience = job.subscriber_ids_count ?? (await countTarget(store, job.target));
  const sends = Math.round(audience * (1 - job.holdout_percentage / 100));
  const now = clock.now();
  const set = { reserved: sends, reserved_at: now };
  const reserving = changeItem(JobItem, { job: job.id }, { set }, all(is("status", "queued"), absent("reserved")));
  const refusal = await store
    .transact([reserving, ...(sends > 0 ? [reservation("sends", sends, allowance, now)] : [])])
    .then(
      () => undefined,
      onTransactionCanceled(([done, usage]) =>
        done ? undefined : usageRefusal("sends", sends, oldRow(Usage, usage), allowance),
      ),
    );
  if (refusal) return refusal;
  await warnOfUsage(store, "sends", allowance);
  return sends;
}

/** Sends a message for each range: for each of its chunks if they are planned, else to plan it. */
async function announce(
  { store, log, fanOutQueue: queue, deliverQueue: deliver }: WorkerContext,
  job: JobRecord,
): Promise<void> {
  if (job.status !== "processing" || !job.ranges)
    return log({ level: "info", message: "a job is not to be announced", job: job.id, status: job.status });
  const { tenant } = store;
  const [first] = job.ranges;
  if (first !== undefined && sourceOf(first).from === "request") {
    const { chunks } = await getRange(store, job.id, first);
    await deliver.send(chunkMessages(tenant, job.id, first, 0, chunks));
    if (chunks === 0) await completeRange(store, job, first);
    return;
  }
  await queue.send(job.ranges.map((range) => ({ tenant, job: job.id, range })));
  if (job.ranges.length === 0) await finishJob(store, job.id);
}

async function plan(
  { store, clock, log, timers, workspace, fanOutQueue: queue, deliverQueue: deliver }: WorkerContext,
  job: JobRecord,
  range: string,
): Promise<void> {
  const { status } = job;
  const sendState = await sendStateOf(store, workspace, job);
  if (sendState === "deleted") return abandonJob(store, job.id);
  if (sendState === "suspended") await timers.set([resumeTimer(job, clock.now())]);
  if (status !== "processing" || !job.deliverySettings || sendState !== "open")
    return log({ level: "info", message: "a range is not to be planned", job: job.id, range, status, sendState });
  const until = clock.now() + PLANNING_MS;
  const rules = await planningRules(store, job.id, await withContent(store, job), job.deliverySettings);
  const state = await planRange(store, job.id, range, rules, {
    announce: (chunks) => deliver.send(chunks.map((chunk) => ({ tenant: store.tenant, job: job.id, range, chunk }))),
    isTimeUp: () => clock.now() >= until,
  });
  // Chunks that close from here on close the range themselves, since they see that it is planned.
  if (isComplete(state)) await completeRange(store, job, range);
  if (!state.planned) await queue.send([{ tenant: store.tenant, job: job.id, range }]);
}
