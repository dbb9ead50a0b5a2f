// The brake of a send (F21, docs/decisions/0052): asked before a chunk begins and before each of its groups, as pause is.
// It may halt the send, let a chunk wait for what others find out, and keep back who is not in the canary.
import { MINUTE } from "../../../shared/kernel/clock.ts";
import type { Capability } from "../../../shared/kernel/deps.ts";
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
  type Addressee,
  countFirstTry,
  isFirstTry,
  isPassed,
  type Progress,
  putOff,
  type SendOutcome,
} from "../../../shared/rules/progress.ts";
import { recent } from "../../../shared/store/recent.ts";
import { type BrakeView, brakeView, haltJob } from "../../../shared/store/sends/jobs/brake.ts";
import { findJob, type JobRecord } from "../../../shared/store/sends/jobs/jobs.ts";
import type { ChunkRef } from "../../../shared/store/sends/ledger/touches.ts";
import { recipientOf } from "./addresses.ts";
import type { Prepared } from "./prepare.ts";
import type { ChunkState, Work, WorkerContext } from "./rounds.ts";

/** How long the figures of a send are used. */
const FRESH_MS = 500;
const MAX_JOBS = 100;
/** Of one chunk alone the brake must be surer than of all: there are many of them (in standard deviations). */
const SURE_OF_ONE = 4;

interface Seen {
  at: number;
  view: Promise<BrakeView>;
}

/** The newest figures of an environment, by workspace and job. */
export const sendFigures: Capability<"figures", ReturnType<typeof recent<Seen>>> = {
  as: "figures",
  env: [],
  grants: [],
  open: () => {
    const figures = recent<Seen>(MAX_JOBS);
    return () => figures;
  },
};

function viewOf({ store, clock, figures }: WorkerContext, job: JobRecord): Promise<BrakeView> {
  const name = `${store.tenant} ${job.id}`;
  const cached = figures.get(name);
  if (cached && clock.now() - cached.at < FRESH_MS) return cached.view;
  const view = brakeView(store, job);
  figures.set(name, { at: clock.now(), view });
  return view.catch((error) => {
    figures.delete(name);
    throw error;
  });
}

/** Whether the figures so far allow that a send goes on. If not, it is halted. */
export async function holdsBrake(context: WorkerContext, job: JobRecord): Promise<boolean> {
  const limits = job.deliverySettings?.brake;
  if (!limits) return true;
  const { figures } = await viewOf(context, job);
  const breach = breachOf(limits, since(job.resumedWith, figures));
  if (breach) await halt(context, job, breach);
  return breach === undefined;
}

async function halt(context: WorkerContext, job: JobRecord, breach: Breach): Promise<void> {
  const { store, log, gates } = context;
  log({ level: "warn", message: "a send halts", tenant: store.tenant, job: job.id, ...breach });
  await haltJob(store, job, breach);
  gates.delete(`${store.tenant} ${job.id}`);
}

/**
 * Whether a chunk may begin: only so many begin as what is known of the others allows, so that workers cannot pass the
 * limit together. One that began goes on.
 * @returns how long it waits before it asks again; undefined if it may begin
 */
export async function waitOfChunk(
  context: WorkerContext,
  { range, n }: ChunkRef,
  { job, claim }: ChunkState,
): Promise<number | undefined> {
  const limits = job.deliverySettings?.brake;
  if (!limits || claim) return undefined;
  const { figures, sizes } = await viewOf(context, job);
  const before = chunksBefore(sizes, job.ranges?.indexOf(range) ?? 0, n);
  const allowed = chunksAllowed(limits, figures, job.resumedWith);
  if (before < allowed) return undefined;
  const begun = Math.max(Date.parse(job.dispatched_at ?? job.created_at), job.releasedAt ?? 0);
  return askAgainIn(before, allowed, context.clock.now() - begun);
}

/** Whether the figures of a send count: for its own brake, or for that of its journey's step. */
export const isCounted = ({ deliverySettings: settings }: Pick<JobRecord, "deliverySettings">): boolean =>
  settings?.brake !== undefined || settings?.isCounted === true;

/** The progress of a chunk whose figures count. */
export const counting = ({ job }: Pick<ChunkState, "job">, progress: Progress): Progress =>
  isCounted(job) ? { ...progress, tried: progress.tried ?? {} } : progress;

/** A round of a chunk was worked through. */
export const noteRound = ({ job }: Pick<ChunkState, "job">, progress: Progress): void => {
  if (isCounted(job)) progress.passed ||= isPassed(progress);
};

/** Puts everyone off who is not in the canary, until it was sent and its wait is over. */
export async function keepCanaryFirst(work: Work, progress: Progress, addressees: readonly Addressee[]): Promise<void> {
  const { chunkRef, found, clock } = work;
  const { canary_percent: share, canary_wait_minutes: minutes = DEFAULT_CANARY_WAIT_MINUTES } =
    found.job.deliverySettings?.brake ?? {};
  if (share === undefined || found.job.resumedWith || progress.to > 0) return;
  const { figures, sizes, passedAt } = await viewOf(work, found.job);
  const chunks = sizes.reduce((sum, range) => sum + range.chunks, 0);
  const isSent = sizes.every(({ planned }) => planned) && figures.passed >= chunks;
  const ends = passedAt + minutes * MINUTE;
  const now = clock.now();
  if (isSent && now >= ends) return;
  const due = isSent ? ends : Math.max(now + MINUTE, now + minutes * MINUTE);
  putOff(progress, addressees, (unit) => {
    const { subscriber } = recipientOf(found.chunk, unit);
    const { quiet, throttledSince } = unit;
    return unit.tries.length > 0 || isCanary(chunkRef.job, subscriber, share)
      ? undefined
      : { due: Math.max(unit.due, due), quiet, throttledSince };
  });
}

const noFigures = () => ({ tried: {}, errors: {}, bounced: 0, complained: 0, opted_out: 0, passed: 0 });

/** Looks at what one worker found out of one chunk: a provider that fails at once is noticed within a group. */
export function createChunkWatch({ found }: Pick<Work, "found">) {
  let job: JobRecord = found.job;
  let local = noFigures();
  return {
    note: ({ unit, channel }: Prepared, outcome: SendOutcome): void => {
      if (isFirstTry(unit, outcome)) countFirstTry(local, channel, outcome);
    },
    haltIfBad: async (context: WorkerContext): Promise<void> => {
      const limits = job.deliverySettings?.brake;
      const breach = limits && breachOf({ max_error_rate: limits.max_error_rate }, local, SURE_OF_ONE);
      const newest = breach && (await findJob(context.store, job.id));
      if (!breach || !newest || newest.halted) return;
      if (newest.releasedAt === job.releasedAt) return halt(context, newest, breach);
      // The send was halted and resumed meanwhile: figures from before count no more, and the limits may be others.
      job = newest;
      local = noFigures();
    },
  };
}
