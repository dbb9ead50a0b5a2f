// The start of a round: its time is fixed in a claim before anything is written of it, and the first round records in
// the ledger who is held out and who waits (AMB-109, AMB-110).
import { type Progress, unitsOf, untried } from "../../../shared/rules/progress.ts";
import { progressText } from "../../../shared/rules/progress-text.ts";
import type { Chunk } from "../../../shared/store/sends/chunks/chunks.ts";
import { advance } from "../../../shared/store/sends/chunks/claims.ts";
import type { Lease } from "../../../shared/store/sends/chunks/leases.ts";
import { assignmentWrite, type ChunkRef, type RoundTimes } from "../../../shared/store/sends/ledger/touches.ts";
import { namesNow } from "../../../shared/store/subscribers/ledger-erasure.ts";
import { recipientOf, targetOf } from "./addresses.ts";
import type { Work, WorkerContext } from "./rounds.ts";
import type { WaitQueue } from "./wait-queue.ts";

export interface LeasedProgress {
  lease: Lease;
  progress: Progress;
}

/** The times of the round. Claims written before rounds had a time of their own have that of their first claim. */
export const timesOf = ({ lease, progress }: LeasedProgress): RoundTimes => ({
  at: progress.at ?? lease.at,
  assignedAt: lease.at,
});

export interface Assignments {
  /** Writes the rows of those that have none yet. */
  record(): Promise<void>;
}

/**
 * Begins or continues a round. A repeat writes the same rows, because the time is in the claim by then.
 * @returns undefined if another worker has the chunk. `held` has the newest lease.
 */
export async function beginRound(
  work: Work,
  held: LeasedProgress,
  waiting: WaitQueue,
): Promise<Assignments | undefined> {
  const { store, chunkRef, addressees, clock, found } = work;
  const { lease, progress } = held;
  const isNew = lease.step === 0;
  const isFixed = !isNew && (progress.at !== undefined || isBegunWithoutTime(progress));
  progress.at ??= isNew || isFixed ? lease.at : clock.now();
  waiting.putOff(progress);
  const assignments = createAssignments(work, held);
  // Where caps count, the inbox is written after the claim of a group, which knows the time.
  const writesInbox =
    !found.job.deliverySettings?.caps &&
    unitsOf(progress, addressees).some((unit) => targetOf(found.chunk, unit).channel === "in_app");
  if (!isFixed && (writesInbox || assignments.missing() > 0)) {
    const claimed = await advance(store, chunkRef, lease, progressText(progress));
    if (!claimed || !("owner" in claimed)) return undefined;
    held.lease = claimed;
  }
  await assignments.record();
  return assignments;
}

const isBegunWithoutTime = ({ to, work }: Progress): boolean => to > 0 || work === undefined;

/** Adds the control group of a chunk to the ledger. */
export const recordHeldOut = (
  store: WorkerContext["store"],
  chunkRef: ChunkRef,
  at: number,
  { heldOut, plannedAt }: Pick<Chunk, "heldOut" | "plannedAt">,
): Promise<void> => record(store, { chunkRef, at, plannedAt }, { held_out: heldOut, assigned: [] });

async function record(
  store: WorkerContext["store"],
  { chunkRef, at, plannedAt }: { chunkRef: ChunkRef; at: number; plannedAt: number },
  ids: Record<"held_out" | "assigned", readonly string[]>,
): Promise<void> {
  const names = await namesNow(store, chunkRef, plannedAt, [...ids.held_out, ...ids.assigned]);
  const writes = (["held_out", "assigned"] as const).flatMap((state) =>
    ids[state].map((id) => assignmentWrite(at, chunkRef, names.get(id) ?? id, state)),
  );
  await store.writeAll(writes);
}

export function createAssignments(
  { store, chunkRef, found: { job, chunk } }: Pick<Work, "store" | "chunkRef" | "found">,
  held: LeasedProgress,
) {
  const { progress } = held;
  const { at, assignedAt } = timesOf(held);
  const isFirstRound = at === assignedAt;
  const recorded = new Set<number>();

  const heldOut = () => (progress.recorded ? [] : chunk.heldOut);
  /** Only lift asks for them, and it compares with a control group. */
  const waiting = () =>
    isFirstRound && job.holdout_percentage > 0 ? [...untried(progress)].filter((one) => !recorded.has(one)) : [];

  return {
    missing: () => heldOut().length + waiting().length,
    record: async () => {
      const late = waiting();
      const assigned = late.map((recipient) => recipientOf(chunk, { recipient }).subscriber);
      const { plannedAt } = chunk;
      await record(store, { chunkRef, at: assignedAt, plannedAt }, { held_out: heldOut(), assigned });
      for (const recipient of late) recorded.add(recipient);
      progress.recorded = true;
    },
  };
}
