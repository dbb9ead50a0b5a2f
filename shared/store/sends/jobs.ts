// Notification jobs: the record a client sees (D-NTF), its moves, and its totals.
import { timestamp } from "../../clock.ts";
import { conflict, notFound } from "../../http/errors.ts";
import { pageRoom } from "../../http/paging.ts";
import type { Store, StoreReader } from "../../resources.ts";
import { type JobStatus, jobMoves, outcomeOf } from "../../rules/job-states.ts";
import type { ChatAppContent } from "../channels/chat-app-content.ts";
import { absent, all, type Condition, oneOf, present } from "../conditions.ts";
import type { Change } from "../expressions.ts";
import { endedWrites } from "../journeys/totals.ts";
import { keys } from "../keys.ts";
import { move } from "../lifecycle.ts";
import type { Item, Key, Value } from "../model.ts";
import { onConditionFailed, onTransactionCanceled } from "../refusals.ts";
import { deliveredWrite } from "../subscribers/engagement.ts";
import type { DeliverySettings } from "./planning.ts";
import { type Tally, tallyOf } from "./tallies.ts";

export type Target = { type: "all" } | { type: "list"; list_id: string } | { type: "segment"; segment_id: string };
type Json = { [name: string]: Value };

/** The look of an authored experience (INB-2), the same for both arms but for the image. */
export interface InAppContent {
  format: string;
  image_url?: string | undefined;
  actions?: { id: string; title: string; url: string }[] | undefined;
  display?:
    | {
        trigger: string;
        frequency: string;
        trigger_event?: string | undefined;
        priority?: number | undefined;
        screens?: string[] | undefined;
      }
    | undefined;
}

/** What was asked for; it never changes after creation, but that a template's content is copied in at dispatch. */
export interface JobSpec {
  name: string | null;
  category: "marketing" | "transactional";
  title: string | null;
  body: string | null;
  data: Json | null;
  template_id: string | null;
  channel_ids: string[];
  target: Target | null;
  subscriber_ids_count: number | null;
  device_filters: Json | null;
  subscriber_filters: Json | null;
  scheduled_at: string | null;
  channel_arbitration_mode: "explicit" | "smart";
  holdout_percentage: number;
  split_percentage: number | null;
  variant_b: { title: string; body: string; image_url?: string | undefined } | null;
  /** By the chat app in place of title and body (AMB-90). */
  chat_app?: ChatAppContent;
  /** Only of experiences. */
  in_app?: InAppContent;
  bypass_quiet_hours: boolean;
  source: { type: "api" | "campaign" | "journey" | "schedule" | "experience"; id: string | null };
  /** Only of journeys: the event that its texts may speak of (D-LIQUID). */
  event_id?: string | undefined;
}

export interface Job extends JobSpec, Tally {
  id: string;
  status: JobStatus;
  sent: number;
  error: string | null;
  created_at: string;
  dispatched_at: string | null;
  completed_at: string | null;
}

/** How a job's audience is cut: the ranges that were planned, or are to be. */
export interface JobItem extends Job {
  /** Set once the ranges are known: at creation for a small audience, else at dispatch. */
  ranges: string[] | undefined;
  ranges_closed: number;
  /** Its campaign is paused or archived: it does not fire, and what it has put off waits. */
  held: boolean;
  /** When it was last let go, in milliseconds: it is not late before. */
  releasedAt: number | undefined;
  /** Set at dispatch. */
  deliverySettings: DeliverySettings | undefined;
  /** Sends taken from the quota for this job; undefined until they are. */
  reserved: number | undefined;
}

/** The item of a new job. Its insertion into the table is what sets everything in motion. */
export function newJobItem(
  store: Pick<Store, "tenant" | "clock">,
  id: string,
  spec: JobSpec,
  plan: { sent: number; reserved?: number; ranges?: string[] },
): Item {
  const { target, source, data, device_filters, subscriber_filters, variant_b, in_app, chat_app, event_id, ...plain } =
    spec;
  return {
    ...keys.job(store.tenant, id),
    ...plain,
    react: "job",
    id,
    json: JSON.stringify({
      ...{ target, source, data, device_filters, subscriber_filters, variant_b, in_app, chat_app, event_id },
    }),
    source_type: source.type,
    ...(source.id !== null && { source_id: source.id }),
    status: spec.scheduled_at === null ? "queued" : "scheduled",
    sent: plan.sent,
    ...(plan.reserved !== undefined && { reserved: plan.reserved }),
    ...(plan.ranges && { ranges: plan.ranges }),
    created_at: timestamp(store.clock.now()),
  };
}

export function jobOf(item: Item): JobItem {
  const recorded = JSON.parse(String(item.json));
  const { target, source, data, device_filters, subscriber_filters, variant_b, in_app, chat_app, event_id } = recorded;
  const text = (name: string) => (item[name] === undefined ? null : (item[name] as string | null));
  return {
    id: String(item.id),
    status: item.status as JobStatus,
    name: text("name"),
    category: item.category as Job["category"],
    title: text("title"),
    body: text("body"),
    data,
    template_id: text("template_id"),
    channel_ids: item.channel_ids as string[],
    target,
    subscriber_ids_count: item.subscriber_ids_count as number | null,
    device_filters,
    subscriber_filters,
    scheduled_at: text("scheduled_at"),
    channel_arbitration_mode: item.channel_arbitration_mode as Job["channel_arbitration_mode"],
    holdout_percentage: Number(item.holdout_percentage),
    split_percentage: item.split_percentage as number | null,
    variant_b,
    ...(in_app !== undefined && { in_app }),
    ...(chat_app !== undefined && { chat_app }),
    ...(event_id !== undefined && { event_id }),
    bypass_quiet_hours: item.bypass_quiet_hours === true,
    source,
    sent: Number(item.sent),
    ...tallyOf(item),
    error: text("error"),
    created_at: String(item.created_at),
    dispatched_at: text("dispatched_at"),
    completed_at: text("completed_at"),
    ranges: item.ranges as string[] | undefined,
    ranges_closed: Number(item.ranges_closed ?? 0),
    reserved: item.reserved as number | undefined,
    held: item.held === true,
    releasedAt: item.let_go_at as number | undefined,
    deliverySettings: item.means === undefined ? undefined : JSON.parse(String(item.means)),
  };
}

export async function findJob(store: StoreReader, id: string): Promise<JobItem | undefined> {
  const item = await store.get(keys.job(store.tenant, id));
  return item && jobOf(item);
}

/** Jobs by their ids, in their order. */
export async function findJobs(store: StoreReader, ids: readonly string[]): Promise<(JobItem | undefined)[]> {
  const items = await store.getAll(ids.map((id) => keys.job(store.tenant, id)));
  return items.map((item) => item && jobOf(item));
}

/** Keeps a scheduled job from firing, and a dispatched one from sending what it has put off, until it is let go. */
export async function holdJob(store: Store, id: string): Promise<void> {
  const when = all(oneOf("status", ["scheduled", "processing"]), absent("held"));
  await store
    .update(keys.job(store.tenant, id), { set: { held: true } }, when)
    .catch(onConditionFailed(() => undefined));
}

/** Lets a held job go: what came due meanwhile fires at once. */
export async function releaseJob(store: Store, id: string): Promise<void> {
  const change = { set: { let_go_at: store.clock.now() }, remove: ["held"] };
  await store.update(keys.job(store.tenant, id), change, present("held")).catch(onConditionFailed(() => undefined));
}

/** @throws 404, also for another workspace's job. */
export async function getJob(store: StoreReader, id: string): Promise<JobItem> {
  const job = await findJob(store, id);
  if (!job) throw notFound("notification");
  return job;
}

/** Moves a job if it is where the move begins. @returns the job after the move, or undefined and nothing changed. */
export async function moveJob(
  store: Store,
  id: string,
  action: keyof typeof jobMoves,
  options?: { change?: Change; when?: Condition },
): Promise<JobItem | undefined> {
  const moved = await move(store, keys.job(store.tenant, id), jobMoves, action, options);
  return "item" in moved ? jobOf(moved.item) : undefined;
}

/** NTF-10, NTF-18: after this no recipient is ever reached. @throws 404, 409 once dispatched. */
export async function cancelJob(store: Store, id: string): Promise<JobItem> {
  const canceled = await moveJob(store, id, "cancel", {
    change: { set: { completed_at: timestamp(store.clock.now()) } },
  });
  if (canceled) return canceled;
  const job = await getJob(store, id);
  if (job.status !== "canceled") throw conflict(`The notification is ${job.status} and can no longer be canceled.`);
  return job;
}

/** Ends a job whose ranges are all closed, once, with its deliveries told to the workspace; anybody may ask any time. */
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
  const end = { update: keys.job(store.tenant, id), change: { set }, when: oneOf("status", from) };
  const delivered = deliveredWrite(store, job.delivered_by_channel, id);
  await store
    .transact([end, ...(delivered ? [delivered] : []), ...endedWrites(store, job)])
    .catch(onTransactionCanceled(() => undefined));
}

export interface JobFilter {
  status?: string | undefined;
  source_type?: string | undefined;
  source_id?: string | undefined;
}

const MAX_EXAMINED = 2_000;

/** Newest first. `next` is absent on the last page; a page may be short when jobs are large or a filter leaves most out. */
export async function listJobs(
  store: StoreReader,
  { limit, after, ...filter }: JobFilter & { limit: number; after?: Key | undefined },
): Promise<{ jobs: JobItem[]; next?: Key }> {
  const jobs: JobItem[] = [];
  const matches = (item: Item) =>
    (filter.status === undefined || item.status === filter.status) &&
    (filter.source_type === undefined || item.source_type === filter.source_type) &&
    (filter.source_id === undefined || item.source_id === filter.source_id);
  const takes = pageRoom();
  let position = after;
  for (let examined = 0; examined < MAX_EXAMINED; ) {
    const { pk } = keys.job(store.tenant, "");
    const page = await store.query({ pk, newestFirst: true, limit: limit - jobs.length, after: position });
    examined += page.items.length;
    for (const item of page.items) {
      if (matches(item)) {
        const job = jobOf(item);
        if (!takes(job)) return { jobs, next: position! };
        jobs.push(job);
      }
      position = { pk: item.pk, sk: item.sk };
    }
    position = page.next;
    if (!position) return { jobs };
    if (jobs.length >= limit) break;
  }
  return { jobs, ...(position && { next: position }) };
}
