// Claims of chunks and of the groups in them: one conditional write each, with the progress made by then
// (docs/decisions/0013).
import { SECOND } from "../../clock.ts";
import type { Store } from "../../resources.ts";
import { absent, all, any, below, is, lessThan } from "../conditions.ts";
import { countedOutcomeWrites, outcomesOf } from "../insights/hours.ts";
import { type ConditionOf, changeItem, fromJson, type ItemWrite, type RowOf, toJson } from "../item.ts";
import { type Failure, oldRow, onConditionFailed, onTransactionCanceled } from "../refusals.ts";
import { ClaimItem, RangeItem } from "./audience-items.ts";
import type { Category } from "./job-items.ts";
import { timedAddends } from "./ranges.ts";
import { addends, beyond, type Tally } from "./tallies.ts";
import type { ChunkRef } from "./touches.ts";

/** A worker's time limit and 10 s: when it is over, no worker is working on the group any more. */
const LEASE_MS = 70 * SECOND;

type ClaimRow = RowOf<typeof ClaimItem>;

/** What one worker holds of a chunk. */
export interface Lease {
  owner: string;
  /** Counts the writes, so that a worker recognizes its own write when it repeats it. */
  step: number;
  /** When the chunk was first claimed. */
  at: number;
  /** Recipients of the chunk that the range counts as waiting for the end of quiet hours. */
  deferred: number;
  /** What the range counts of the chunk already, before a long wait. */
  reported: Record<string, number>;
}

const isMine = ({ owner, step }: Lease) => all(is("owner", owner), is("step", step), absent("closed"));

export interface Claim {
  owner: string;
  /** When the chunk was first claimed: every repeat makes the same message ids of it. */
  at: number;
  /** Another worker claimed it before, and may have done a part of it. */
  repeats: boolean;
}

export type Claiming = { claim: Claim } | { closed: true } | { busyUntil: number };

/** Takes a chunk for the time of a lease. The lease of another worker is respected until it ends. */
export function claimChunk(store: Store, chunkRef: ChunkRef, owner: string): Promise<Claiming> {
  const now = store.clock.now();
  return store
    .change(
      ClaimItem,
      chunkRef,
      { set: { owner, lease: now + LEASE_MS }, initial: { at: now } },
      all(absent("closed"), any(absent("owner"), is("owner", owner), below("lease", now))),
    )
    .then(
      ({ at }): Claiming => ({ claim: { owner, at, repeats: at !== now } }),
      onConditionFailed(
        ClaimItem,
        (old): Claiming => (old?.closed ? { closed: true } : { busyUntil: old?.lease ?? Number.NaN }),
      ),
    );
}

/**
 * Claims the next group. `extraItems` are written with it, all or nothing.
 * @returns the lease after it; undefined if another worker has the chunk; or, if only conditions of `extraItems` failed,
 * their failures, one place for each.
 */
export async function advance(
  store: Store,
  chunkRef: ChunkRef,
  lease: Lease,
  progress: string,
  extraItems: readonly ItemWrite<"workspace">[] = [],
): Promise<Lease | { refused: readonly Failure[] } | undefined> {
  const { owner, step, at } = lease;
  const after: Lease = { ...lease, step: step + 1 };
  const set = { owner, lease: store.clock.now() + LEASE_MS, step: after.step, progress };
  const change = { set, initial: { at }, remove: ["waits"] as const };
  const when: ConditionOf<typeof ClaimItem> = step === 0 ? absent("owner") : isMine(lease);
  const mine = (old: ClaimRow | undefined) => (old?.owner === owner && old.step === after.step ? after : undefined);
  if (extraItems.length === 0)
    return store.change(ClaimItem, chunkRef, change, when).then(() => after, onConditionFailed(ClaimItem, mine));
  return store.transact([changeItem(ClaimItem, chunkRef, change, when), ...extraItems]).then(
    () => after,
    onTransactionCanceled(([claim, ...refused]) => (claim ? mine(oldRow(ClaimItem, claim)) : { refused })),
  );
}

/**
 * Releases a chunk with its progress: from `waits` on, any worker may continue. `deferred` recipients wait for the end of
 * quiet hours. The range counts them at once, and before a wait also the outcomes of the others, which count in this hour.
 * @returns false if another worker has the chunk.
 */
export async function release(
  store: Store,
  chunkRef: ChunkRef,
  lease: Lease,
  progress: string,
  { waits, deferred, tally, category }: { waits: number; deferred: number; tally: Tally; category: Category },
): Promise<boolean> {
  const { owner, step, at } = lease;
  const isWait = waits > store.clock.now();
  const reported = isWait ? addends(tally) : lease.reported;
  const set = { owner, lease: 0, step: step + 1, progress, waits, deferred, told: toJson(reported) };
  const change = { set, initial: { at } };
  const when: ConditionOf<typeof ClaimItem> = step === 0 ? absent("owner") : isMine(lease);
  const isOurs = (old: ClaimRow | undefined) => old?.owner === owner && old.step === step + 1;
  const more = beyond({ ...reported, deferred }, { ...lease.reported, deferred: lease.deferred });
  if (Object.keys(more).length === 0)
    return store.change(ClaimItem, chunkRef, change, when).then(() => true, onConditionFailed(ClaimItem, isOurs));
  const outcomes = outcomesOf(more);
  const counted = changeItem(RangeItem, chunkRef, { add: { ...more, ...timedAddends(outcomes) } });
  const hours = countedOutcomeWrites(store, `${chunkRef.job}:${chunkRef.range}:${chunkRef.n}`, category, outcomes);
  return store.transact([changeItem(ClaimItem, chunkRef, change, when), counted, ...hours]).then(
    () => true,
    onTransactionCanceled(([claim]) => isOurs(oldRow(ClaimItem, claim))),
  );
}

/** Continues a chunk whose lease has ended. @returns its row as it is then; undefined if another worker was faster. */
export function takeOver(store: Store, chunkRef: ChunkRef, owner: string): Promise<ClaimRow | undefined> {
  const now = store.clock.now();
  return store
    .change(ClaimItem, chunkRef, { set: { owner, lease: now + LEASE_MS } }, all(absent("closed"), below("lease", now)))
    .then(
      (row) => row,
      onConditionFailed(ClaimItem, (old) => (old?.owner === owner ? old : undefined)),
    );
}

/** What a lease is restored from when a chunk is taken over. */
export const leaseOf = ({ owner, step = 0, at, deferred = 0, told }: ClaimRow): Lease => ({
  owner,
  step,
  at,
  deferred,
  reported: told ? fromJson(told) : {},
});

interface Closing extends Pick<Lease, "owner" | "deferred" | "reported"> {
  isFinal: boolean;
}

/**
 * Closes a chunk into its range, once: both change together or not at all. `isFinal`: it is the last chunk of its range.
 * @returns whether the range may be complete with it, or was closed by another worker.
 */
export async function closeChunk(
  store: Store,
  chunkRef: ChunkRef,
  { owner, isFinal, deferred, reported }: Closing,
  tally: Tally,
): Promise<boolean> {
  const added = addends(tally);
  const rest = { ...beyond(added, reported), ...(deferred > 0 && { deferred: -deferred }) };
  const closed = changeItem(
    ClaimItem,
    chunkRef,
    { set: { closed: true }, add: added, remove: ["progress", "waits", "deferred", "told"] },
    all(is("owner", owner), absent("closed")),
  );
  const attempt = (when: ConditionOf<typeof RangeItem>): Promise<"closed" | "refused"> =>
    store.transact([closed, changeItem(RangeItem, chunkRef, { add: { ...rest, chunks_closed: 1 } }, when)]).then(
      () => "closed" as const,
      onTransactionCanceled(() => "refused" as const),
    );
  if (!isFinal && (await attempt(all(absent("closed"), isNotLast))) === "closed") return false;
  await attempt(absent("closed"));
  return true;
}

/** Other chunks will close after this one, or their number is not known yet: then the planner completes the range. */
const isNotLast: ConditionOf<typeof RangeItem> = any(absent("last"), lessThan("chunks_closed", "last"));
