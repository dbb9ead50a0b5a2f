// Timers: none early, none lost, and without faults none late.
import { MINUTE, SECOND } from "../../../shared/kernel/clock.ts";
import { isSandbox } from "../../../shared/store/sandbox/sandbox.ts";
import { isDueBy, isJob, placeOf } from "../entities.ts";
import type { Invariant } from "../invariant.ts";
import type { Ledger } from "../ledger.ts";
import { timeOf } from "../sandbox-time.ts";

/** How late a job may be fired or finished where nothing goes wrong. */
const FIRED_WITHIN_MS = 5 * SECOND;
const FINISHED_WITHIN_MS = MINUTE;
/** The part of a channel's rate that messages of a category have at least. */
const SHARES = { marketing: 0.8, transactional: 0.2 };

export const timers: Invariant = {
  name: "timers",
  watch: ({ kernel, profile, mirror, ledger }, broken) => ({
    commit: ({ pk, before, after }) => {
      if (!isJob(pk) || !before || !after || before.status === after.status) return;
      const job = String(after.id);
      const tenant = String(placeOf(pk)?.tenant);
      const wasHeld = before.held === true || before.halted !== undefined || after.released_at !== undefined;
      const now = timeOf({ kernel, mirror }, tenant);
      // A move forwards timers of one minute together, and goes on while a request is under way.
      const isPrompt = profile.name === "calm" && !wasHeld && !ledger.everSuspended.has(tenant) && !isSandbox(tenant);
      const scheduled = typeof after.scheduled_at === "string" ? Date.parse(after.scheduled_at) : undefined;
      if (before.status === "scheduled" && after.status === "queued") {
        const late = now - scheduled!;
        if (late < -profile.skewMs) broken(`job ${job} fired ${-late} ms early`, job);
        if (isPrompt && late > FIRED_WITHIN_MS) broken(`job ${job} fired ${late} ms late`, job);
      }
      const mayWait = ledger.manners.get(tenant)?.quiet !== undefined || isThrottled(ledger, tenant);
      if (before.status === "processing" && isPrompt && !mayWait && !ledger.putOff.has(job)) {
        const took = now - (scheduled ?? Date.parse(String(after.created_at)));
        const allowed = FINISHED_WITHIN_MS + pacedMs(ledger, tenant, String(after.category));
        if (took > allowed) broken(`job ${job} took ${took} ms, not ${allowed}`, job);
      }
    },
    end: () => {
      for (const pk of mirror.partitions())
        for (const row of isDueBy(pk, kernel.now()) ? mirror.under(pk).values() : [])
          broken(`the due row ${row.pk} ${row.sk} was never consumed`, row.sk.split("#").at(-1)!, row.pk);
    },
  }),
};

const sendsOf = ({ byJob }: Ledger, tenant: string) => [...byJob].filter(([, send]) => send.tenant === tenant);

/** Whether a provider has slowed the channels of a workspace down. */
const isThrottled = (ledger: Ledger, tenant: string): boolean =>
  ledger.limits.has(tenant) ||
  (ledger.rates.has(tenant) && sendsOf(ledger, tenant).some(([job]) => ledger.putOff.has(job)));

/** How long everything that a workspace has sent takes at the rate of its channel. */
function pacedMs(ledger: Ledger, tenant: string, category: string): number {
  const rate = ledger.rates.get(tenant);
  const share = category === "transactional" ? SHARES.transactional : SHARES.marketing;
  return rate ? (SECOND * rate.chunk * sendsOf(ledger, tenant).length) / (rate.perSecond * share) : 0;
}
