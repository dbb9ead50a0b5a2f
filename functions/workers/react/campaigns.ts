// Campaigns whose state changed, or whose jobs or schedules did: each is looked at once.
import type { Context } from "../../../shared/deps.ts";
import { runCampaignQueue } from "../../../shared/resources.ts";
import type { Change, Changes } from "./change.ts";

export const campaignUses = [runCampaignQueue] as const;

export async function followCampaigns(
  changes: Changes,
  { runCampaignQueue: queue }: Context<typeof campaignUses>,
): Promise<void> {
  const touched = [
    ...changes.of("campaign").filter(hasMoved).map(named("id")),
    ...changes
      .of("job")
      .filter((change) => change.after.source_type === "campaign" && hasMoved(change))
      .map(named("source_id")),
    ...changes
      .of("schedule")
      .filter(({ before, after }) => before?.active !== after.active)
      .map(named("campaign_id")),
  ];
  const distinct = new Map(touched.map((message) => [`${message.tenant} ${message.campaign}`, message]));
  await queue.send([...distinct.values()]);
}

const hasMoved = ({ before, after }: Change) => before?.status !== after.status;

const named =
  (attribute: string) =>
  ({ tenant, after }: Change) => ({ tenant, campaign: String(after[attribute]) });
