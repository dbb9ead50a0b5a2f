// A campaign that nothing holds ends when its jobs have.
import { isTerminal } from "../../../shared/rules/job-states.ts";
import type { Invariant } from "../invariant.ts";
import { ask, askForJobs } from "../questions.ts";

const ROUTE = "GET /api/v1/campaigns/{id}";

export const campaigns: Invariant = {
  name: "campaigns",
  watch: (world, broken) => ({
    end: async () => {
      for (const { id, tenant: of } of world.ledger.campaigns.values()) {
        const tenant = world.ledger.tenants.get(of)!;
        const { status, body: campaign } = await ask(world, tenant, ROUTE, { params: { id } });
        if (status !== 200) continue;
        const jobs = ((await askForJobs(world, tenant)) ?? []).filter(({ source }) => source.id === id);
        if (campaign.status !== "completed" && campaign.status !== "draft")
          broken(`campaign ${id} is ${campaign.status} at rest`, id);
        if (campaign.status === "completed" && jobs.length !== campaign.messages.length)
          broken(`campaign ${id} has ${jobs.length} jobs for ${campaign.messages.length} messages`, id);
        for (const job of jobs)
          if (!isTerminal(job.status))
            broken(`campaign ${id} has the job ${job.id}, which is ${job.status}`, id, job.id);
      }
    },
  }),
};
