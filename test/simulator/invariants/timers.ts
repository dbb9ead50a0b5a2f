// Timers: none early, none lost, and without faults none late.
import { MINUTE, SECOND } from "../../../shared/clock.ts";
import { isDueBy, isJob, placeOf } from "../entities.ts";
import type { Invariant } from "../invariant.ts";

/** How late a job may be fired or finished where nothing goes wrong. */
const FIRED_WITHIN_MS = 5 * SECOND;
const FINISHED_WITHIN_MS = MINUTE;

export const timers: Invariant = {
  name: "timers",
  watch: ({ kernel, profile, mirror, ledger }, broken) => ({
    commit: ({ pk, before, after }) => {
      if (!isJob(pk) || !before || !after || before.status === after.status) return;
      const job = String(after.id);
      const wasHeld = before.held === true || before.halted !== undefined || after.let_go_at !== undefined;
      const isPrompt = profile.name === "calm" && !wasHeld && !ledger.everSuspended.has(String(placeOf(pk)?.tenant));
      const scheduled = typeof after.scheduled_at === "string" ? Date.parse(after.scheduled_at) : undefined;
      if (before.status === "scheduled" && after.status === "queued") {
        const late = kernel.now() - scheduled!;
        if (late < -profile.skewMs) broken(`job ${job} fired ${-late} ms early`, job);
        if (isPrompt && late > FIRED_WITHIN_MS) broken(`job ${job} fired ${late} ms late`, job);
      }
      const mayWait = ledger.manners.get(String(placeOf(pk)?.tenant))?.quiet !== undefined;
      if (before.status === "processing" && isPrompt && !mayWait && !ledger.putOff.has(job)) {
        const took = kernel.now() - (scheduled ?? Date.parse(String(after.created_at)));
        if (took > FINISHED_WITHIN_MS) broken(`job ${job} took ${took} ms`, job);
      }
    },
    end: () => {
      for (const pk of mirror.partitions())
        for (const row of isDueBy(pk, kernel.now()) ? mirror.under(pk).values() : [])
          broken(`the due row ${row.pk} ${row.sk} was never consumed`, row.sk.split("#").at(-1)!, row.pk);
    },
  }),
};
