// Campaigns whose state changed, or whose jobs or schedules did: each is looked at once.
import type { Context } from "../../../shared/kernel/deps.ts";
import { runCampaignQueue } from "../../../shared/runtime/resources.ts";
import { CampaignItem } from "../../../shared/store/campaigns/items.ts";
import { ScheduleItem } from "../../../shared/store/schedules/items.ts";
import { JobItem } from "../../../shared/store/sends/jobs/job-items.ts";
import type { Change, Changes } from "./change.ts";

export const campaignUses = [runCampaignQueue] as const;

export async function queueCampaigns(
  changes: Changes,
  { runCampaignQueue: queue }: Context<typeof campaignUses>,
): Promise<void> {
  const touched = [
    ...changes
      .of(CampaignItem, "campaign")
      .filter(hasMoved)
      .map(({ tenant, after }) => ({ tenant, campaign: after.id })),
    ...changes
      .of(JobItem, "job")
      .filter((change) => change.after.source_type === "campaign" && hasMoved(change))
      .map(({ tenant, after }) => ({ tenant, campaign: after.source_id })),
    ...changes
      .of(ScheduleItem, "schedule")
      .filter(({ before, after }) => before?.active !== after.active)
      .map(({ tenant, after }) => ({ tenant, campaign: after.campaign_id })),
  ];
  const distinct = new Map(
    touched.flatMap(({ tenant, campaign }) =>
      campaign === undefined ? [] : [[`${tenant} ${campaign}`, { tenant, campaign }] as const],
    ),
  );
  await queue.send([...distinct.values()]);
}

const hasMoved = ({ before, after }: Change<typeof CampaignItem> | Change<typeof JobItem>) =>
  before?.status !== after.status;
