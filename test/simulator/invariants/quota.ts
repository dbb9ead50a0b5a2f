// No send beyond the cap: usage exceeds it only by what a send reached more than it took, no send is stored before it was
// taken, and a rejected request leaves no job and had a reason.
import { timestamp } from "../../../shared/kernel/clock.ts";
import { isTerminal, type JobStatus } from "../../../shared/rules/job-states.ts";
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
    /** What usage grew by beyond the cap, and what the ends of jobs added to it. */
    const beyond = new Map<string, number>();
    const late = new Map<string, number>();
    /** What each job took before it ended. */
    const estimates = new Map<string, number>();
    const raise = (by: Map<string, number>, key: string, n: number) => by.set(key, (by.get(key) ?? 0) + n);
    const noteJob = (tenant: string, before: Item | undefined, after: Item | undefined) => {
      const sum = (reserved.get(tenant) ?? 0) + Number(after?.reserved ?? 0) - Number(before?.reserved ?? 0);
      reserved.set(tenant, sum);
      const id = String(after?.id);
      if (after && !isTerminal(after.status as JobStatus)) estimates.set(id, Number(after.reserved ?? 0));
      else if (after) raise(late, tenant, Math.max(0, Number(after.reserved ?? 0) - Number(before?.reserved ?? 0)));
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
        const n = Number(after.sends ?? 0);
        if (cap !== undefined && n > cap)
          raise(beyond, place.tenant, Math.max(0, n - Math.max(cap, Number(before?.sends ?? 0))));
      },
      end: () => {
        for (const [tenant, n] of beyond)
          if (n > (late.get(tenant) ?? 0))
            broken(`workspace ${tenant} has used ${n} sends more than ${ledger.caps.get(tenant)}`, tenant);
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
          const estimate = estimates.get(String(item.id)) ?? 0;
          if (Number(item["n:sent"] ?? 0) > estimate)
            broken(`job ${item.id} made ${item["n:sent"]} sends of ${estimate} that it took`, String(item.id));
        }
      },
    };
  },
};
