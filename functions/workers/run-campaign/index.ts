// Makes the jobs of a released campaign, holds or releases them by its status, and moves the campaign by their
// statuses. Every step can be repeated: a request that stopped halfway is finished here.
import { isHeld } from "../../../shared/rules/campaign-states.ts";
import { queueWorker } from "../../../shared/runtime/worker.ts";
import { findCampaign } from "../../../shared/store/campaigns/campaigns.ts";
import { applyState, makeJobs, moveByJobs } from "../../../shared/store/campaigns/jobs.ts";
import { timers, workspaceRead } from "../../../shared/store/capabilities.ts";
import { storeWrite } from "../../../shared/store/context.ts";
import { allowanceOf } from "../../../shared/store/workspaces/usage.ts";

export const runCampaign = queueWorker(
  "run-campaign",
  "Makes, holds and releases the jobs of a campaign by its status.",
  [storeWrite, timers, workspaceRead],
  async ({ campaign: id }, { store, timers, tenant, workspace, log }) => {
    const [campaign, workspaceRecord] = await Promise.all([findCampaign(store, id), workspace()]);
    if (!campaign || !workspaceRecord)
      return log({ level: "info", message: "a campaign or its workspace is missing", tenant, campaign: id });
    await makeJobs(store, timers, allowanceOf(workspaceRecord), campaign);
    await applyState(store, timers, campaign);
    // It may have been paused or resumed since it was read, and the message of that may have been handled before this one.
    const now = await findCampaign(store, id);
    if (now && isHeld(now.status) !== isHeld(campaign.status)) await applyState(store, timers, now);
    await moveByJobs(store, campaign);
  },
);
