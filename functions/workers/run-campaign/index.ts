// Brings about what a campaign's state asks for, and moves it on by what its jobs have come to. Every step may be
// repeated: a request that stopped half-way is finished here.
import { storeWrite, timers, workspaceRead } from "../../../shared/resources.ts";
import { findCampaign } from "../../../shared/store/campaigns/campaigns.ts";
import { applyState, evaluate, makeJobs } from "../../../shared/store/campaigns/jobs.ts";
import { queueWorker } from "../../../shared/worker.ts";

export const runCampaign = queueWorker(
  "run-campaign",
  "Brings about what a campaign's state asks for.",
  [storeWrite, timers, workspaceRead],
  async ({ campaign: id }, { store, timers, workspace }) => {
    const [campaign, workspaceRecord] = await Promise.all([findCampaign(store, id), workspace()]);
    if (!campaign || !workspaceRecord) return;
    await makeJobs(store, timers, { plan: workspaceRecord.plan, sendCap: workspaceRecord.monthly_send_cap }, campaign);
    await applyState(store, timers, campaign);
    await evaluate(store, campaign);
  },
);
