// Works through a chunk in rounds of groups: rendered first, claimed, called with nothing in between, then noted.
import { type Clock, type Ids, MINUTE, SECOND } from "../../../shared/clock.ts";
import type { Context } from "../../../shared/deps.ts";
import type { mailLinks } from "../../../shared/mail-links.ts";
import type { providers } from "../../../shared/providers/providers.ts";
import type { deliverQueue, storeWrite, timers, workspaceRead } from "../../../shared/resources.ts";
import {
  type Addressee,
  groupEnd,
  newProgress,
  nextRound,
  note,
  type Progress,
  resultOf,
  type SendOutcome,
  unitsOf,
  waitingFor,
} from "../../../shared/rules/progress.ts";
import { progressOf, progressText } from "../../../shared/rules/progress-text.ts";
import type { Item } from "../../../shared/store/model.ts";
import { type Chunk, tallyOfChunk } from "../../../shared/store/sends/chunks.ts";
import { advance, type Lease, release, takeOver } from "../../../shared/store/sends/claims.ts";
import type { JobItem } from "../../../shared/store/sends/jobs.ts";
import type { Tally } from "../../../shared/store/sends/tallies.ts";
import { type ChunkRef, touchItem } from "../../../shared/store/sends/touches.ts";
import type { vaultOpening } from "../../../shared/vault.ts";
import { claimCapped } from "./caps.ts";
import { createMessageBuilder, type openedCredentials, type Prepared } from "./prepare.ts";
import { recover } from "./recovery.ts";
import { createWaitQueue, isParked } from "./wait-queue.ts";

type Uses = readonly [
  typeof storeWrite,
  typeof deliverQueue,
  typeof timers,
  typeof workspaceRead,
  typeof providers,
  typeof vaultOpening,
  typeof mailLinks,
  typeof openedCredentials,
];
export type WorkerContext = Context<Uses> & { clock: Clock; ids: Ids };

export interface ChunkState {
  job: JobItem;
  chunk: Chunk;
  /** The claim's row, if somebody was here before. */
  claim: Item | undefined;
}

/** No group begins after this much of a worker's minute. */
const WORKING_MS = 35 * SECOND;
/** What a queue can hold a message back. */
export const MAX_DELAY_MS = 15 * MINUTE;
/** Ledger rows of one request. */
const BATCH = 25;

const NOTHING_REPORTED = { deferred: 0, reported: {} };

export interface LeasedProgress {
  lease: Lease;
  progress: Progress;
}

/** @returns what the chunk came to, or in how many milliseconds to come again; beyond a queue's delay a timer is set. */
export async function processChunk(
  context: WorkerContext,
  chunkRef: ChunkRef,
  found: ChunkState,
): Promise<{ retryInMs: number } | { tally: Lease & { tally: Tally } }> {
  const { clock } = context;
  const addressees = found.chunk.recipients.map(
    ({ targets, source }): Addressee => ({ targets, isSmart: source !== undefined }),
  );
  const taken = await take(context, chunkRef, found, addressees);
  if ("retryInMs" in taken) return taken;
  let held: LeasedProgress = taken;
  const work: Work = { ...context, chunkRef, found, addressees, until: clock.now() + WORKING_MS };
  for (;;) {
    const worked = await workRound(work, held);
    if ("retryInMs" in worked) return worked;
    held = worked;
    const begins = nextRound(held.progress, clock.now());
    if (begins === undefined) return { tally: { ...held.lease, tally: talliedBy(found, held.progress) } };
    if (begins > clock.now()) return releaseChunk(work, held, begins - clock.now());
  }
}

export interface Work extends WorkerContext {
  chunkRef: ChunkRef;
  found: ChunkState;
  addressees: readonly Addressee[];
  until: number;
}

/** A chunk that nobody has, or that was left by whoever had it. */
async function take(
  context: WorkerContext,
  chunkRef: ChunkRef,
  { job, chunk, claim }: ChunkState,
  addressees: readonly Addressee[],
): Promise<LeasedProgress | { retryInMs: number }> {
  const { store, clock, ids } = context;
  const owner = ids.uuid();
  if (!claim?.owner)
    return begin(context, chunkRef, { job, chunk }, { owner, step: 0, at: clock.now(), ...NOTHING_REPORTED });
  const now = clock.now();
  if (Number(claim.lease) >= now) return { retryInMs: Number(claim.lease) + 1 - now };
  const waiting = progressOf(String(claim.progress));
  const due = waiting.to === 0 && waiting.work ? Math.min(...waiting.work.map((unit) => unit.due)) : 0;
  if (due > now) return { retryInMs: due - now };
  if (isParked(job, waiting)) return { retryInMs: Number.POSITIVE_INFINITY };
  const item = await takeOver(store, chunkRef, owner);
  if (!item) return { retryInMs: SECOND };
  const reported = item.told === undefined ? {} : JSON.parse(String(item.told));
  const lease = { owner, step: Number(item.step), at: Number(item.at), deferred: Number(item.deferred ?? 0), reported };
  const progress = progressOf(String(item.progress));
  await recover(context, chunkRef, { job, chunk }, { lease, progress }, addressees);
  return { lease, progress };
}

/** Nobody was here before. Inbox rows are made of the time of the first claim: with them it is taken at once. */
async function begin(
  { store }: WorkerContext,
  chunkRef: ChunkRef,
  { job, chunk: { recipients } }: Pick<ChunkState, "job" | "chunk">,
  lease: Lease,
): Promise<LeasedProgress | { retryInMs: number }> {
  const progress = newProgress();
  const writesInbox = recipients.some(({ targets }) => targets.some(({ channel }) => channel === "in_app"));
  // Where caps count, the inbox is written after the claim of a group, which knows the time.
  if (!writesInbox || job.deliverySettings?.caps) return { lease, progress };
  const claimed = await advance(store, chunkRef, lease, progressText(progress));
  return claimed && "owner" in claimed ? { lease: claimed, progress } : { retryInMs: SECOND };
}

/** One group after the other, until the round or the worker's time is over. */
async function workRound(
  work: Work,
  { lease: begun, progress }: LeasedProgress,
): Promise<LeasedProgress | { retryInMs: number }> {
  const { store, chunkRef, found, addressees, clock } = work;
  const preparing = createMessageBuilder(work, found.job, chunkRef, found.chunk, begun.at);
  const waiting = await createWaitQueue(work, progress);
  let lease = begun;
  let rows: (Item | undefined)[] = [];
  const write = async (count: number) => {
    await store.writeAll(rows.slice(0, count).flatMap((put) => (put ? [{ put }] : [])));
    rows = rows.slice(count);
    progress.noted += count;
    progress.pending.splice(0, count);
  };
  for (;;) {
    waiting.putOff(progress);
    const units = unitsOf(progress, addressees);
    if (progress.to >= units.length) break;
    if (clock.now() >= work.until) {
      await write(rows.length);
      return releaseChunk(work, { lease, progress }, 0);
    }
    const from = progress.to;
    const group = units.slice(from, groupEnd(units, from));
    const prepared = await preparing.prepare(units, group, waiting.refusal);
    Object.assign(progress, { from, to: from + group.length });
    const claiming = found.job.deliverySettings?.caps
      ? claimCapped(work, { lease, progress }, prepared)
      : advance(store, chunkRef, lease, progressText(progress));
    const claimed = await claiming.catch(async (error) => {
      // What is known already must not become unconfirmed because the table is too busy for the next claim.
      await write(rows.length);
      throw error;
    });
    if (!claimed || !("owner" in claimed)) return { retryInMs: SECOND };
    // Nothing may come between the claim and the calls.
    const outcomes = await Promise.all(prepared.map(({ send }) => send()));
    lease = claimed;
    for (const [i, one] of prepared.entries()) rows.push(rowOf(work, lease, progress, one, outcomes[i]!));
    progress.capped = [];
    await preparing.markDeadAddresses(prepared, outcomes);
    if (rows.length >= BATCH) await write(rows.length - (rows.length % BATCH));
  }
  await write(rows.length);
  return { lease, progress };
}

function rowOf(
  { store, chunkRef, found, addressees, clock }: Work,
  { at }: Lease,
  progress: Progress,
  { unit, subscriber }: Prepared,
  outcome: SendOutcome,
): Item | undefined {
  const { targets, arm } = found.chunk.recipients[unit.recipient]!;
  const target = targets[unit.target]!;
  const { tries, ...verdict } = note(progress, unit, addressees[unit.recipient]!, outcome, clock.now());
  progress.pending.push(verdict);
  const providerId = outcome.status === "accepted" ? outcome.providerId : undefined;
  // The inbox is its own ledger.
  if (target.channel === "in_app" && verdict.state === "sent") return undefined;
  const seen = outcome.status === "skipped" ? outcome.seen : undefined;
  return touchItem(store.tenant, at, chunkRef, { subscriber, target, arm, verdict, tries, providerId, seen });
}

/** Leaves the chunk to whoever comes next, with all that is known; what waits longer than a queue can, to a timer. */
async function releaseChunk(
  work: Work,
  { lease, progress }: LeasedProgress,
  ms: number,
): Promise<{ retryInMs: number }> {
  const { store, timers, clock, chunkRef, found } = work;
  progress.from = progress.to;
  const waits = clock.now() + ms;
  if (ms > MAX_DELAY_MS) await timers.set([{ kind: "job-release", id: chunkRef.job, at: waits }]);
  const deferred = waitingFor(progress).size;
  const tally = talliedBy(found, progress);
  await release(store, chunkRef, lease, progressText(progress), { waits, deferred, tally });
  return { retryInMs: ms };
}

/** What the chunk has come to so far: whoever still waits is neither delivered nor failed. */
function talliedBy({ chunk }: ChunkState, progress: Progress): Tally {
  const plain = tallyOfChunk(chunk);
  const { delivered, failed, skipped, skip_reasons, ...reached } = resultOf(progress, chunk.recipients.length);
  const { counts } = plain;
  return {
    ...plain,
    ...reached,
    // Whoever is skipped only now was not accepted into delivery after all.
    counts: { ...counts, delivered, failed, sent: counts.sent - skipped, skipped: counts.skipped + skipped },
    skip_reasons: { ...plain.skip_reasons, ...skip_reasons },
    arbitration: {
      ...plain.arbitration,
      fallback_steps: progress.fallbackSteps,
      fallback_dedup_errors: progress.fallbackConflicts,
    },
  };
}
