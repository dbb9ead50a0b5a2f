// Watches jobs in progress: continues deferred chunks at their time, and sends again the messages that were lost.

import type { Message } from "../../../shared/contract/messages.ts";
import { type Clock, HOUR, MINUTE } from "../../../shared/kernel/clock.ts";
import type { Context, Deps } from "../../../shared/kernel/deps.ts";
import { chunksOf } from "../../../shared/rules/chunks.ts";
import { isTerminal } from "../../../shared/rules/job-states.ts";
import { deliverQueue, fanOutQueue } from "../../../shared/runtime/resources.ts";
import { timers, workspaceRead } from "../../../shared/store/capabilities.ts";
import { storeWrite } from "../../../shared/store/context.ts";
import type { RowOf } from "../../../shared/store/item.ts";
import type { ClaimItem } from "../../../shared/store/sends/audience/audience-items.ts";
import { claimsOf } from "../../../shared/store/sends/chunks/chunk-rows.ts";
import { directLanes, returnUnused, settleQuarter } from "../../../shared/store/sends/chunks/quarters.ts";
import { closeRange, countStopped, getRange, settleStopped } from "../../../shared/store/sends/chunks/ranges.ts";
import { abandonJob, findJobs, finishJob } from "../../../shared/store/sends/jobs/jobs.ts";
import type { JobRecord } from "../../../shared/store/sends/jobs/job-record.ts";
import { resumeTimer, type SendState, sendStateOf } from "../../../shared/store/sends/jobs/send-state.ts";
import { watchOf } from "../../../shared/store/sends/jobs/send-watch.ts";
import { singleMessage } from "../../../shared/store/sends/jobs/single.ts";

export const uses = [storeWrite, timers, workspaceRead, fanOutQueue, deliverQueue] as const;
export type WorkerContext = Context<typeof uses> & { clock: Clock; log: Deps["log"] };

export const WATCH_AFTER_MS = 15 * MINUTE;
/** A held job may stay so for long. */
const HELD_WATCH_AFTER_MS = 6 * HOUR;
/** How much earlier than its chunk a timer may be: the queue then delays the chunk. */
const EARLY_MS = 2 * MINUTE;
/** Jobs that a message names. */
const MAX_JOBS = 100;

/**
 * Sends again the messages of a job that were lost, or that were dropped while it was held. Claims prevent that a
 * recipient is reached twice.
 */
export async function watch(context: WorkerContext, job: JobRecord, dispatch: () => Promise<void>): Promise<void> {
  const { store, clock, timers } = context;
  if (job.status === "canceled") return windUp(context, job);
  if (job.status !== "queued" && job.status !== "processing") return;
  const sendState = await sendStateOf(store, context.workspace, job);
  if (sendState === "deleted") return abandon(context, job);
  await timers.set([
    { kind: "job-watch", id: job.id, at: clock.now() + (sendState === "open" ? WATCH_AFTER_MS : HELD_WATCH_AFTER_MS) },
  ]);
  if (job.status === "queued") return dispatch();
  if (job.direct) return sendState === "open" ? continueDirect(context, job) : undefined;
  for (const range of job.ranges ?? []) await rescue(context, job, range, sendState);
  await finishJob(store, job.id);
}

/** Ends a job of a deleted workspace. A worker ends what is delivered by the row of the job. */
export function abandon({ store, deliverQueue }: WorkerContext, job: JobRecord): Promise<void> {
  return job.direct ? deliverQueue.send([singleMessage(store.tenant, job.id)]) : abandonJob(store, job.id);
}

/**
 * Sends the open chunks of a stopped send to be closed, counts by the day what it did, and returns what it did not use of
 * the quota (docs/decisions/0089, 0093).
 */
async function windUp({ store, clock, timers, deliverQueue }: WorkerContext, job: JobRecord): Promise<void> {
  const open: Message<"deliver">[] = [];
  let isPlanned = true;
  for (const range of job.ranges ?? []) {
    const found = await openChunks(store, job, range);
    open.push(...found.open);
    isPlanned &&= found.state.planned;
  }
  // A worker that was planning when it was stopped may have made a chunk that is not known yet.
  const mayGrow = !isPlanned && clock.now() < Date.parse(job.completed_at ?? job.created_at) + WATCH_AFTER_MS;
  if (open.length > 0 || mayGrow)
    await timers.set([{ kind: "job-watch", id: job.id, at: clock.now() + WATCH_AFTER_MS }]);
  await deliverQueue.send(open);
  for (const range of job.ranges ?? []) await countStopped(store, job, range);
  await settleStopped(store, job.id);
}

/** Continues a job that was held, or whose workspace was suspended: all that was dropped meanwhile is sent again. */
export async function resume(context: WorkerContext, job: JobRecord, dispatch: () => Promise<void>): Promise<void> {
  const { store, clock, timers, log } = context;
  const { id, status } = job;
  const sendState = await sendStateOf(store, context.workspace, job);
  if (sendState === "deleted") return abandon(context, job);
  if (sendState === "suspended") await timers.set([resumeTimer(job, clock.now())]);
  if (sendState !== "open") return log({ level: "info", message: "a job does not go on", job: id, status, sendState });
  if (status === "queued") return dispatch();
  if (job.direct) return continueDirect(context, job);
  for (const range of job.ranges ?? []) await rescue(context, job, range, sendState);
}

/**
 * Settles the sends to one subscriber of a quarter-hour, and sets the next watch while there are any that have not ended:
 * their messages are sent again. The partitions of a workspace that makes many jobs are looked at one by one.
 */
export async function watchDirect(
  context: WorkerContext,
  { quarter, lane }: { quarter: number; lane?: string | undefined },
): Promise<void> {
  const { store, clock, timers, fanOutQueue: queue } = context;
  const lanes = await directLanes(store);
  const [only, ...others] = lane === undefined ? lanes : lanes.filter((one) => one === lane);
  if (others.length > 0) return queue.send(lanes.map((one) => ({ tenant: store.tenant, quarter, lane: one })));
  if (only === undefined) return;
  const { open } = await settleQuarter(store, quarter, only);
  await returnUnused(store, quarter, lanes);
  if (open.length === 0) return;
  await timers.set([watchOf(quarter, clock.now())]);
  const due = open.filter((job) => isDue(job, clock.now())).map(({ id }) => id);
  await queue.send(chunksOf(due, MAX_JOBS).map((jobs) => ({ tenant: store.tenant, jobs })));
}

/** Sends the messages again of sends to one subscriber that have not ended. */
export async function watchJobs(context: WorkerContext, ids: readonly string[]): Promise<void> {
  const jobs = (await findJobs(context.store, ids)).filter((job) => job !== undefined);
  await continueDirect(context, ...jobs.filter(({ status }) => !isTerminal(status)));
}

/** Sends the messages again of sends whose recipient is on the row, unless they wait. */
async function continueDirect({ store, clock, deliverQueue }: WorkerContext, ...jobs: JobRecord[]): Promise<void> {
  const due = jobs.filter((job) => isDue(job, clock.now()));
  await deliverQueue.send(due.map(({ id }) => singleMessage(store.tenant, id)));
}

const isDue = ({ claim }: JobRecord, now: number): boolean => (claim?.waits ?? 0) <= now + EARLY_MS;

async function rescue(
  { store, clock, fanOutQueue: queue, deliverQueue: deliver }: WorkerContext,
  job: JobRecord,
  range: string,
  sendState: SendState,
): Promise<void> {
  const { state, claims, open } = await openChunks(store, job, range);
  const { planned, closed } = state;
  if (closed) return;
  const waiting = new Set(
    [...claims].filter(([, { waits = 0 }]) => waits > clock.now() + EARLY_MS).map(([chunk]) => chunk),
  );
  if (sendState === "open") {
    if (!planned) await queue.send([{ tenant: store.tenant, job: job.id, range }]);
    await deliver.send(open.filter(({ chunk }) => !waiting.has(chunk)));
  }
  if (planned && open.length === 0) await closeRange(store, job, range);
}

/** The chunks of a range that are not closed, as messages. */
async function openChunks(store: WorkerContext["store"], job: JobRecord, range: string) {
  const state = await getRange(store, job.id, range);
  const claims = new Map<number, RowOf<typeof ClaimItem>>();
  if (state.closed) return { state, claims, open: [] };
  for await (const window of claimsOf(store, { job: job.id, range }))
    for (const [chunk, claim] of window) claims.set(chunk, claim);
  const open = chunkMessages(store.tenant, job.id, range, 0, state.chunks).filter(({ chunk }) => {
    const claim = claims.get(chunk);
    return !claim || isOpen(claim);
  });
  return { state, claims, open };
}

/** Continues the chunks that waited until now, range by range. */
export async function release(context: WorkerContext, job: JobRecord, range: string | undefined): Promise<void> {
  const { store, clock, log, fanOutQueue: queue, deliverQueue: deliver } = context;
  const { tenant } = store;
  const { id, status, held, halted } = job;
  if (status === "canceled") return windUp(context, job);
  if (status !== "processing" || held || halted)
    return log({ level: "info", message: "a job is not to be released", job: id, status, held, halted });
  if (job.direct) return continueDirect(context, job);
  const [first, ...others] = range === undefined ? (job.ranges ?? []) : [range];
  await queue.send(others.map((other) => ({ tenant, job: job.id, range: other, release: true })));
  if (first === undefined) return;
  const last = clock.now() + EARLY_MS;
  for await (const claims of claimsOf(store, { job: job.id, range: first })) {
    const due = [...claims].filter(([, claim]) => isOpen(claim) && claim.waits !== undefined && claim.waits <= last);
    await deliver.send(due.map(([chunk]) => ({ tenant, job: job.id, range: first, chunk })));
  }
}

const isOpen = ({ closed }: RowOf<typeof ClaimItem>): boolean => closed === undefined;

export const chunkMessages = (
  tenant: string,
  job: string,
  range: string,
  from: number,
  to: number,
): Message<"deliver">[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, i) => ({ tenant, job, range, chunk: from + i }));
