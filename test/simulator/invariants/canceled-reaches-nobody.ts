// After an acknowledged cancellation no subscriber is reached.
import { inboxRow } from "../entities.ts";
import type { Invariant } from "../invariant.ts";

export const canceledReachesNobody: Invariant = {
  name: "canceled-reaches-nobody",
  watch: ({ ledger }, broken) => ({
    commit: ({ pk, sk, after }) => {
      if (!after || !inboxRow(pk, sk)) return;
      const job = String(after.job);
      if (ledger.canceled.has(job)) broken(`job ${job} was canceled and reached a subscriber`, job);
    },
    end: () => {
      for (const job of ledger.canceled.keys())
        if (ledger.delivered.get(job)?.size) broken(`job ${job} was canceled and had reached a subscriber`, job);
    },
  }),
};
