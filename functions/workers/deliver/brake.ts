// The brake of a send (F21, docs/decisions/0052): checked before a chunk begins and before each of its groups, as pause
// is. It may halt the send, let a chunk wait for the results of others, and hold back recipients outside the canary.
import { MINUTE } from "../../../shared/kernel/clock.ts";
import {
  askAgainIn,
  type Breach,
  breachOf,
  chunksAllowed,
  chunksBefore,
  DEFAULT_CANARY_WAIT_MINUTES,
  isCanary,
  since,
} from "../../../shared/rules/brake.ts";
import {
  countFirstTry,
  isFirstTry,
  isPassed,
  type Progress,
  type SendOutcome,
  type Unit,
} from "../../../shared/rules/progress.ts";
import { putOff } from "../../../shared/rules/progress-rounds.ts";
import { type BrakeView, brakeView, haltJob } from "../../../shared/store/sends/jobs/brake.ts";
import type { JobRecord } from "../../../shared/store/sends/jobs/job-record.ts";
import { findJob } from "../../../shared/store/sends/jobs/jobs.ts";
import { readShared } from "./memory.ts";
import { type PreparedMessage, recipientOf, type Work } from "./work.ts";

/** How long an environment uses the figures of a send. */
const FRESH_MS = 500;
/** The certainty that the errors of one chunk need, in standard deviations: of many chunks, some are bad by chance. */
const CHUNK_CERTAINTY = 4;

const viewOf = ({ store, clock, figures }: Work, job: JobRecord): Promise<BrakeView> =>
  readShared(clock, figures, `${store.tenant} ${job.id}`, { ms: FRESH_MS, read: () => brakeView(store, job) });

/** The limit that the figures of a send have passed, if any. */
export async function breachNow(work: Work, job: JobRecord): Promise<Breach | undefined> {
  const limits = job.deliverySettings?.brake;
  if (!limits) return undefined;
  const { figures } = await viewOf(work, job);
  return breachOf(limits, since(job.resumedWith, figures));
}

export async function halt(work: Work, job: JobRecord, breach: Breach): Promise<void> {
  const { store, log, gates } = work;
  log({ level: "warn", message: "a send halts", tenant: store.tenant, job: job.id, ...breach });
  await haltJob(store, job, breach);
  gates.delete(`${store.tenant} ${job.id}`);
}

/**
 * Whether a chunk may begin. The known figures bound how many chunks begin, so that workers cannot pass the limit
 * together. A chunk that began goes on.
 * @returns how many milliseconds it waits before it asks again; 0 if it may begin
 */
export async function waitOfChunk(work: Work): Promise<number> {
  const { job, claim, chunkRef, clock } = work;
  const limits = job.deliverySettings?.brake;
  if (!limits || claim) return 0;
  const { figures, sizes } = await viewOf(work, job);
  const before = chunksBefore(sizes, job.ranges?.indexOf(chunkRef.range) ?? 0, chunkRef.n);
  const allowed = chunksAllowed(limits, figures, job.resumedWith);
  if (before < allowed) return 0;
  const begun = Math.max(Date.parse(job.dispatched_at ?? job.created_at), job.releasedAt ?? 0);
  return askAgainIn(before, allowed, clock.now() - begun);
}

/** Whether the figures of a send count: for its own brake, or for that of its journey's step. */
export const isCounted = ({ deliverySettings: settings }: Pick<JobRecord, "deliverySettings">): boolean =>
  settings?.brake !== undefined || settings?.isCounted === true;

/** The progress with first tries counted, if the figures of the send count. */
export const withFigures = (job: JobRecord, progress: Progress): Progress =>
  isCounted(job) ? { ...progress, tried: progress.tried ?? {} } : progress;

/** Notes whether every address of the chunk was tried once. */
export const notePassed = ({ job }: Work, progress: Progress): void => {
  if (isCounted(job)) progress.passed ||= isPassed(progress);
};

/** Puts off all recipients outside the canary, until the canary was sent and its wait is over. */
export async function keepCanaryFirst(work: Work, progress: Progress): Promise<void> {
  const { chunkRef, job, chunk, addressees, clock } = work;
  const { canary_percent: share, canary_wait_minutes: minutes = DEFAULT_CANARY_WAIT_MINUTES } =
    job.deliverySettings?.brake ?? {};
  if (share === undefined || job.resumedWith || progress.to > 0) return;
  const { figures, sizes, passedAt } = await viewOf(work, job);
  const chunks = sizes.reduce((sum, range) => sum + range.chunks, 0);
  const isSent = sizes.every(({ planned }) => planned) && figures.passed >= chunks;
  const ends = passedAt + minutes * MINUTE;
  const now = clock.now();
  if (isSent && now >= ends) return;
  const due = isSent ? ends : Math.max(now + MINUTE, now + minutes * MINUTE);
  putOff(progress, addressees, (unit) => {
    const { subscriber } = recipientOf(chunk, unit);
    const { quiet, throttledSince } = unit;
    return unit.tries.length > 0 || isCanary(chunkRef.job, subscriber, share)
      ? undefined
      : { due: Math.max(unit.due, due), quiet, throttledSince };
  });
}

/** The progress in which no recipient waits for the canary, after the send was resumed. */
export function withoutCanaryWait({ resumedWith }: JobRecord, progress: Progress, now: number): Progress {
  if (!resumedWith) return progress;
  const ended = (unit: Unit): Unit => {
    const waitsForElse = unit.tries.length > 0 || unit.quiet !== undefined || unit.throttledSince !== undefined;
    return waitsForElse ? unit : { ...unit, due: Math.min(unit.due, now) };
  };
  return { ...progress, work: progress.work?.map(ended), next: progress.next.map(ended) };
}

const noFigures = () => ({ tried: {}, errors: {}, bounced: 0, complained: 0, opted_out: 0, passed: 0 });

/** Watches the errors of one chunk as they come: a provider that fails at once is noticed within a group. */
export function createChunkWatch(work: Work) {
  let job: JobRecord = work.job;
  let local = noFigures();
  return {
    note: ({ unit, channel }: PreparedMessage, outcome: SendOutcome): void => {
      if (isFirstTry(unit, outcome)) countFirstTry(local, channel, outcome);
    },
    haltIfBad: async (): Promise<void> => {
      const { max_error_rate } = job.deliverySettings?.brake ?? {};
      const breach = breachOf({ max_error_rate }, local, CHUNK_CERTAINTY);
      if (!breach) return;
      const newest = await findJob(work.store, job.id);
      if (!newest || newest.halted) return;
      if (newest.releasedAt === job.releasedAt) return halt(work, newest, breach);
      // The send was halted and resumed in the meantime. Earlier figures no longer count, and the limits may have
      // changed.
      job = newest;
      local = noFigures();
    },
  };
}
