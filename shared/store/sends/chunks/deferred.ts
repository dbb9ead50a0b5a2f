// Recipients of a send who wait for the end of quiet hours, and how long they wait (D-QUIET).
import { timestamp } from "../../../kernel/clock.ts";
import type { Unit } from "../../../rules/progress.ts";
import { quietEnd } from "../../../rules/progress-rounds.ts";
import { progressOf } from "../../../rules/progress-text.ts";
import { quietUntil } from "../../../rules/quiet-hours.ts";
import { isTimeZone, wallClock } from "../../../rules/time-zones.ts";
import type { StoreReader } from "../../context.ts";
import { attributesOf, type LivingProfile } from "../../subscribers/subscribers.ts";
import type { QuietSettings } from "../../workspaces/settings.ts";
import { RangeItem } from "../audience/audience-items.ts";
import type { JobRecord } from "../jobs/job-record.ts";
import { isStopped, withoutOpen } from "../jobs/stopped.ts";
import type { ClaimState } from "./leases.ts";
import { sumOf, type Tally, tallyOf } from "./tallies.ts";

export function zoneFor(
  { timezone_mode }: QuietSettings,
  workspaceZone: string,
  profile: LivingProfile | undefined,
): string {
  const zone = timezone_mode === "subscriber" && profile ? attributesOf(profile).timezone : undefined;
  return typeof zone === "string" && isTimeZone(zone) ? zone : workspaceZone;
}

/** Quiet hours as they are for a subscriber at a moment: `until` is null outside of them. */
export function quietNow(quiet: QuietSettings, workspaceZone: string, profile: LivingProfile, now: number) {
  const timezone = zoneFor(quiet, workspaceZone, profile);
  const until = quietUntil(quiet, timezone, now);
  const local_time = new Date(wallClock(timezone, now)).toISOString().slice(0, 16);
  return { ...quiet, timezone, local_time, until: until === undefined ? null : timestamp(until) };
}

/**
 * The totals of a job. A job in progress, or stopped in progress, has the totals of its ranges: each adds its own to
 * the job when it closes. A send to one recipient has no ranges. The total of a job in progress counts all planned
 * recipients (AMB-95); its other counts are of the chunks that were begun.
 */
export async function soFar(store: StoreReader, job: JobRecord): Promise<Tally & { deferred: number }> {
  if (job.status !== "processing" && !isStopped(job)) return { ...job, deferred: 0 };
  if (job.direct) {
    const { recipients } = job.direct;
    return { ...job, counts: { ...job.counts, total: recipients.length }, deferred: job.claim?.deferred ?? 0 };
  }
  const keys = (job.ranges ?? []).map((range) => ({ job: job.id, range }));
  const ranges = await store.getAll(RangeItem, keys);
  const begun = ranges.filter((range) => range !== undefined);
  const tally = sumOf(begun.map(tallyOf));
  if (isStopped(job)) return { ...withoutOpen(tally), deferred: 0 };
  const people = begun.reduce((sum, range) => sum + (range.people ?? 0), 0);
  const counts = { ...tally.counts, total: Math.max(tally.counts.total, people) };
  return { ...tally, counts, deferred: begun.reduce((sum, { deferred = 0 }) => sum + deferred, 0) };
}

/** A job with its totals until now: its row has those of closed ranges. */
export const jobNow = async (store: StoreReader, job: JobRecord): Promise<JobRecord> => ({
  ...job,
  ...(await soFar(store, job)),
});

/** The remaining work of a chunk, by the places of its recipients; nothing after it is closed. */
export function waitsIn(claim: Pick<ClaimState, "progress" | "closed"> | undefined): Map<number, Unit[]> {
  if (!claim || claim.closed) return new Map();
  const { work = [], to, next } = progressOf(claim.progress);
  return Map.groupBy([...work.slice(to), ...next], ({ recipient }) => recipient);
}

/** Whether quiet hours put off one of these addresses, and nothing went to it since. */
export const isDeferred = (waits: readonly Unit[]): boolean => waits.some((unit) => quietEnd(unit) !== undefined);

/** The first end of quiet hours that one of these addresses waits for; null where none is ahead. */
export function deferredUntil({ clock }: Pick<StoreReader, "clock">, waits: readonly Unit[]): string | null {
  const ends = waits.flatMap((unit) => quietEnd(unit) ?? []).filter((end) => end > clock.now());
  return ends.length === 0 ? null : timestamp(Math.min(...ends));
}
