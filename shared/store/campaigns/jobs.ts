// What a campaign's state means for its jobs and its recurring schedules: made, held, let go, looked at.
import { timestamp } from "../../clock.ts";
import type { Store } from "../../resources.ts";
import { type CampaignStatus, isHeld } from "../../rules/campaign-states.ts";
import { isTerminal } from "../../rules/job-states.ts";
import { chatAppContentOf } from "../channels/chat-app-content.ts";
import { findJobs, holdJob, type JobSpec, releaseJob } from "../sends/jobs.ts";
import { ownedSchedules, switchOwned } from "../sends/schedules.ts";
import { startSend } from "../sends/sends.ts";
import type { Timers } from "../timers.ts";
import type { Allowance } from "../workspaces/usage.ts";
import { type Campaign, type CampaignMessage, timeOf, tryMove } from "./campaigns.ts";

/** CMP-19, CMP-20: makes the jobs that are not there yet; anybody may ask at any time. */
export async function makeJobs(store: Store, timers: Timers, allowance: Allowance, campaign: Campaign): Promise<void> {
  const { releasedAt, status } = campaign;
  if (releasedAt === undefined || isHeld(status)) return;
  const jobs = await findJobs(
    store,
    campaign.messages.map(({ job_id }) => job_id),
  );
  const missing = campaign.messages.filter((_, i) => jobs[i] === undefined);
  await Promise.all(
    missing.map((message) =>
      startSend(store, timers, allowance, {
        id: message.job_id,
        isRepeatable: true,
        spec: specOf(campaign, message, releasedAt),
      }),
    ),
  );
}

/** A campaign that is held holds its jobs and switches off its schedules; one that is not lets them go (AMB-14, AMB-67). */
export async function applyState(store: Store, timers: Timers, campaign: Campaign): Promise<void> {
  const { status, messages, releasedAt, isRestored } = campaign;
  if (releasedAt !== undefined) {
    const jobs = await findJobs(
      store,
      messages.map(({ job_id }) => job_id),
    );
    const now = timestamp(store.clock.now());
    await Promise.all(
      jobs.map(async (job) => {
        if (!job || isTerminal(job.status)) return;
        if (isHeld(status)) return holdJob(store, job.id);
        // What came due while it was archived waits for the user (AMB-54); a resumed campaign sends it at once.
        const isAhead = job.status === "scheduled" && String(job.scheduled_at) > now;
        if (job.held && (!isRestored || isAhead)) await releaseJob(store, job.id);
      }),
    );
  }
  await switchOwned(store, timers, campaign.id, status);
}

/** CMP-26, D-CMP-AUTO: moves on by what its jobs have come to. It may be asked at any time. */
export async function evaluate(store: Store, { id, status, messages }: Campaign): Promise<void> {
  if (status !== "scheduled" && status !== "live") return;
  const jobs = await findJobs(
    store,
    messages.map(({ job_id }) => job_id),
  );
  let now: CampaignStatus = status;
  if (
    now === "scheduled" &&
    jobs.some((job) => job && job.status !== "scheduled") &&
    (await tryMove(store, id, "start"))
  )
    now = "live";
  if (now !== "live" || !jobs.every((job) => job && isTerminal(job.status))) return;
  const schedules = await ownedSchedules(store, id);
  if (!schedules.some(({ active }) => active)) await tryMove(store, id, "complete");
}

const specOf = (campaign: Campaign, message: CampaignMessage, releasedAt: number): JobSpec => ({
  name: campaign.name,
  category: campaign.category,
  title: message.content?.title ?? null,
  body: message.content?.body ?? null,
  data: null,
  template_id: message.template_id ?? null,
  channel_ids: message.channel_ids,
  target: campaign.target,
  subscriber_ids_count: null,
  device_filters: null,
  subscriber_filters: null,
  scheduled_at: normal(timeOf(campaign, message, releasedAt)),
  channel_arbitration_mode: "explicit",
  holdout_percentage: campaign.holdout_percentage,
  split_percentage: null,
  variant_b: null,
  bypass_quiet_hours: false,
  source: { type: "campaign", id: campaign.id },
  ...(message.chat_app_template_id !== undefined && { chat_app: chatAppContentOf(message)! }),
});

const normal = (at: string | undefined) => (at === undefined ? null : timestamp(Date.parse(at)));
