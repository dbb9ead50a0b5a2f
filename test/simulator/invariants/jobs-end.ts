// Every accepted job ends, and fails only for a cause of its own.
import { isTerminal, type JobStatus } from "../../../shared/rules/job-states.ts";
import { laneOf } from "../../../shared/store/sends/jobs/job-ids.ts";
import { isJob, itemsOf } from "../entities.ts";
import type { Invariant } from "../invariant.ts";

export const jobsEnd: Invariant = {
  name: "jobs-end",
  watch: ({ ledger, mirror }, broken) => ({
    commit: ({ before, after, pk }) => {
      if (!isJob(pk) || !before || !after || before.status === after.status) return;
      if (isTerminal(before.status as JobStatus))
        broken(`job ${after.id} went from ${before.status} to ${after.status}`, String(after.id));
    },
    end: () => {
      for (const { item } of itemsOf(mirror, "JOB"))
        if (!isTerminal(item.status as JobStatus)) broken(`job ${item.id} is still ${item.status}`, String(item.id));
      for (const [job, send] of ledger.byJob) {
        const item = mirror.get(`T#${send.tenant}#${laneOf(job)}`, job);
        if (!item) broken(`job ${job} was accepted and is nowhere`, job);
        else if (send.mustComplete && item.status === "failed" && !ledger.canceled.has(job))
          if (Number(item["n:sent"] ?? 0) === 0 || item.error !== "no delivery succeeded")
            broken(`job ${job} failed: ${item.error}`, job);
        if (item?.status === "canceled" && !ledger.cancelsAsked.has(job))
          broken(`job ${job} is canceled without a request`, job);
      }
    },
  }),
};
