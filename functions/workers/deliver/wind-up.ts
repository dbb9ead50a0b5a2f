// A chunk of a send that was stopped is closed with what is known of it. Who was not handed to a provider by then counts
// as skipped, so that the totals add up to the audience (docs/decisions/0089).
import { SECOND } from "../../../shared/kernel/clock.ts";
import { isPseudonym } from "../../../shared/kernel/ids.ts";
import { findWritten } from "../../../shared/providers/in-app.ts";
import { endRound, unitsOf } from "../../../shared/rules/progress.ts";
import { cancelRest, noteReached } from "../../../shared/rules/progress-notes.ts";
import type { Chunk } from "../../../shared/store/sends/chunks/chunks.ts";
import { claimChunk } from "../../../shared/store/sends/chunks/claims.ts";
import type { Lease } from "../../../shared/store/sends/chunks/leases.ts";
import { SINGLE_RANGE } from "../../../shared/store/sends/chunks/range-names.ts";
import type { Tally } from "../../../shared/store/sends/chunks/tallies.ts";
import type { Job } from "../../../shared/store/sends/jobs/jobs.ts";
import { areInboxes, isToInboxes } from "../../../shared/store/sends/jobs/single.ts";
import { tallyOfInbox, tallyOfUnbegun } from "../../../shared/store/sends/jobs/stopped.ts";
import type { ChunkRef } from "../../../shared/store/sends/ledger/touches.ts";
import { targetOf } from "./addresses.ts";
import { reachedBefore } from "./inboxes.ts";
import { createAssignments, recordHeldOut, timesOf } from "./round-start.ts";
import { addresseesOf, type ChunkState, takeChunk, type WorkerContext } from "./rounds.ts";
import { talliedBy } from "./tally.ts";

type WoundUp =
  | { retryInMs: number }
  | (Partial<Pick<Lease, "deferred" | "reported">> & { owner: string; tally: Tally });

/** @returns what the chunk is to be closed with; or when to try again, while another worker may be at it. */
export async function windUp(context: WorkerContext, chunkRef: ChunkRef, found: ChunkState): Promise<WoundUp> {
  const { job, chunk, claim } = found;
  if (claim && !areInboxes(job, chunk.recipients)) return windUpProvided(context, chunkRef, found);
  const { store, ids, clock } = context;
  const claiming = await claimChunk(store, chunkRef, ids.uuid());
  if ("busyUntil" in claiming) return { retryInMs: claiming.busyUntil + 1 - clock.now() };
  // Another worker has closed it or has been at it, since it was read.
  if ("closed" in claiming || (!claim && claiming.claim.repeats)) return { retryInMs: SECOND };
  const { owner, at } = claiming.claim;
  if (!claim) return { owner, tally: tallyOfUnbegun(chunk) };
  await recordHeldOut(store, chunkRef, at, chunk);
  return { owner, tally: tallyOfInbox(chunk, (await writtenOf(context, chunkRef, at, chunk)).size) };
}

/** The same of a send whose recipients are on its row. No worker writes inbox messages of its round any more. */
export async function windUpSingle(
  context: WorkerContext,
  job: Job,
  chunk: Chunk,
  round: number,
): Promise<{ retryInMs: number } | { as: Lease | { round: number }; tally: Tally }> {
  const chunkRef = { job: job.id, range: SINGLE_RANGE, n: 0 };
  if (isToInboxes(job))
    return { as: { round }, tally: tallyOfInbox(chunk, (await writtenOf(context, chunkRef, round, chunk)).size) };
  if (!job.claim) return { as: { round }, tally: tallyOfUnbegun(chunk) };
  const end = await windUpProvided(context, chunkRef, { job, chunk, claim: job.claim });
  return "retryInMs" in end ? end : { as: end, tally: end.tally };
}

/** The subscribers whose inbox the worker that had the chunk before has reached. */
function writtenOf({ store }: WorkerContext, { job }: ChunkRef, at: number, { recipients }: Chunk) {
  const living = recipients.map(({ subscriber }) => subscriber).filter((id) => !isPseudonym(id));
  return findWritten(store, job, at, living);
}

/** As when a worker stops a round: what was claimed and has no outcome is unconfirmed, the rest is not tried. */
async function windUpProvided(
  context: WorkerContext,
  chunkRef: ChunkRef,
  found: ChunkState,
): Promise<{ retryInMs: number } | (Lease & { tally: Tally })> {
  const { store, clock } = context;
  const addressees = addresseesOf(found.chunk);
  const held = await takeChunk(context, chunkRef, found, addressees, { isStopped: true });
  if ("retryInMs" in held) return held;
  const { lease, progress } = held;
  // A worker that stopped before it claimed its group may have written its inbox messages.
  const units = unitsOf(progress, addressees).slice(progress.to);
  const inbox = units.filter((unit) => targetOf(found.chunk, unit).channel === "in_app");
  for (const unit of await reachedBefore(store, { ...found, chunkRef, ...timesOf(held) }, inbox))
    noteReached(progress, unit, "in_app");
  endRound(progress, addressees, clock.now());
  await createAssignments({ store, chunkRef, found }, held).record();
  cancelRest(progress);
  return { ...lease, tally: talliedBy(found, progress) };
}
