// Notification jobs: the record a client sees (D-NTF), its moves, and its totals.
import { timestamp } from "../../clock.ts";
import { conflict, notFound } from "../../http/errors.ts";
import { pageRoom } from "../../http/paging.ts";
import type { Store, StoreReader } from "../../resources.ts";
import { jobMoves, outcomeOf } from "../../rules/job-states.ts";
import { absent, all, oneOf, present } from "../conditions.ts";
import {
  type ChangeOf,
  type ConditionOf,
  changeItem,
  fieldsOf,
  fromJson,
  type ItemWrite,
  putItem,
  type RowOf,
  toJson,
} from "../item.ts";
import { endedWrites } from "../journeys/totals.ts";
import { move } from "../lifecycle.ts";
import type { Key } from "../model.ts";
import { onConditionFailed, onTransactionCanceled } from "../refusals.ts";
import { deliveredWrite } from "../subscribers/engagement.ts";
import { JobItem, jobFields } from "./job-items.ts";
import type { DeliverySettings, JobDetails, JobSpec } from "./job-spec.ts";
import { type Tally, tallyOf } from "./tallies.ts";

type JobRow = RowOf<typeof JobItem>;

export interface Job extends JobSpec, Tally, Pick<JobRow, "id" | "status" | "sent" | "created_at"> {
  error: string | null;
  dispatched_at: string | null;
  completed_at: string | null;
  /** The ranges of the audience: set at creation for a small one, else at dispatch. */
  ranges: string[] | undefined;
  ranges_closed: number;
  /** Its campaign is paused or archived: it does not fire, and what it has deferred waits. */
  held: boolean;
  /** When it was last released, in milliseconds: it counts as late only after that. */
  releasedAt: number | undefined;
  /** Set at dispatch. */
  deliverySettings: DeliverySettings | undefined;
  /** Sends taken from the quota for this job; undefined until they are. */
  reserved: number | undefined;
}

/** The write that puts a new job: its insertion starts the send. */
export function newJobWrite(
  { clock }: Pick<Store, "clock">,
  id: string,
  spec: JobSpec,
  { sent, reserved, ranges }: { sent: number; reserved?: number | undefined; ranges?: string[] | undefined },
): ItemWrite<"workspace"> {
  const { target, source, data, device_filters, subscriber_filters, variant_b, in_app, chat_app, event_id, ...plain } =
    spec;
  const details: JobDetails = {
    target,
    source,
    data,
    device_filters,
    subscriber_filters,
    variant_b,
    in_app,
    chat_app,
    event_id,
  };
  const row = {
    ...plain,
    react: "job" as const,
    id,
    json: toJson(details),
    source_type: source.type,
    source_id: source.id ?? undefined,
    status: spec.scheduled_at === null ? ("queued" as const) : ("scheduled" as const),
    sent,
    reserved,
    ranges,
    created_at: timestamp(clock.now()),
  };
  return putItem(JobItem, { job: id }, row, absent());
}

export const jobOf = (row: JobRow): Job => ({
  ...fieldsOf(jobFields, row),
  ...fromJson(row.json),
  ...tallyOf(row),
  error: row.error ?? null,
  dispatched_at: row.dispatched_at ?? null,
  completed_at: row.completed_at ?? null,
  ranges: row.ranges,
  ranges_closed: row.ranges_closed ?? 0,
  held: row.held === true,
  releasedAt: row.let_go_at,
  deliverySettings: row.means && fromJson(row.means),
  reserved: row.reserved,
});

export async function findJob(store: StoreReader, id: string): Promise<Job | undefined> {
  const row = await store.get(JobItem, { job: id });
  return row && jobOf(row);
}

/** Jobs by their ids, in their order. */
export async function findJobs(store: StoreReader, ids: readonly string[]): Promise<(Job | undefined)[]> {
  const rows = await store.getAll(
    JobItem,
    ids.map((job) => ({ job })),
  );
  return rows.map((row) => row && jobOf(row));
}

/** Keeps a scheduled job from firing, and a dispatched one from sending what it has deferred, until it is released. */
export async function holdJob(store: Store, id: string): Promise<void> {
  const when = all(oneOf("status", ["scheduled", "processing"]), absent("held"));
  await store.change(JobItem, { job: id }, { set: { held: true } }, when).catch(onConditionFailed(() => undefined));
}

/** Releases a held job: what came due meanwhile fires at once. */
export async function releaseJob(store: Store, id: string): Promise<void> {
  await store
    .change(JobItem, { job: id }, { set: { let_go_at: store.clock.now() }, remove: ["held"] }, present("held"))
    .catch(onConditionFailed(() => undefined));
}

/** @throws 404, also for another workspace's job. */
export async function getJob(store: StoreReader, id: string): Promise<Job> {
  const job = await findJob(store, id);
  if (!job) throw notFound("notification");
  return job;
}

/** Moves a job if its status permits the action. @returns the job after it; undefined: nothing changed. */
export async function moveJob(
  store: Store,
  id: string,
  action: keyof typeof jobMoves,
  options?: { change?: ChangeOf<typeof JobItem>; when?: ConditionOf<typeof JobItem> },
): Promise<Job | undefined> {
  const moved = await move(store, JobItem, { job: id }, jobMoves, action, options);
  return "row" in moved ? jobOf(moved.row) : undefined;
}

/** NTF-10, NTF-18: after this no recipient is ever reached. @throws 404, 409 once dispatched. */
export async function cancelJob(store: Store, id: string): Promise<Job> {
  const canceled = await moveJob(store, id, "cancel", {
    change: { set: { completed_at: timestamp(store.clock.now()) } },
  });
  if (canceled) return canceled;
  const job = await getJob(store, id);
  if (job.status !== "canceled") throw conflict(`The notification is ${job.status} and can no longer be canceled.`);
  return job;
}

/**
 * Ends a job whose ranges are all closed, once, and adds its deliveries to the workspace's counters. It may be called
 * at any time.
 */
export async function finishJob(store: Store, id: string): Promise<void> {
  const job = await findJob(store, id);
  if (job?.status !== "processing" || !job.ranges || job.ranges_closed < job.ranges.length) return;
  const outcome = outcomeOf(job.counts);
  const { from, to } = jobMoves[outcome === "completed" ? "complete" : "fail"];
  const set = {
    status: to,
    completed_at: timestamp(store.clock.now()),
    ...(outcome === "failed" && { error: "no delivery succeeded" }),
  };
  const end = changeItem(JobItem, { job: id }, { set }, oneOf("status", from));
  const delivered = deliveredWrite(store, job.delivered_by_channel, id);
  await store
    .transact([end, ...(delivered ? [delivered] : []), ...endedWrites(job)])
    .catch(onTransactionCanceled(() => undefined));
}

export interface JobFilter {
  status?: string | undefined;
  source_type?: string | undefined;
  source_id?: string | undefined;
}

const MAX_EXAMINED = 2_000;

/**
 * Newest first. `next` is absent on the last page; a page may be short when jobs are large or a filter leaves most out.
 */
export async function listJobs(
  store: StoreReader,
  { limit, after, ...filter }: JobFilter & { limit: number; after?: Key | undefined },
): Promise<{ jobs: Job[]; next?: Key }> {
  const jobs: Job[] = [];
  const matches = (row: JobRow) =>
    (filter.status === undefined || row.status === filter.status) &&
    (filter.source_type === undefined || row.source_type === filter.source_type) &&
    (filter.source_id === undefined || row.source_id === filter.source_id);
  const takes = pageRoom();
  let position = after;
  for (let examined = 0; examined < MAX_EXAMINED; ) {
    const page = await store.query(JobItem, {}, { newestFirst: true, limit: limit - jobs.length, after: position });
    examined += page.items.length;
    for (const row of page.items) {
      if (matches(row)) {
        const job = jobOf(row);
        if (!takes(job)) return { jobs, ...(position && { next: position }) };
        jobs.push(job);
      }
      position = { pk: row.pk, sk: row.sk };
    }
    position = page.next;
    if (!position) return { jobs };
    if (jobs.length >= limit) break;
  }
  return { jobs, ...(position && { next: position }) };
}
