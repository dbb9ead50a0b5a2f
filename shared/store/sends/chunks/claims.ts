// Claims of chunks and of the groups in them: one conditional write each, with the progress made by then
// (docs/decisions/0013).

import { absent, all, any, below, is, lessThan } from "../../conditions.ts";
import type { Store, StoreReader } from "../../context.ts";
import { countedOutcomeWrites, outcomesOf } from "../../insights/hours.ts";
import { type ConditionOf, changeItem, type ItemWrite, type RowOf } from "../../item.ts";
import { fromJson, toJson } from "../../json-text.ts";
import { oldRow, onConditionFailed, onTransactionCanceled } from "../../refusals.ts";
import { ClaimItem, RangeItem } from "../audience/audience-items.ts";
import { advanceOnJob, claimOnJob, releaseOnJob, takeOverOnJob } from "../jobs/job-claims.ts";
import { JobItem } from "../jobs/job-items.ts";
import type { ChunkRef } from "../ledger/touches.ts";
import { type Advanced, type ClaimState, LEASE_MS, type Lease, type Released } from "./leases.ts";
import { SINGLE_RANGE } from "./range-names.ts";
import { timedAddends } from "./ranges.ts";
import { addends, beyond, type Tally } from "./tallies.ts";

type ClaimRow = RowOf<typeof ClaimItem>;

/** Whether the chunk is the only recipient of a job, whose row has the claim too. */
const isOnJob = ({ range }: ChunkRef): boolean => range === SINGLE_RANGE;

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

/** The claims of chunks, as they are stored. */
export async function findClaims(store: StoreReader, chunkRefs: readonly ChunkRef[]): Promise<ClaimState[]> {
  const [onJobs, others] = [chunkRefs.filter(isOnJob), chunkRefs.filter((chunkRef) => !isOnJob(chunkRef))];
  const [jobs, claims] = await Promise.all([store.getAll(JobItem, onJobs), store.getAll(ClaimItem, others)]);
  return [...jobs.map((job) => job && claimOnJob(job)), ...claims].filter((claim) => claim !== undefined);
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
): Promise<Advanced> {
  if (isOnJob(chunkRef)) return advanceOnJob(store, chunkRef.job, lease, progress, extraItems);
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
  { waits, deferred, tally, category }: Released,
): Promise<boolean> {
  if (isOnJob(chunkRef))
    return releaseOnJob(store, chunkRef.job, lease, progress, { waits, deferred, tally, category });
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
  const counted = changeItem(RangeItem, chunkRef, {
    add: { ...more, ...timedAddends(outcomes) },
    ...passedNow(store, more),
  });
  const hours = countedOutcomeWrites(store, `${chunkRef.job}:${chunkRef.range}:${chunkRef.n}`, category, outcomes);
  return store.transact([changeItem(ClaimItem, chunkRef, change, when), counted, ...hours]).then(
    () => true,
    onTransactionCanceled(([claim]) => isOurs(oldRow(ClaimItem, claim))),
  );
}

/** The range notes when a chunk of it was worked through once, where a brake counts that. */
const passedNow = ({ clock }: Pick<Store, "clock">, added: Record<string, number>) =>
  added["pass:chunks"] ? { set: { passed_at: clock.now() } } : {};

/**
 * Continues a chunk whose lease has ended, from the step that was read: a late request does not take it after another
 * worker has been at it. @returns its row as it is then; undefined if another worker was faster.
 */
export function takeOver(
  store: Store,
  chunkRef: ChunkRef,
  owner: string,
  { step }: Pick<ClaimState, "step">,
): Promise<ClaimState | undefined> {
  if (isOnJob(chunkRef)) return takeOverOnJob(store, chunkRef.job, owner, step);
  const now = store.clock.now();
  const isAsRead: ConditionOf<typeof ClaimItem> = step === undefined ? absent("step") : is("step", step);
  const when = all(absent("closed"), below("lease", now), isAsRead);
  return store.change(ClaimItem, chunkRef, { set: { owner, lease: now + LEASE_MS } }, when).then(
    (row) => row,
    onConditionFailed(ClaimItem, (old) => (old?.owner === owner ? old : undefined)),
  );
}

/** What a lease is restored from when a chunk is taken over. */
export const leaseOf = ({ owner, step = 0, at, deferred = 0, told }: ClaimState): Lease => ({
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
  const counted = { add: { ...rest, chunks_closed: 1 }, ...passedNow(store, rest) };
  const attempt = (when: ConditionOf<typeof RangeItem>): Promise<"closed" | "refused"> =>
    store.transact([closed, changeItem(RangeItem, chunkRef, counted, when)]).then(
      () => "closed" as const,
      onTransactionCanceled(() => "refused" as const),
    );
  if (!isFinal && (await attempt(all(absent("closed"), isNotLast))) === "closed") return false;
  await attempt(absent("closed"));
  return true;
}

/** Other chunks will close after this one, or their number is not known yet: then the planner completes the range. */
const isNotLast: ConditionOf<typeof RangeItem> = any(absent("last"), lessThan("chunks_closed", "last"));
