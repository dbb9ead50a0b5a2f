// A schedule makes one send of each tick that it does not miss, none early, and none once it is switched off (SCH).
import { HOUR, SECOND } from "../../../shared/kernel/clock.ts";
import { isSandbox } from "../../../shared/store/sandbox/sandbox.ts";
import { isJob, placeOf } from "../entities.ts";
import type { Invariant } from "../invariant.ts";
import { timeOf } from "../sandbox-time.ts";

/** How late a tick may be where nothing goes wrong. */
const FIRED_WITHIN_MS = 5 * SECOND;
const TOO_LATE_MS = HOUR;

export const schedules: Invariant = {
  name: "schedules",
  watch: (world, broken) => {
    const { ledger, profile } = world;
    /** By schedule: the ticks that were taken and not skipped, and the jobs made. */
    const ticks = new Map<string, number[]>();
    const jobs = new Map<string, number>();
    return {
      commit: ({ pk, sk, before, after }) => {
        const place = placeOf(pk);
        if (isJob(pk) && !before && after?.source_type === "schedule") {
          const of = String(after.source_id);
          jobs.set(of, (jobs.get(of) ?? 0) + 1);
          const stopped = ledger.stopped.get(of);
          if (stopped !== undefined) broken(`${of} fired after it was switched off`, of);
        }
        if (place?.kind !== "schedule" || place.id !== "" || !after) return;
        const { tenant } = place;
        const now = timeOf(world, tenant);
        const next = after.next as number | undefined;
        if (before === undefined || before.revision !== after.revision) return;
        const tick = before.next as number | undefined;
        if (tick === undefined || tick === next) return;
        const late = now - tick;
        if (late < -profile.skewMs) broken(`${sk} fired ${-late} ms early`, sk);
        if (profile.name === "calm" && !isSandbox(tenant) && late > FIRED_WITHIN_MS)
          broken(`${sk} fired ${late} ms late`, sk, tenant);
        const isMissed = after.last_missed_at !== before.last_missed_at;
        if (isMissed && late < TOO_LATE_MS - 2 * profile.skewMs) broken(`${sk} missed a tick after ${late} ms`, sk);
        if (!isMissed) ticks.set(sk, [...(ticks.get(sk) ?? []), tick]);
      },
      end: () => {
        for (const schedule of new Set([...ticks.keys(), ...jobs.keys()])) {
          const [taken, made] = [ticks.get(schedule) ?? [], jobs.get(schedule) ?? 0];
          if (taken.length !== made) broken(`${schedule} took ${taken.length} ticks and made ${made} sends`, schedule);
        }
      },
    };
  },
};
