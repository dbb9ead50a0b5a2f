// Claims a provider chunk that has no worker, or whose worker has released it or stopped.
import { SECOND } from "../../../shared/kernel/clock.ts";
import { newProgress } from "../../../shared/rules/progress.ts";
import { progressOf } from "../../../shared/rules/progress-text.ts";
import { takeOver } from "../../../shared/store/sends/chunks/claims.ts";
import { type ClaimState, leaseOf, newLease } from "../../../shared/store/sends/chunks/leases.ts";
import { withFigures, withoutCanaryWait } from "./brake.ts";
import { recover } from "./recovery.ts";
import type { LeasedChunk, Work } from "./work.ts";

/** Claims the chunk. @param isStopped the send was stopped, so the chunk is claimed before its time too */
export async function takeChunk(
  work: Work,
  { isStopped = false } = {},
): Promise<{ kind: "taken"; leased: LeasedChunk } | { kind: "wait"; ms: number }> {
  const { store, clock, ids, chunkRef, job, claim } = work;
  const now = clock.now();
  const owner = ids.uuid();
  if (!claim)
    return { kind: "taken", leased: { lease: newLease(owner, now), progress: withFigures(job, newProgress()) } };
  if (claim.lease >= now) return { kind: "wait", ms: claim.lease + 1 - now };

  const readFrom = (text: string | undefined) => withoutCanaryWait(job, progressOf(text), now);
  const waiting = readFrom(claim.progress);
  const due = waiting.to === 0 && waiting.work ? Math.min(...waiting.work.map((unit) => unit.due)) : 0;
  if (due > now && !isStopped) return { kind: "wait", ms: due - now };

  const taken = await takeOver(store, chunkRef, owner, claim);
  if (taken.kind === "lost") return { kind: "wait", ms: SECOND };

  const leased = { lease: leaseOf(taken.claim), progress: withFigures(job, readFrom(newestText(work, taken.claim))) };
  await recover(work, leased, { isStopped });
  return { kind: "taken", leased };
}

/** The progress that a failed worker handed over in the message, unless the chunk has advanced since. */
const newestText = ({ message: { outcomes } }: Work, claim: ClaimState): string | undefined =>
  outcomes !== undefined && outcomes.step === claim.step ? outcomes.progress : claim.progress;
