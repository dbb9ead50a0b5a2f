// Closes a chunk of a stopped send with the known outcomes. A recipient who was not handed to a provider by then counts
// as skipped, so that the totals add up to the audience (docs/decisions/0089).
import { SECOND } from "../../../shared/kernel/clock.ts";
import { cancelRest, noteReached } from "../../../shared/rules/progress-notes.ts";
import { endRound, unitsOf } from "../../../shared/rules/progress-rounds.ts";
import { claimChunk } from "../../../shared/store/sends/chunks/claims.ts";
import type { Hold } from "../../../shared/store/sends/chunks/closing.ts";
import { tallyOfInbox, tallyOfUnbegun } from "../../../shared/store/sends/jobs/stopped.ts";
import { ROUND_OVER_MS, writtenIn } from "./deliver-inbox.ts";
import { reachedBefore } from "./inboxes.ts";
import { createAssignments, recordHeldOut } from "./round-start.ts";
import { takeChunk } from "./take.ts";
import { talliedBy } from "./tally.ts";
import { closeWith, type End, isInbox, isSingle, targetOf, timesOf, type Work } from "./work.ts";

/** Closes a chunk of a send that was stopped. */
export async function windUp(work: Work): Promise<End> {
  const { claim, chunk } = work;
  if (claim && !isInbox(work)) return windUpProvided(work);
  const taken = isSingle(work) ? takeRound(work) : await takeClaim(work);
  switch (taken.kind) {
    case "wait":
      return taken;
    case "unbegun":
      return closeWith(work, taken.hold, tallyOfUnbegun(chunk), { isStopped: true });
    case "begun": {
      await recordHeldOut(work, taken.at);
      const written = await writtenIn(work, taken.at);
      return closeWith(work, taken.hold, tallyOfInbox(chunk, written), { isStopped: true });
    }
  }
}

type TakenChunk =
  | { kind: "unbegun"; hold: Hold }
  | { kind: "begun"; hold: Hold; at: number }
  | { kind: "wait"; ms: number };

async function takeClaim({ store, ids, clock, chunkRef, claim }: Work): Promise<TakenChunk> {
  const claiming = await claimChunk(store, chunkRef, ids.uuid());
  if (claiming.kind === "busy") return { kind: "wait", ms: claiming.until + 1 - clock.now() };
  // Another worker has closed the chunk or worked on it since it was read.
  if (claiming.kind === "closed" || (!claim && claiming.repeats)) return { kind: "wait", ms: SECOND };
  const hold: Hold = { kind: "lease", lease: claiming.lease };
  return claim ? { kind: "begun", hold, at: claiming.lease.at } : { kind: "unbegun", hold };
}

function takeRound(work: Work): TakenChunk {
  const { round: at = 0 } = work.job.direct ?? {};
  const hold: Hold = { kind: "round", at };
  if (!isInbox(work)) return { kind: "unbegun", hold };
  // A worker of the round may be about to write its messages.
  const ms = at + ROUND_OVER_MS - work.clock.now();
  return ms > 0 ? { kind: "wait", ms } : { kind: "begun", hold, at };
}

/** Winds up as a worker stops a round: a claimed unit without an outcome is unconfirmed, and the rest is not tried. */
async function windUpProvided(work: Work): Promise<End> {
  const { clock, addressees, chunk } = work;
  const taken = await takeChunk(work, { isStopped: true });
  if (taken.kind === "wait") return taken;
  const { leased } = taken;
  const { lease, progress } = leased;

  // A worker that stopped before it claimed its group may have written its inbox messages.
  const units = unitsOf(progress, addressees).slice(progress.to);
  const inbox = units.filter((unit) => targetOf(chunk, unit).channel === "in_app");
  const reached = await reachedBefore(work, timesOf(leased), inbox);
  for (const unit of reached) noteReached(progress, unit, "in_app");

  endRound(progress, addressees, clock.now());
  await createAssignments(work, leased).record();
  cancelRest(progress);
  return closeWith(work, { kind: "lease", lease }, talliedBy(chunk, progress), { isStopped: true });
}
