// The start of a round: a claim fixes its time before any row is written, and the first round records the control group
// and the waiting recipients in the ledger (AMB-109, AMB-110).
import type { Progress } from "../../../shared/rules/progress.ts";
import { unitsOf } from "../../../shared/rules/progress-rounds.ts";
import { progressText } from "../../../shared/rules/progress-text.ts";
import { advance } from "../../../shared/store/sends/chunks/claims.ts";
import { assignmentWrite } from "../../../shared/store/sends/ledger/touches.ts";
import { namesNow } from "../../../shared/store/subscribers/ledger-erasure.ts";
import { type LeasedChunk, recipientOf, targetOf, timesOf, type WaitQueue, type Work } from "./work.ts";

export interface Assignments {
  /** Writes the rows that do not exist yet. */
  record(): Promise<void>;
}

/**
 * Begins or continues a round; another worker may have the chunk. A repeat writes the same rows, because the claim has
 * the time.
 */
export async function beginRound(
  work: Work,
  leased: LeasedChunk,
  waiting: WaitQueue,
): Promise<{ kind: "begun"; assignments: Assignments } | { kind: "lost" }> {
  const { store, chunkRef, addressees, clock, job, chunk } = work;
  const { lease, progress } = leased;
  const isNew = lease.step === 0;
  const isFixed = !isNew && progress.at !== undefined;
  progress.at ??= isNew ? lease.at : clock.now();
  waiting.putOff(progress);
  const assignments = createAssignments(work, leased);
  // If caps count, the inbox is written after the claim of a group, which knows the time.
  const writesInbox =
    !job.deliverySettings?.caps &&
    unitsOf(progress, addressees).some((unit) => targetOf(chunk, unit).channel === "in_app");
  if (!isFixed && (writesInbox || assignments.missing() > 0)) {
    const claimed = await advance(store, { chunkRef, lease, progress: progressText(progress) });
    if (claimed.kind !== "claimed") return { kind: "lost" };
    leased.lease = claimed.lease;
  }
  await assignments.record();
  return { kind: "begun", assignments };
}

/** Adds the control group of a chunk to the ledger. */
export const recordHeldOut = (work: Work, at: number): Promise<void> =>
  record(work, at, { held_out: work.chunk.heldOut, assigned: [] });

async function record(
  { store, chunkRef, chunk }: Work,
  at: number,
  ids: Record<"held_out" | "assigned", readonly string[]>,
): Promise<void> {
  const names = await namesNow(store, chunkRef, chunk.plannedAt, [...ids.held_out, ...ids.assigned]);
  const writes = (["held_out", "assigned"] as const).flatMap((state) =>
    ids[state].map((id) => assignmentWrite(at, chunkRef, names.get(id) ?? id, state)),
  );
  await store.writeAll(writes);
}

/** The rows of the ledger for the control group, and for recipients that the first round did not try. */
export function createAssignments(work: Work, leased: LeasedChunk) {
  const { job, chunk } = work;
  const { progress } = leased;
  const { at, assignedAt } = timesOf(leased);
  const isFirstRound = at === assignedAt;
  const recorded = new Set<number>();

  const heldOut = () => (progress.recorded ? [] : chunk.heldOut);
  /** Only lift needs the waiting recipients, and it compares with a control group. */
  const waiting = () =>
    isFirstRound && job.holdout_percentage > 0
      ? [...untried(progress)].filter((subscriber) => !recorded.has(subscriber))
      : [];

  return {
    missing: () => heldOut().length + waiting().length,
    record: async () => {
      const late = waiting();
      const assigned = late.map((recipient) => recipientOf(chunk, { recipient }).subscriber);
      await record(work, assignedAt, { held_out: heldOut(), assigned });
      for (const recipient of late) recorded.add(recipient);
      progress.recorded = true;
    },
  };
}

/** The recipients who were not tried yet, in the first round. */
const untried = ({ next }: Progress): Set<number> =>
  new Set(next.filter(({ tries }) => tries.length === 0).map(({ recipient }) => recipient));
