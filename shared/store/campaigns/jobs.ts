// Applies the status of a campaign to its jobs and its schedules: jobs are made, held and released.
import { DAY, timestamp } from "../../kernel/clock.ts";
import { notFound } from "../../kernel/errors.ts";
import { type HeldMessage, type OverduePolicy, resumedTimes } from "../../rules/campaign-resume.ts";
import { campaignStatuses, isHeld } from "../../rules/campaign-states.ts";
import { elementAt } from "../../rules/element-at.ts";
import { isTerminal } from "../../rules/job-states.ts";
import { chatAppContentOf } from "../channels/chat-app-content.ts";
import { giveSlotsAnew } from "../channels/pace.ts";
import { oneOf } from "../conditions.ts";
import type { Store } from "../context.ts";
import { checkItem } from "../item.ts";
import { ownedSchedules, removeSchedule, switchOwned } from "../schedules/schedules.ts";
import type { RootSecrets } from "../secrets.ts";
import { drawOf } from "../sends/audience/preview-draws.ts";
import type { JobRecord } from "../sends/jobs/job-record.ts";
import { type JobSpec, PLAIN_SEND } from "../sends/jobs/job-spec.ts";
import { findJobs, holdJob, moveJob, releaseJob } from "../sends/jobs/jobs.ts";
import { startSend } from "../sends/jobs/sends.ts";
import { removeListed, Status } from "../status-index.ts";
import type { Timers } from "../timers.ts";
import { topicOfSend } from "../topics/topics.ts";
import { useWrites } from "../uses.ts";
import type { Allowance } from "../workspaces/usage.ts";
import { beginDeletion, type Campaign, getCampaign, resumeCampaign, tryMove } from "./campaigns.ts";
import { CampaignItem, type CampaignMessage } from "./items.ts";
import { timeOf } from "./release.ts";

/** Makes the missing jobs of a released campaign (CMP-19, CMP-20). It can be repeated at any time. */
export async function makeJobs(store: Store, timers: Timers, allowance: Allowance, campaign: Campaign): Promise<void> {
  const { released_at, status, restored } = campaign;
  if (released_at === undefined || isHeld(status)) return;
  const jobs = await findJobs(store, jobsOf(campaign));
  const now = store.clock.now();
  // Messages that came due while the campaign was archived wait until the user resumes it (AMB-54).
  const waits = (message: CampaignMessage) => restored && timeOf(campaign, message, now) === undefined;
  const missing = campaign.messages.filter((message, i) => jobs[i] === undefined && !waits(message));
  if (missing.length === 0) return;
  const topic = await topicOfSend(store, campaign.topic);
  const { id, draw, resumed } = campaign;
  const specAt = (message: CampaignMessage): JobSpec => {
    const time = resumed?.[message.job_id];
    if (time === undefined) return specOf(campaign, message, released_at);
    // The next step ends a skipped job before this time.
    const at = time ?? now + DAY;
    return { ...specOf(campaign, message, now), scheduled_at: at > now ? timestamp(at) : null };
  };
  // The campaign may have been paused or deleted since it was read. A job that is refused here is made at the resume.
  // Its status is a row of its own: a check of the campaign would cost twice its size for each message.
  const goesOn = checkItem(Status, { kind: CampaignItem.kind, id }, oneOf("status", SENDING));
  // One after another, because concurrent transactions that check the same row conflict.
  for (const message of missing)
    await startSend(store, timers, allowance, {
      id: message.job_id,
      isRepeatable: true,
      spec: { ...specAt(message), topic, draw },
      extraItems: [goesOn],
    });
}

/** A deletion begins in none of these. */
const SENDING = campaignStatuses.filter((status) => status !== "draft" && !isHeld(status));

/**
 * The draw of a preview of one of the messages that a draft would send, at their times or at once (AMB-140). @throws
 * 422 for an invalid or old id, or one of another body
 */
export async function drawOfRelease(
  store: Store,
  root: RootSecrets,
  draft: Campaign,
  preview: string,
): Promise<string> {
  const topic = await topicOfSend(store, draft.topic);
  const specs = draft.messages.map((message) => ({ ...specOf(draft, message, store.clock.now()), topic }));
  const asked = specs.flatMap((spec) => [spec, { ...spec, scheduled_at: null }]);
  return drawOf(store, root, preview, ...asked.map((spec) => ({ spec, named: undefined })));
}

const jobsOf = ({ messages }: Pick<Campaign, "messages">): string[] => messages.map(({ job_id }) => job_id);

/**
 * Resumes a paused campaign, and sets the times of its held messages (CMP-22, AMB-138). @throws 404, 409 naming the
 * status
 */
export async function resume(store: Store, id: string, overdue: OverduePolicy): Promise<Campaign> {
  const campaign = await getCampaign(store, id);
  const { messages, released_at } = campaign;
  const jobs = released_at === undefined ? [] : await findJobs(store, jobsOf(campaign));
  const held = jobs.flatMap((job, i): HeldMessage[] => {
    if (!job) return [notMade(campaign, elementAt(messages, i))];
    if (!job.held) return [];
    const { status } = job;
    if (status !== "scheduled" && status !== "queued" && status !== "processing") return [];
    const due = job.scheduled_at === null ? (released_at ?? 0) : Date.parse(job.scheduled_at);
    return [{ id: job.id, due, status }];
  });
  return resumeCampaign(store, id, resumedTimes(held, overdue, store.clock.now()));
}

/** A message whose release stopped before its job was made. */
function notMade(campaign: Campaign, message: CampaignMessage): HeldMessage {
  const { released_at = 0, resumed } = campaign;
  const planned = timeOf(campaign, message, released_at);
  const due = resumed?.[message.job_id] ?? (planned === undefined ? released_at : Date.parse(planned));
  return { id: message.job_id, due, status: "scheduled" };
}

/** A held campaign holds its jobs and switches its schedules off; any other status releases them (AMB-14, AMB-67). */
export async function applyState(store: Store, timers: Timers, campaign: Campaign): Promise<void> {
  const { status, released_at } = campaign;
  if (released_at !== undefined) {
    const jobs = await findJobs(store, jobsOf(campaign));
    const open = jobs.flatMap((job) => (job && !isTerminal(job.status) ? [job] : []));
    await Promise.all(
      open.map((job) => (isHeld(status) ? hold(store, campaign, job) : letGo(store, timers, campaign, job))),
    );
  }
  await switchOwned(store, timers, campaign);
}

/**
 * Notes that a job needs its list or segment: until its time, or this time if that is later; without a time, for an
 * unknown period.
 */
async function noteNeed(
  store: Store,
  { target }: Pick<Campaign, "target">,
  { id, status, scheduled_at }: JobRecord,
  time?: number,
): Promise<void> {
  if (status !== "scheduled") return;
  const until = time === undefined ? undefined : timestamp(Math.max(time, Date.parse(scheduled_at ?? timestamp(time))));
  const writes = useWrites(target, { kind: "notification", id, until });
  if (writes.length > 0) await store.transact(writes);
}

async function hold(store: Store, campaign: Campaign, job: JobRecord): Promise<void> {
  await noteNeed(store, campaign, job);
  const held = await holdJob(store, job.id);
  const via = held?.deliverySettings?.via ?? [];
  // Other sends do not wait for the slots of this one.
  for (const { id } of via.filter(({ type }) => type !== "in_app")) await giveSlotsAnew(store, id);
}

const SKIPPED = "it fell due while the campaign was paused, and was skipped when that was resumed";

/** Releases a held job at the time that the resume set, or ends it. The job may have been made only at that resume. */
async function letGo(store: Store, timers: Timers, campaign: Campaign, job: JobRecord): Promise<void> {
  const { restored, resumed } = campaign;
  if (!job.held && resumed?.[job.id] !== null) return;
  const now = store.clock.now();
  if (restored) {
    // Messages that came due while the campaign was archived wait until the user resumes it (AMB-54).
    const isAhead = job.status === "scheduled" && job.scheduled_at !== null && Date.parse(job.scheduled_at) > now;
    if (!isAhead) return;
    await noteNeed(store, campaign, job, now);
    return releaseJob(store, job.id);
  }
  const time = resumed?.[job.id];
  await noteNeed(store, campaign, job, time ?? now);
  if (time === null) {
    await moveJob(store, job.id, "abandon", { change: { set: { completed_at: timestamp(now), error: SKIPPED } } });
    return;
  }
  const { status, scheduled_at } = job;
  const isMoved = status === "scheduled" && time !== undefined && time > now && scheduled_at !== timestamp(time);
  if (!isMoved) return releaseJob(store, job.id);
  await timers.set([{ kind: "job", id: job.id, at: time }]);
  await releaseJob(store, job.id, timestamp(time));
}

/**
 * Deletes a draft, or an archived campaign with its schedules. Held messages are never sent. @throws 404, 409 for a
 * campaign of another status
 */
export async function deleteCampaign(store: Store, timers: Timers, id: string): Promise<void> {
  const { messages, released_at } = await beginDeletion(store, id);
  if (released_at !== undefined) await endJobs(store, { messages });
  for (const schedule of await ownedSchedules(store, id)) await removeSchedule(store, timers, schedule);
  const removed = await removeListed(store, CampaignItem, id);
  if (removed === "refused") throw notFound("campaign");
}

/** Ends the unsent jobs of a deleted campaign. It can be repeated at any time. */
async function endJobs(store: Store, campaign: Pick<Campaign, "messages">): Promise<void> {
  const jobs = await findJobs(store, jobsOf(campaign));
  const set = { completed_at: timestamp(store.clock.now()), error: "the campaign was deleted" };
  for (const job of jobs)
    if (job && !isTerminal(job.status)) await moveJob(store, job.id, "abandon", { change: { set } });
}

/** A job that was canceled before its time, such as one that a resume skips, did not start the campaign. */
const hasGoneOut = ({ status, dispatched_at }: JobRecord): boolean =>
  status !== "scheduled" && (status !== "canceled" || dispatched_at !== null);

/** Moves a campaign by the statuses of its jobs (CMP-26, D-CMP-AUTO). It can be repeated at any time. */
export async function moveByJobs(store: Store, { id, status, messages }: Campaign): Promise<void> {
  if (status !== "scheduled" && status !== "live") return;
  const jobs = await findJobs(store, jobsOf({ messages }));
  const areOver = jobs.every((job) => job && isTerminal(job.status));
  const begins = status === "scheduled" && (areOver || jobs.some((job) => job && hasGoneOut(job)));
  const hasBegun = begins ? await tryMove(store, id, "start") : status === "live";
  if (!hasBegun || !areOver) return;

  const schedules = await ownedSchedules(store, id);
  if (!schedules.some(({ active }) => active)) await tryMove(store, id, "complete");
}

const specOf = (campaign: Campaign, message: CampaignMessage, releasedAt: number): JobSpec => ({
  ...PLAIN_SEND,
  name: campaign.name,
  category: campaign.category,
  title: message.content?.title ?? null,
  body: message.content?.body ?? null,
  ...(message.content?.by_channel && { by_channel: message.content.by_channel }),
  template_id: message.template_id ?? null,
  channel_ids: message.channel_ids,
  target: campaign.target,
  scheduled_at: asTimestamp(timeOf(campaign, message, releasedAt)),
  holdout_percentage: campaign.holdout_percentage,
  split_percentage: message.variant_b ? (message.split_percentage ?? 50) : null,
  variant_b: message.variant_b ?? null,
  source: { type: "campaign", id: campaign.id },
  ...(campaign.safety !== undefined && { safety: campaign.safety ?? "off" }),
  chat_app: chatAppContentOf(message),
});

const asTimestamp = (at: string | undefined) => (at === undefined ? null : timestamp(Date.parse(at)));
