// Fires a job, dispatches it, and announces and plans its ranges.
import { WORKING_MS } from "../../../shared/contract/messages.ts";
import { timestamp } from "../../../shared/kernel/clock.ts";
import { absent, all, is } from "../../../shared/store/conditions.ts";
import type { Store } from "../../../shared/store/context.ts";
import { changeItem } from "../../../shared/store/item.ts";
import { toJson } from "../../../shared/store/json-text.ts";
import { countTarget } from "../../../shared/store/lists/targets.ts";
import { failuresOf, oldRow } from "../../../shared/store/refusals.ts";
import { planRange } from "../../../shared/store/sends/audience/audiences.ts";
import { deliverySettingsOf, planningRules, profileReads } from "../../../shared/store/sends/audience/planning.ts";
import { rangesOf, sourceOf } from "../../../shared/store/sends/chunks/range-names.ts";
import { completeRange, getRange, isComplete } from "../../../shared/store/sends/chunks/ranges.ts";
import { brakeFor } from "../../../shared/store/sends/jobs/brake.ts";
import { storeContent, withContent } from "../../../shared/store/sends/jobs/job-content.ts";
import { JobItem } from "../../../shared/store/sends/jobs/job-items.ts";
import type { Job, JobFailure } from "../../../shared/store/sends/jobs/job-record.ts";
import { failJob, findJob, finishJob, moveJob } from "../../../shared/store/sends/jobs/jobs.ts";
import { contentOfTemplate } from "../../../shared/store/templates/items.ts";
import { Usage } from "../../../shared/store/workspaces/items.ts";
import { allowanceOf, sendReservation, usageRefusal, warnOfUsage } from "../../../shared/store/workspaces/usage.ts";
import { WATCH_AFTER_MS } from "./watch.ts";
import { chunkMessages, type Verdict, type Work } from "./work.ts";

type Of<K extends Verdict["kind"]> = Extract<Verdict, { kind: K }>;

/** Queues a scheduled job whose time has come. The table's stream then leads to its dispatch. */
export async function fire({ store, clock, timers, job }: Work): Promise<void> {
  await timers.set([{ kind: "job-watch", id: job.id, at: clock.now() + WATCH_AFTER_MS }]);
  await moveJob(store, job.id, "fire", { when: absent("held") });
}

/** Fixes content, channels and ranges, then announces the ranges to be planned. */
export async function dispatch(work: Work, { via, template }: Of<"dispatch">): Promise<void> {
  const { store, clock, workspace, job } = work;
  const reserved = await reserveSends(work);
  if (reserved.kind === "refused") return failJob(store, job, reserved.failure);

  const said: Job = { ...(await withContent(store, job)), ...(template && contentOfTemplate(template)) };
  const content = template && (await storeTexts(store, said, template));
  const settings = await workspace();
  const brake = await brakeFor(store, job, via, settings);
  const deliverySettings = {
    ...deliverySettingsOf(job, via, settings),
    ...profileReads(said),
    ...(brake && { brake }),
    ...(job.step?.hasBrake && { isCounted: true as const }),
  };
  const set = {
    dispatched_at: timestamp(clock.now()),
    ranges: job.ranges ?? rangesOf(job, reserved.sends),
    settings: toJson(deliverySettings),
    ...content,
  };
  const moved = await moveJob(store, job.id, "dispatch", { when: absent("held"), change: { set } });
  const dispatched = moved ?? (await findJob(store, job.id));
  if (dispatched) await announce({ ...work, job: dispatched });
}

/** Stores the content of a job with the texts of its template. @returns the attributes of the job that point to it */
async function storeTexts(
  store: Store,
  said: Job,
  { title, body }: NonNullable<Of<"dispatch">["template"]>,
): Promise<{ content: string; is_split?: boolean | undefined } | { title: string; body: string }> {
  const content = await storeContent(store, said);
  return content === undefined ? { title, body } : { content, is_split: said.isSplit || undefined };
}

type QuotaReservation = { kind: "reserved"; sends: number } | { kind: "refused"; failure: JobFailure };

/** Reserves the sends of a scheduled job in the quota, once. */
async function reserveSends({ store, clock, workspace, job }: Work): Promise<QuotaReservation> {
  if (job.reserved !== undefined) return { kind: "reserved", sends: job.reserved };
  const owner = await workspace();
  if (!owner) return { kind: "refused", failure: { code: "NOT_FOUND", message: "the workspace no longer exists" } };
  const allowance = allowanceOf(owner);
  const audience = job.subscriber_ids_count ?? (await countTarget(store, job.target));
  const sends = Math.round(audience * (1 - job.holdout_percentage / 100));
  const now = clock.now();
  const set = { reserved: sends, reserved_at: now };
  const reserving = changeItem(JobItem, { job: job.id }, { set }, all(is("status", "queued"), absent("reserved")));
  const taking = sends > 0 ? [sendReservation(sends, allowance, now)] : [];
  const [done, usage] = await failuresOf(store, [reserving, ...taking]);
  if (usage && !done)
    return { kind: "refused", failure: usageRefusal("sends", sends, oldRow(Usage, usage), allowance) };
  if (sends > 0) await warnOfUsage(store, "sends", allowance);
  return { kind: "reserved", sends };
}

/** Sends a message for each range: for each of its chunks if they are planned, else to plan it. */
export async function announce({ store, log, fanOutQueue, deliverQueue, job }: Work): Promise<void> {
  const { id, status, ranges } = job;
  if (status !== "processing" || !ranges)
    return log({ level: "info", message: "a job is not to be announced", job: id, status });
  const { tenant } = store;
  const [first] = ranges;
  if (first === undefined) return finishJob(store, id);
  if (sourceOf(first).from !== "request")
    return fanOutQueue.send(ranges.map((range) => ({ kind: "plan", tenant, job: id, range })));
  const { chunks } = await getRange(store, id, first);
  await deliverQueue.send(chunkMessages(tenant, id, first, chunks));
  if (chunks === 0) await completeRange(store, job, first);
}

export async function plan(work: Work, { range, settings }: Of<"plan">): Promise<void> {
  const { store, clock, fanOutQueue, deliverQueue, job } = work;
  const { tenant } = store;
  const until = clock.now() + WORKING_MS;
  const rules = await planningRules(store, job.id, await withContent(store, job), settings);
  const state = await planRange(store, { job: job.id, range }, rules, {
    announce: (chunks) => deliverQueue.send(chunks.map((chunk) => ({ tenant, job: job.id, range, chunk }))),
    isTimeUp: () => clock.now() >= until,
  });
  // Chunks that close from here on close the range themselves, because they see that it is planned.
  if (isComplete(state)) await completeRange(store, job, range);
  if (!state.planned) await fanOutQueue.send([{ kind: "plan", tenant, job: job.id, range }]);
}
