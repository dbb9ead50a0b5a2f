// The moves of a campaign that nobody asks for (D-CMP-AUTO).
import type { Campaign } from "./records/plans.ts";
import type { Job } from "./records/sends.ts";
import { found, type World } from "./world.ts";

export const jobsOf = (world: World, { messages }: Campaign): Job[] =>
  messages.flatMap(({ job_id }) => found(world.jobs, job_id) ?? []);

const campaignOf = (world: World, { source }: Job): Campaign | undefined =>
  source.type === "campaign" ? found(world.campaigns, source.id) : undefined;

/** scheduled to live: the first job is dispatched. */
export function jobDispatched(world: World, job: Job): void {
  const campaign = campaignOf(world, job);
  if (campaign?.status === "scheduled") campaign.status = "live";
}

/** live to completed: every job is terminal or canceled, and no owned schedule is active. */
export function completeIfDone(world: World, campaign: Campaign): void {
  if (campaign.status !== "live") return;
  const isOpen = jobsOf(world, campaign).some(({ status }) => !["completed", "failed", "canceled"].includes(status));
  const owns = world.schedules.some(({ spec, active }) => active && spec.campaign_id === campaign.id);
  if (!isOpen && !owns) campaign.status = "completed";
}

export function jobClosed(world: World, job: Job): void {
  const campaign = campaignOf(world, job);
  if (!campaign) return;
  // A job that failed whole was dispatched anyway.
  if (campaign.status === "scheduled" && job.dispatched_at !== null) campaign.status = "live";
  completeIfDone(world, campaign);
}
