// A send with a brake halts when its provider refuses everything, nothing more is handed over then, and once it is resumed
// everybody who is left is served (F21).
import { SECOND } from "../../../shared/kernel/clock.ts";
import { tallyOf } from "../../../shared/store/sends/chunks/tallies.ts";
import { isJob, itemsOf } from "../entities.ts";
import type { Invariant } from "../invariant.ts";
import { providerBook } from "../provider-book.ts";

/** A group that was claimed before: its claim may be repeated, and its calls take their time. */
const UNDER_WAY_MS = 20 * SECOND;
/** Two chunks begin at once, and each stops after a group or two. A process that dies leaves a group of each. */
const MAX_REFUSED = { at: 60, perCrash: 25 };

export const brakes: Invariant = {
  name: "brakes",
  watch: (world, broken) => {
    const { ledger, kernel, mirror, fleet } = world;
    const book = providerBook(world);
    const haltedAt = new Map<string, number>();
    /** Addresses that were refused one after the other, since the send began or was resumed. */
    const refused = new Map<string, number>();
    world.onProviderCall(({ message, job, subscriber }) => {
      const since = haltedAt.get(job);
      if (since !== undefined && kernel.now() > since + UNDER_WAY_MS)
        broken(`${subscriber} was sent job ${job} ${kernel.now() - since} ms after it halted`, job, subscriber);
      const row = ledger.refusing.has(message.tenant) ? (refused.get(job) ?? 0) + 1 : 0;
      refused.set(job, row);
      if (ledger.braked.has(job) && row > MAX_REFUSED.at + MAX_REFUSED.perCrash * fleet.crashes())
        broken(`job ${job} went on after ${row} messages that were all refused`, job);
    });
    return {
      commit: ({ pk, after }) => {
        if (!isJob(pk) || !after) return;
        const job = String(after.id);
        if (after.halted !== undefined) haltedAt.set(job, haltedAt.get(job) ?? kernel.now());
        else if (haltedAt.delete(job)) refused.delete(job);
      },
      end: () => {
        for (const { item } of itemsOf(mirror, "JOB")) {
          const job = String(item.id);
          if (!ledger.braked.has(job) || item.status === "canceled") continue;
          const served = book.calls.get(job)?.size ?? 0;
          // A process that dies leaves people unconfirmed, and a phone may be gone by then.
          const { counts, fail_reasons } = tallyOf(item);
          const { delivery_unconfirmed = 0, no_device = 0 } = fail_reasons;
          const { sent } = counts;
          if (served + delivery_unconfirmed + no_device < sent)
            broken(`job ${job} has ${sent} recipients and served ${served}`, job);
        }
      },
    };
  },
};
