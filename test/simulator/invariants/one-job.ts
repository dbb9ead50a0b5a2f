// A request makes at most one job, however often it is repeated with its key, and always names the same one.
import { isJob } from "../entities.ts";
import type { Invariant } from "../invariant.ts";

export const oneJob: Invariant = {
  name: "one-job",
  watch: ({ ledger }, broken) => {
    const byLabel = new Map<string, string>();
    return {
      commit: ({ pk, before, after }) => {
        // Only one-off sends are named by their request.
        if (!isJob(pk) || before || !after || !ledger.sends.has(String(after.name))) return;
        const label = String(after.name);
        const known = byLabel.get(label);
        if (known !== undefined)
          broken(`the request ${label} made two jobs: ${known} and ${after.id}`, known, String(after.id));
        byLabel.set(label, String(after.id));
      },
      end: () => {
        for (const { jobs, label } of ledger.sends.values())
          if (jobs.size > 1) broken(`the request ${label} was answered with ${[...jobs].join(" and ")}`, ...jobs);
      },
    };
  },
};
