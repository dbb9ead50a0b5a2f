// Recipients of a send who wait for the end of quiet hours, and until when they wait (D-QUIET).
import { timestamp } from "../../../kernel/clock.ts";
import { progressOf } from "../../../rules/progress-text.ts";
import { quietUntil } from "../../../rules/quiet-hours.ts";
import { isTimeZone, wallClock } from "../../../rules/time-zones.ts";
import type { StoreReader } from "../../context.ts";
import { shardOf } from "../../shards.ts";
import { attributesOf, type LivingProfile } from "../../subscribers/subscribers.ts";
import type { QuietSettings } from "../../workspaces/settings.ts";
import { ChunkItem, RangeItem } from "../audience/audience-items.ts";
import type { JobRecord } from "../jobs/job-record.ts";
import { isStopped, withoutOpen } from "../jobs/stopped.ts";
import { claimsOf } from "./chunk-rows.ts";
import { chunkOf } from "./chunks.ts";
import type { ClaimState } from "./leases.ts";
import { mayHold } from "./range-names.ts";
import type { Recipient } from "./recipients.ts";
import { sumOf, type Tally, tallyOf } from "./tallies.ts";

/** The zone in which quiet hours apply to a subscriber. */
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

const mayDefer = ({ status, deliverySettings }: JobRecord): boolean =>
  status === "processing" && deliverySettings?.quiet !== undefined;

/**
 * The totals of a job. Those of one in progress, or stopped in progress, are the totals of its ranges: each adds its own
 * to the job when it closes. A send to one recipient has no ranges. The total of one in progress is everyone who is planned
 * (AMB-95), its other counts are of the chunks that were begun.
 */
export async function soFar(store: StoreReader, job: JobRecord): Promise<Tally & { deferred: number }> {
  if (job.status !== "processing" && !isStopped(job)) return { ...job, deferred: 0 };
  if (job.direct) {
    const { recipients } = job.direct;
    return { ...job, counts: { ...job.counts, total: recipients.length }, deferred: job.claim?.deferred ?? 0 };
  }
  const ranges = await store.getAll(
    RangeItem,
    (job.ranges ?? []).map((range) => ({ job: job.id, range })),
  );
  const begun = ranges.filter((range) => range !== undefined);
  const tally = sumOf(begun.map(tallyOf));
  if (isStopped(job)) return { ...withoutOpen(tally), deferred: 0 };
  const people = begun.reduce((sum, range) => sum + (range.people ?? 0), 0);
  const counts = { ...tally.counts, total: Math.max(tally.counts.total, people) };
  return { ...tally, counts, deferred: begun.reduce((sum, { deferred = 0 }) => sum + deferred, 0) };
}

/** The end of the quiet hours that deferred a job's messages to a subscriber; undefined where none waits. */
export async function deferredUntil(
  store: StoreReader,
  job: JobRecord,
  subscriber: string,
): Promise<number | undefined> {
  if (!mayDefer(job)) return undefined;
  if (job.direct) return untilIn(job.claim, job.direct.recipients, subscriber);
  const shard = shardOf(subscriber);
  for (const range of job.ranges?.filter((one) => mayHold(one, shard)) ?? [])
    for await (const claims of claimsOf(store, { job: job.id, range })) {
      const waiting = [...claims].filter(([, { deferred = 0 }]) => deferred > 0);
      const chunks = await store.getAll(
        ChunkItem,
        waiting.map(([n]) => ({ job: job.id, range, n })),
      );
      for (const [i, [, claim]] of waiting.entries()) {
        const until = chunks[i] && untilIn(claim, chunkOf(chunks[i]).recipients, subscriber);
        if (until !== undefined) return until;
      }
    }
  return undefined;
}

/** The end of the quiet hours for a recipient of a chunk, from its claim. */
function untilIn(
  claim: Pick<ClaimState, "progress"> | undefined,
  recipients: readonly Recipient[],
  subscriber: string,
): number | undefined {
  const place = recipients.findIndex((one) => one.subscriber === subscriber);
  return quietIn(claim).get(place);
}

/** The ends of quiet hours that recipients of a chunk wait for, by their places in it. */
export function quietIn(claim: Pick<ClaimState, "progress"> | undefined): Map<number, number> {
  const { work = [], to, next } = progressOf(claim?.progress);
  const until = new Map<number, number>();
  for (const { recipient, quiet } of [...work.slice(to), ...next])
    if (quiet !== undefined) until.set(recipient, Math.min(quiet, until.get(recipient) ?? Number.POSITIVE_INFINITY));
  return until;
}
