// No send beyond the cap: usage never exceeds it, and a rejected request leaves no job and had a reason.
import { timestamp } from "../../../shared/clock.ts";
import { itemsOf, placeOf } from "../entities.ts";
import type { Invariant } from "../invariant.ts";

const monthOf = (at: number): string => timestamp(at).slice(0, 7);

export const quota: Invariant = {
  name: "quota",
  watch: ({ ledger, mirror, kernel, start }, broken) => {
    const used = new Map<string, number>();
    return {
      commit: ({ pk, after }) => {
        const place = placeOf(pk);
        if (place?.kind !== "USAGE" || !after) return;
        used.set(place.tenant, Number(after.sends ?? 0));
        const cap = ledger.caps.get(place.tenant);
        if (cap !== undefined && Number(after.sends ?? 0) > cap)
          broken(`workspace ${place.tenant} has used ${after.sends} of ${cap} sends`, place.tenant);
      },
      end: () => {
        // What is left of a month is not left of the next one.
        const isOneMonth = monthOf(start) === monthOf(kernel.now());
        const labels = new Map([...itemsOf(mirror, "JOB")].map(({ item }) => [String(item.name), String(item.id)]));
        for (const { label, refused, jobs, tenant, ids, holdout } of ledger.sends.values()) {
          // A repeat draws its holdout again, so it may fit where the previous attempt did not.
          if (refused !== 402 || (holdout > 0 && jobs.size > 0)) continue;
          const job = labels.get(label);
          if (job !== undefined) broken(`${label} was refused and made job ${job}`, job);
          const cap = ledger.caps.get(tenant) ?? Number.POSITIVE_INFINITY;
          const max = ids
            ? new Set(ids).size
            : [...ledger.people.values()].filter((one) => one.tenant === tenant).length;
          if (holdout === 0 && isOneMonth && (used.get(tenant) ?? 0) + max <= cap)
            broken(`${label} was refused though ${max} more would fit into ${cap}`, tenant);
        }
        for (const { tenant, item } of itemsOf(mirror, "JOB")) {
          // With a holdout the share is an estimate (docs/decisions/0005).
          if (!ledger.caps.has(tenant) || Number(item.holdout_percentage) > 0) continue;
          if (Number(item["n:sent"] ?? 0) > Number(item.reserved ?? 0))
            broken(`job ${item.id} made ${item["n:sent"]} sends of ${item.reserved} that it took`, String(item.id));
        }
      },
    };
  },
};
