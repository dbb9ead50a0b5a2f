// Jobs in progress: deferred chunks continue at their time, and lost messages are sent again. Claims prevent that a
// recipient is reached twice.
import type { Message } from "../../../shared/contract/messages.ts";
import { MINUTE } from "../../../shared/kernel/clock.ts";
import { chunksOf } from "../../../shared/rules/chunks.ts";
import { isTerminal } from "../../../shared/rules/job-states.ts";
import { sealSends } from "../../../shared/store/audit/sealed-sends.ts";
import type { RowOf } from "../../../shared/store/item.ts";
import type { ClaimItem } from "../../../shared/store/sends/audience/audience-items.ts";
import { claimsOf } from "../../../shared/store/sends/chunks/chunk-rows.ts";
import {
  directLanes,
  returnUnused,
  settleQuarter,
  WATCHED_QUARTERS,
} from "../../../shared/store/sends/chunks/quarters.ts";
import { closeRange, countStopped, getRange, settleStopped } from "../../../shared/store/sends/chunks/ranges.ts";
import type { JobRecord } from "../../../shared/store/sends/jobs/job-record.ts";
import { abandonJob, findJobs, finishJob } from "../../../shared/store/sends/jobs/jobs.ts";
import { watchOf } from "../../../shared/store/sends/jobs/send-watch.ts";
import { singleMessage } from "../../../shared/store/sends/jobs/single.ts";
import { quarterAt } from "../../../shared/store/workspaces/sends-ahead.ts";
import { chunkMessages, type Work, type WorkerContext } from "./work.ts";

export const WATCH_AFTER_MS = 15 * MINUTE;
/** How much earlier than its chunk a timer may be: the queue then delays the chunk. */
const EARLY_MS = 2 * MINUTE;
/** Jobs that one message names. */
const MAX_JOBS = 100;

/** The delay of the first partition of a quarter-hour if another one is not settled and the recount is not due yet. */
const AGAIN_SECONDS = 60;

/** Whether a send with its recipients on its row no longer waits. */
export const isDue = ({ claim }: JobRecord, now: number): boolean => (claim?.waits ?? 0) <= now + EARLY_MS;

/**
 * Settles the sends to one subscriber of a quarter-hour, and sets the next watch while some have not ended: their
 * messages are sent again. The partitions of a workspace with many jobs are looked at one by one. Only the first one
 * adds the sends of all to the audit trail, so that they are one entry (RDA-23).
 */
export async function settle(
  { store, clock, timers, fanOutQueue, auditTrail, secrets }: WorkerContext,
  { quarter, lane }: Extract<Message<"fan-out">, { kind: "settle" }>,
): Promise<void> {
  const { tenant } = store;
  const lanes = await directLanes(store);
  const [first, ...others] = lanes;
  if (first === undefined) return;
  const settling = (laneName: string) => ({ kind: "settle" as const, tenant, quarter, lane: laneName });
  if (lane === undefined && others.length > 0) return fanOutQueue.send(lanes.map(settling));

  const only = lanes.find((candidate) => candidate === (lane ?? first));
  if (only === undefined) return;
  const { open } = await settleQuarter(store, secrets, quarter, only);
  await returnUnused(store, quarter, lanes);
  const isSealed = only !== first || (await sealSends(store, { auditTrail, secrets }, quarter, lanes));
  const isWatched = quarterAt(clock.now()) <= quarter + WATCHED_QUARTERS;
  if (!isSealed && isWatched) await fanOutQueue.send([settling(first)], { delaySeconds: AGAIN_SECONDS });
  if (open.length === 0) return;
  await timers.set([watchOf(quarter, clock.now())]);
  const due = open.filter((job) => isDue(job, clock.now())).map(({ id }) => id);
  await fanOutQueue.send(chunksOf(due, MAX_JOBS).map((jobs) => ({ kind: "continue", tenant, jobs })));
}

/** Sends the messages again of sends to one subscriber that have not ended, unless they wait. */
export async function continueSingles(
  { store, clock, deliverQueue }: WorkerContext,
  ids: readonly string[],
): Promise<void> {
  const jobs = (await findJobs(store, ids)).filter((job) => job !== undefined);
  const due = jobs.filter((job) => !isTerminal(job.status) && isDue(job, clock.now()));
  await deliverQueue.send(due.map(({ id }) => singleMessage(store.tenant, id)));
}

/** Ends a job of a deleted workspace. A worker ends what is delivered by the row of the job. */
export const abandon = ({ store, deliverQueue, job }: Work): Promise<void> =>
  job.direct ? deliverQueue.send([singleMessage(store.tenant, job.id)]) : abandonJob(store, job.id);

/**
 * Sends the open chunks of a stopped send to be closed, counts by day what the send did, and returns the unused part of
 * its quota (docs/decisions/0089, 0093).
 */
export async function windUp(work: Work): Promise<void> {
  const { store, clock, timers, deliverQueue, job } = work;
  const ranges = job.ranges ?? [];
  const found = await inTurn(ranges, (range) => openChunks(work, range));
  const open = found.flatMap((watch) => watch.open);
  const isPlanned = found.every(({ state }) => state.planned);
  // A worker that was planning when the send stopped may have made a chunk that is not known yet.
  const mayGrow = !isPlanned && clock.now() < Date.parse(job.completed_at ?? job.created_at) + WATCH_AFTER_MS;
  if (open.length > 0 || mayGrow)
    await timers.set([{ kind: "job-watch", id: job.id, at: clock.now() + WATCH_AFTER_MS }]);
  await deliverQueue.send(open);
  for (const range of ranges) await countStopped(store, job, range);
  await settleStopped(store, job.id);
}

/** Ranges are looked at one after the other: each may have thousands of chunks. */
async function inTurn<T>(ranges: readonly string[], look: (range: string) => Promise<T>): Promise<T[]> {
  const found: T[] = [];
  for (const range of ranges) found.push(await look(range));
  return found;
}

interface Rescue {
  /** The send may go on. Otherwise complete ranges are closed, and nothing is sent. */
  isOpen: boolean;
  /** Waiting chunks check whether they still have to wait. */
  endsWaits?: boolean | undefined;
}

export async function rescue(work: Work, { mayBeLast, ...how }: Rescue & { mayBeLast: boolean }): Promise<void> {
  const { store, job } = work;
  for (const range of job.ranges ?? []) await rescueRange(work, range, how);
  if (mayBeLast) await finishJob(store, job.id);
}

async function rescueRange(work: Work, range: string, { isOpen, endsWaits = false }: Rescue): Promise<void> {
  const { store, clock, fanOutQueue, deliverQueue, job } = work;
  const { state, claims, open } = await openChunks(work, range);
  if (state.closed) return;
  const isWaiting = (chunk: number) => !endsWaits && (claims.get(chunk)?.waits ?? 0) > clock.now() + EARLY_MS;
  if (isOpen && !state.planned) await fanOutQueue.send([{ kind: "plan", tenant: store.tenant, job: job.id, range }]);
  if (isOpen) await deliverQueue.send(open.filter(({ chunk }) => !isWaiting(chunk)));
  if (state.planned && open.length === 0) await closeRange(store, job, range);
}

async function openChunks({ store, job }: Work, range: string) {
  const state = await getRange(store, job.id, range);
  const claims = new Map<number, RowOf<typeof ClaimItem>>();
  if (state.closed) return { state, claims, open: [] };
  for await (const window of claimsOf(store, { job: job.id, range }))
    for (const [chunk, claim] of window) claims.set(chunk, claim);
  const messages = chunkMessages(store.tenant, job.id, range, state.chunks);
  return { state, claims, open: messages.filter(({ chunk }) => !claims.get(chunk)?.closed) };
}

/** Continues the chunks that waited until now, range by range. */
export async function release(work: Work, range: string | undefined): Promise<void> {
  const { store, clock, fanOutQueue, deliverQueue } = work;
  const { tenant } = store;
  const job = work.job.id;
  const [first, ...others] = range === undefined ? (work.job.ranges ?? []) : [range];
  await fanOutQueue.send(others.map((other) => ({ kind: "release", tenant, job, range: other })));
  if (first === undefined) return;
  const last = clock.now() + EARLY_MS;
  for await (const claims of claimsOf(store, { job, range: first })) {
    const due = [...claims].filter(([, { closed, waits }]) => !closed && waits !== undefined && waits <= last);
    await deliverQueue.send(due.map(([chunk]) => ({ tenant, job, range: first, chunk })));
  }
}
