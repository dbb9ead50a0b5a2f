// No send beyond the cap: usage never exceeds it, no send is stored before it was taken, and a rejected request leaves no
// job and had a reason.
import { timestamp } from "../../../shared/clock.ts";
import type { Item } from "../../../shared/store/model.ts";
import { itemsOf, placeOf } from "../entities.ts";
import type { Invariant } from "../invariant.ts";

const monthOf = (at: number): string => timestamp(at).slice(0, 7);

export const quota: Invariant = {
  name: "quota",
  watch: ({ ledger, mirror, kernel, start }, broken) => {
    /** The most that counted as used at any time: what was taken ahead is returned later (docs/decisions/0055). */
    const used = new Map<string, number>();
    /** Taken, by workspace and period; and what the jobs of a workspace took. */
    const taken = new Map<string, Map<string, number>>();
    const reserved = new Map<string, number>();
    const noteJob = (tenant: string, before: Item | undefined, after: Item | undefined) => {
      const sum = (reserved.get(tenant) ?? 0) + Number(after?.reserved ?? 0) - Number(before?.reserved ?? 0);
      reserved.set(tenant, sum);
      const all = [...(taken.get(tenant)?.values() ?? [])].reduce((total, n) => total + n, 0);
      if (after?.ahead && !before && sum > all)
        broken(`workspace ${tenant} took ${all} sends, its jobs used ${sum}`, tenant, String(after.id));
    };
    return {
      commit: ({ pk, sk, before, after }) => {
        const place = placeOf(pk);
        if (place?.kind === "JOB") return noteJob(place.tenant, before, after);
        if (place?.kind !== "USAGE" || place.id !== "" || !after) return;
        taken.set(place.tenant, (taken.get(place.tenant) ?? new Map()).set(sk, Number(after.sends ?? 0)));
        used.set(place.tenant, Math.max(used.get(place.tenant) ?? 0, Number(after.sends ?? 0)));
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
