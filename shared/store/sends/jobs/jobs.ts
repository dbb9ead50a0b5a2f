// Notification jobs: the record a client sees (D-NTF), its moves, and its totals.
import { timestamp } from "../../../kernel/clock.ts";
import { conflict, requireFound } from "../../../kernel/errors.ts";
import { withoutNulls } from "../../../kernel/objects.ts";
import { type Halt, textOf } from "../../../rules/brake.ts";
import { jobMoves, outcomeOf } from "../../../rules/job-states.ts";
import { absent, all, asRead, is, oneOf, present } from "../../conditions.ts";
import type { Store, StoreReader } from "../../context.ts";
import { familyOf } from "../../families.ts";
import { type ChangeOf, type ConditionOf, type ItemWrite, type NewRowOf, putItem, type RowOf } from "../../item.ts";
import { endedWrites } from "../../journeys/totals.ts";
import { fromJson, toJson } from "../../json-text.ts";
import { move, moveWrite } from "../../lifecycle.ts";
import { transacted, whereItHolds } from "../../refusals.ts";
import { deliveredWrite } from "../../subscribers/engagement.ts";
import { settlement } from "../../workspaces/usage.ts";
import { claimOnJob } from "../chunks/leases.ts";
import { unpackRecipients } from "../chunks/recipients.ts";
import { sumOf, tallyOf } from "../chunks/tallies.ts";
import { contentOf, inlineContent } from "./job-content.ts";
import { JobItem } from "./job-items.ts";
import { outcomeWrites } from "./job-outcomes.ts";
import { type JobFailure, type JobRecord, NOTHING_LATE } from "./job-record.ts";
import type { JobDetails, JobSpec } from "./job-spec.ts";

type JobRow = RowOf<typeof JobItem>;

export const NOTHING_DELIVERED: JobFailure = { code: "NOTHING_DELIVERED", message: "no delivery succeeded" };

interface NewJob {
  sent: number;
  reserved?: number | undefined;
  ranges?: string[] | undefined;
  /** The hash under which its content was stored, if it was. */
  content?: string | undefined;
  /** The server key that made it. */
  sent_by?: string | undefined;
  direct?: Pick<NewRowOf<typeof JobItem>, "recipients" | "settings" | "no_webhooks"> | undefined;
  /** Its share of the quota was taken ahead, in the quarter-hour of its id. */
  ahead?: true | undefined;
}

const NOTHING = toJson({});

/** The write that puts a new job: its insertion starts the send. */
export const newJobWrite = (...job: Parameters<typeof newJobRow>): ItemWrite<"workspace"> =>
  putItem(JobItem, { job: job[1] }, newJobRow(...job), absent());

/** The row of a new job. The round of recipients on the row begins with it (AMB-109). */
export function newJobRow(
  { clock }: Pick<Store, "clock">,
  id: string,
  { source, target, event_id, topic, safety, step, draw, looked_up, confirms, ...spec }: JobSpec,
  { sent, content, direct, ...planned }: NewJob,
): NewRowOf<typeof JobItem> {
  const { title, body, ...long } = contentOf(spec);
  const { category, channel_ids, channel_arbitration_mode: mode, holdout_percentage } = spec;
  const { name, template_id, subscriber_ids_count, scheduled_at, split_percentage } = spec;
  const details: JobDetails = {
    target,
    event_id,
    topic,
    safety,
    step,
    draw,
    looked_up,
    confirms,
    ...(content === undefined && long),
  };
  const text = toJson(withoutNulls(details));
  return {
    react: "job" as const,
    id,
    status: scheduled_at === null ? ("queued" as const) : ("scheduled" as const),
    ...withoutNulls({ name, template_id, subscriber_ids_count, scheduled_at, split_percentage, source_id: source.id }),
    category,
    channel_ids,
    channel_arbitration_mode: mode === "explicit" ? undefined : mode,
    holdout_percentage: holdout_percentage || undefined,
    bypass_quiet_hours: spec.bypass_quiet_hours || undefined,
    ...(text !== NOTHING && { details: text }),
    ...(content === undefined
      ? withoutNulls({ title, body })
      : { content, is_split: spec.variant_b !== null || undefined }),
    source_type: source.type,
    sent,
    ...planned,
    ...(direct && { ...direct, round: clock.now(), dispatched_at: timestamp(clock.now()) }),
    created_at: timestamp(clock.now()),
  };
}

export function jobOf(row: JobRow): JobRecord {
  const details = row.details ? fromJson(row.details) : {};
  const content = row.content ?? inlineContent(row, details);
  return {
    id: row.id,
    status: row.status,
    name: row.name ?? null,
    category: row.category,
    template_id: row.template_id ?? null,
    channel_ids: row.channel_ids,
    target: details.target ?? null,
    subscriber_ids_count: row.subscriber_ids_count ?? null,
    scheduled_at: row.scheduled_at ?? null,
    channel_arbitration_mode: row.channel_arbitration_mode ?? "explicit",
    holdout_percentage: row.holdout_percentage ?? 0,
    split_percentage: row.split_percentage ?? null,
    bypass_quiet_hours: row.bypass_quiet_hours ?? false,
    source: { type: row.source_type, id: row.source_id ?? null },
    ...(details.event_id !== undefined && { event_id: details.event_id }),
    ...(details.topic && { topic: details.topic }),
    ...(details.safety !== undefined && { safety: details.safety }),
    ...(details.step && { step: details.step }),
    ...(details.draw !== undefined && { draw: details.draw }),
    ...(details.looked_up && { looked_up: true as const }),
    ...(details.confirms && { confirms: details.confirms }),
    content,
    isSplit: typeof content === "string" ? row.is_split === true : content.variant_b !== null,
    sent: row.sent,
    created_at: row.created_at,
    ...tallyOf(row),
    late: { ...NOTHING_LATE, ...Object.fromEntries(familyOf(row, "late:")) },
    error: row.error ?? null,
    dispatched_at: row.dispatched_at ?? null,
    completed_at: row.completed_at ?? null,
    direct:
      row.recipients === undefined || row.round === undefined
        ? undefined
        : { recipients: unpackRecipients(row.recipients), round: row.round },
    claim: claimOnJob(row),
    ranges: row.ranges,
    ranges_closed: row.ranges_closed ?? 0,
    held: row.held === true,
    halted: row.halted && fromJson(row.halted),
    resumedWith: row.resumed_with && fromJson(row.resumed_with),
    releasedAt: row.released_at,
    deliverySettings: row.settings && fromJson(row.settings),
    reserved: row.reserved,
    reservedAt: row.ahead ? undefined : (row.reserved_at ?? Date.parse(row.created_at)),
  };
}

export async function findJob(store: StoreReader, id: string): Promise<JobRecord | undefined> {
  const row = await store.get(JobItem, { job: id });
  return row && jobOf(row);
}

export async function findJobs(store: StoreReader, ids: readonly string[]): Promise<(JobRecord | undefined)[]> {
  const keys = ids.map((job) => ({ job }));
  const rows = await store.getAll(JobItem, keys);
  return rows.map((row) => row && jobOf(row));
}

/** Stops a job that has not ended, until it is released (AMB-113). @returns undefined where it was stopped before, or has ended */
export async function holdJob(store: Store, id: string): Promise<JobRecord | undefined> {
  const when = all(oneOf("status", ["scheduled", "queued", "processing"]), absent("held"));
  const held = await whereItHolds(store.change(JobItem, { job: id }, { set: { held: true } }, when));
  return held && jobOf(held);
}

/**
 * Releases a held job: due messages fire at once, and a begun job continues. @param scheduledAt its new time, for which
 * a timer is set
 */
export async function releaseJob(store: Store, id: string, scheduledAt?: string): Promise<void> {
  const set = { released_at: store.clock.now(), scheduled_at: scheduledAt };
  await whereItHolds(store.change(JobItem, { job: id }, { set, remove: ["held"] }, present("held")));
}

/** Gets a job. @throws 404, also for another workspace's job */
export async function getJob(store: StoreReader, id: string): Promise<JobRecord> {
  return requireFound(await findJob(store, id), "notification");
}

/** Moves a job if its status permits the action. @returns the job after it; undefined: nothing changed. */
export async function moveJob(
  store: Store,
  id: string,
  action: keyof typeof jobMoves,
  options?: { change?: ChangeOf<typeof JobItem>; when?: ConditionOf<typeof JobItem> },
): Promise<JobRecord | undefined> {
  const moved = await move(store, JobItem, { job: id }, { lifecycle: jobMoves, action, ...options });
  return moved.kind === "changed" ? jobOf(moved.row) : undefined;
}

/**
 * NTF-10, NTF-18: after this no recipient is ever reached. A send that its brake halted ends as it is (F21).
 * @throws 404, 409 once dispatched.
 */
export async function cancelJob(store: Store, id: string): Promise<JobRecord> {
  const canceled = await moveJob(store, id, "cancel", {
    change: { set: { completed_at: timestamp(store.clock.now()) } },
  });
  if (canceled) return canceled;
  const job = await getJob(store, id);
  const stopped = job.halted && (await stopHalted(store, id, job.halted));
  if (stopped) return stopped;
  if (job.status !== "canceled") throw conflict(`The notification is ${job.status} and can no longer be canceled.`);
  return job;
}

async function stopHalted(store: Store, id: string, halt: Halt): Promise<JobRecord | undefined> {
  const change = { set: { completed_at: timestamp(store.clock.now()), error: textOf(halt) } };
  const stopping = { lifecycle: jobMoves, action: "stop", change, when: present<"halted">("halted") } as const;
  const isStopped = await transacted(store, [moveWrite(JobItem, { job: id }, stopping)]);
  return isStopped ? findJob(store, id) : undefined;
}

export const WORKSPACE_DELETED = "the workspace was deleted";

/** Ends a job of a deleted workspace: nothing more of it is sent (AMB-112). */
export async function abandonJob(store: Store, id: string): Promise<void> {
  const set = { completed_at: timestamp(store.clock.now()), error: WORKSPACE_DELETED };
  await moveJob(store, id, "abandon", { change: { set } });
}

/**
 * Ends a job whose ranges are all closed, once, and adds its deliveries to the workspace's counters. It may be called
 * at any time.
 */
export async function finishJob(store: Store, id: string): Promise<void> {
  const job = await findJob(store, id);
  if (job?.status !== "processing" || !job.ranges || job.ranges_closed < job.ranges.length) return;
  const failure = outcomeOf(job.counts) === "failed" ? NOTHING_DELIVERED : undefined;
  await endJob(store, job, failure, endedCounts(store, [job]));
}

/** The counts of the workspace and its journeys for jobs that end together. The first job decides the shard. */
export function endedCounts(store: Store, jobs: readonly JobRecord[]): ItemWrite<"workspace">[] {
  const [first] = jobs;
  const delivered = first && deliveredWrite(store, sumOf(jobs).delivered_by_channel, first.id);
  return [...(delivered ? [delivered] : []), ...endedWrites(jobs)];
}

/** Ends a job by a cause that concerns the whole of it, unless it has ended or its status has changed. */
export const failJob = (store: Store, job: JobRecord, { code, message }: JobFailure): Promise<void> =>
  endJob(store, job, { code, message });

/** Ends a job, once, from its status: its end, its use of the quota and `others` are one transaction. */
async function endJob(
  store: Store,
  job: JobRecord,
  failure: JobFailure | undefined,
  others: readonly ItemWrite<"workspace">[] = [],
): Promise<void> {
  let found: JobRecord | undefined = job;
  while (found?.status === job.status) {
    const { sent } = found.counts;
    const set = {
      completed_at: timestamp(store.clock.now()),
      ...(failure && { error: failure.message }),
      ...reservedSet(found, sent),
    };
    const when = all(is("status", job.status), isReserved(found));
    const action = failure ? "fail" : "complete";
    const end = moveWrite(JobItem, { job: job.id }, { lifecycle: jobMoves, action, change: { set }, when });
    const settled = await settlement(store, [{ ...found, sent }]);
    const outcome = await outcomeWrites(store, job, failure);
    const hasEnded = await transacted(store, [end, ...settled, ...others, ...outcome]);
    if (hasEnded) return;
    found = await findJob(store, job.id);
  }
}

/** A job's share of the quota is as it was read. */
export const isReserved = ({ reserved }: Pick<JobRecord, "reserved">): ConditionOf<typeof JobItem> =>
  asRead("reserved", reserved);

/** The job row's share of the quota after its end. */
export const reservedSet = ({ reserved = 0 }: Pick<JobRecord, "reserved">, sent: number): { reserved?: number } =>
  reserved === sent ? {} : { reserved: sent };
