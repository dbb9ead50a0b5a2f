// Looks after jobs under way: what was put off goes on at its time, what a lost message left lying is sent out again.
import { type Clock, HOUR, MINUTE } from "../../../shared/clock.ts";
import type { Context } from "../../../shared/deps.ts";
import type { Message } from "../../../shared/messages.ts";
import { deliverQueue, fanOutQueue, storeWrite, timers, workspaceRead } from "../../../shared/resources.ts";
import { keys } from "../../../shared/store/keys.ts";
import type { Item, Key } from "../../../shared/store/model.ts";
import { finishJob, type JobItem } from "../../../shared/store/sends/jobs.ts";
import { closeRange, getRange } from "../../../shared/store/sends/ranges.ts";

export const uses = [storeWrite, timers, workspaceRead, fanOutQueue, deliverQueue] as const;
export type WorkerContext = Context<typeof uses> & { clock: Clock };

export const WATCH_AFTER_MS = 15 * MINUTE;
/** A held job may stay so for long. */
const HELD_WATCH_AFTER_MS = 6 * HOUR;
/** A timer may be ahead of what it is for by so much: the queue then holds the chunk back. */
const EARLY_MS = 2 * MINUTE;

/** The watchdog: whatever a lost message left lying is sent out again; claims see to it that nobody is reached twice. */
export async function watch(context: WorkerContext, job: JobItem, dispatch: () => Promise<void>): Promise<void> {
  const { store, clock, timers } = context;
  if (job.status !== "queued" && job.status !== "processing") return;
  const after = job.held ? HELD_WATCH_AFTER_MS : WATCH_AFTER_MS;
  await timers.set([{ kind: "job-watch", id: job.id, at: clock.now() + after }]);
  if (job.status === "queued") return dispatch();
  for (const range of job.ranges ?? []) await rescue(context, job, range);
  await finishJob(store, job.id);
}

async function rescue(
  { store, clock, fanOutQueue: queue, deliverQueue: deliver }: WorkerContext,
  job: JobItem,
  range: string,
): Promise<void> {
  const { chunks, planned, closed } = await getRange(store, job.id, range);
  if (closed) return;
  if (!planned) return queue.send([{ tenant: store.tenant, job: job.id, range }]);
  const { items } = await store.query({ pk: keys.jobParts(store.tenant, job.id), prefix: `K#${range}#` });
  const done = new Set(items.filter((claim) => !isOpen(claim)).map(numberOf));
  const waiting = new Set(items.filter(({ waits }) => Number(waits ?? 0) > clock.now()).map(numberOf));
  const open = chunkMessages(store.tenant, job.id, range, 0, chunks).filter(({ chunk }) => !done.has(chunk));
  await deliver.send(open.filter(({ chunk }) => !waiting.has(chunk)));
  if (open.length === 0) await closeRange(store, job.id, range);
}

/** What waits for a time that has come goes on: range by range, chunk by chunk. */
export async function release(context: WorkerContext, job: JobItem, range: string | undefined): Promise<void> {
  const { store, clock, fanOutQueue: queue, deliverQueue: deliver } = context;
  const { tenant } = store;
  if (job.status !== "processing" || job.held) return;
  const [first, ...others] = range === undefined ? (job.ranges ?? []) : [range];
  await queue.send(others.map((other) => ({ tenant, job: job.id, range: other, release: true })));
  if (first === undefined) return;
  const last = clock.now() + EARLY_MS;
  let after: Key | undefined;
  do {
    const page = await store.query({ pk: keys.jobParts(tenant, job.id), prefix: `K#${first}#`, after });
    const due = page.items.filter((claim) => isOpen(claim) && claim.waits !== undefined && Number(claim.waits) <= last);
    await deliver.send(due.map((claim) => ({ tenant, job: job.id, range: first, chunk: numberOf(claim) })));
    after = page.next;
  } while (after);
}

const isOpen = ({ closed }: Item): boolean => closed === undefined;
const numberOf = ({ sk }: Item): number => Number(sk.split("#")[2]);

export const chunkMessages = (
  tenant: string,
  job: string,
  range: string,
  from: number,
  to: number,
): Message<"deliver">[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, i) => ({ tenant, job, range, chunk: from + i }));
