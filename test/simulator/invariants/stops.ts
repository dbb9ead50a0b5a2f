// After a pause, a suspension or a deletion was answered, nothing is handed over any more but what was claimed before
// (AMB-112, AMB-113).
import { SECOND } from "../../../shared/kernel/clock.ts";
import { inboxRow } from "../entities.ts";
import type { Invariant } from "../invariant.ts";

/**
 * What was read shortly before: the claim and the write may be repeated, also after one of them was on its way until the
 * time of its function was nearly over, and the calls take their time.
 */
const UNDER_WAY_MS = 32 * SECOND;

export const stops: Invariant = {
  name: "stops",
  watch: ({ ledger, kernel, onProviderCall }, broken) => {
    const check = (tenant: string, job: string, subscriber: string, at = kernel.now()) => {
      const since = [
        ["suspended", ledger.suspended.get(tenant)],
        ["deleted", ledger.deleted.get(tenant)],
        ...[...ledger.campaigns.values()]
          .filter(({ jobs }) => jobs.includes(job))
          .map(({ heldSince }) => ["paused", heldSince] as const),
      ] as const;
      for (const [how, from] of since)
        if (from !== undefined && at > from + UNDER_WAY_MS)
          broken(`${subscriber} was sent job ${job} ${at - from} ms after it was ${how}`, job, subscriber);
    };
    onProviderCall(({ message, job, subscriber }) => check(message.tenant, job, subscriber));
    return {
      commit: ({ pk, sk, before, after, sentAt }) => {
        const row = before === undefined && after ? inboxRow(pk, sk) : undefined;
        if (row) check(row.tenant, String(after?.job), row.subscriber, sentAt);
      },
    };
  },
};
