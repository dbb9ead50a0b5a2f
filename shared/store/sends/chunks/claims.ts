// Claims of chunks and of the groups in them: one conditional write each, with the progress made by then
// (docs/decisions/0013). The claim of a chunk that is on the row of its job is there too, so that one write dispatches the
// job and claims its message (docs/decisions/0046).
import { jobMoves } from "../../../rules/job-states.ts";
import { absent, all, any, asRead, below, type Condition, is, oneOf } from "../../conditions.ts";
import type { Store, StoreReader } from "../../context.ts";
import { countedOutcomeWrites, outcomesOf } from "../../insights/hours.ts";
import { type AnyItem, changeItem, type ItemWrite } from "../../item.ts";
import { toJson } from "../../json-text.ts";
import type { Item } from "../../model.ts";
import { type Failure, failuresOf, happened, onConditionFailed } from "../../refusals.ts";
import { ClaimItem, RangeItem } from "../audience/audience-items.ts";
import { JobItem } from "../jobs/job-items.ts";
import type { Category } from "../jobs/job-spec.ts";
import type { ChunkRef } from "../ledger/touches.ts";
import { type ClaimState, claimOnJob, LEASE_MS, type Lease, newLease } from "./leases.ts";
import { isOnJob } from "./range-names.ts";
import { passedNow, timedAddends } from "./ranges.ts";
import { addends, beyond, type Tally } from "./tallies.ts";

/** Where the claim of a chunk is stored. */
interface Home {
  item: AnyItem<"workspace">;
  /** No worker has had the chunk. */
  isUnclaimed: Condition;
  isOpen: Condition;
  /** The attributes of every claim beside the lease. */
  says: { status?: "processing" };
}

const ownRow: Home = { item: ClaimItem, isUnclaimed: absent("owner"), isOpen: absent("closed"), says: {} };

/** The first claim dispatches the job. */
const jobRow: Home = {
  item: JobItem,
  isUnclaimed: all(oneOf("status", jobMoves.dispatch.from), absent("owner")),
  isOpen: is("status", "processing"),
  says: { status: "processing" },
};

const homeOf = (chunkRef: ChunkRef): Home => (isOnJob(chunkRef) ? jobRow : ownRow);

/** The lease is still the newest of its chunk. */
export const isHeld = <A extends string>({ owner, step }: Lease, isOpen: Condition<A>) =>
  all<A | "owner" | "step">(isOpen, is("owner", owner), is("step", step));

/** `busy`: another worker has it until then. `repeats`: another worker had it, and may have done a part of it. */
type ClaimResult = { kind: "claimed"; lease: Lease; repeats: boolean } | { kind: "closed" } | Busy;
type Busy = { kind: "busy"; until: number };

/** Takes a chunk of inboxes for the time of a lease. The lease of another worker is respected until it ends. */
export function claimChunk(store: Store, chunkRef: ChunkRef, owner: string): Promise<ClaimResult> {
  const now = store.clock.now();
  return store
    .change(
      ClaimItem,
      chunkRef,
      // Every repeat makes the same message ids of the time of the first claim.
      { set: { owner, lease: now + LEASE_MS }, initial: { at: now } },
      all(absent("closed"), any(absent("owner"), is("owner", owner), below("lease", now))),
    )
    .then(
      ({ at }): ClaimResult => ({ kind: "claimed", lease: newLease(owner, at), repeats: at !== now }),
      onConditionFailed(
        ClaimItem,
        (old): ClaimResult => (old?.closed ? { kind: "closed" } : { kind: "busy", until: old?.lease ?? now }),
      ),
    );
}

/**
 * Begins a new round of the inboxes on the row of a job, now. Where one has begun since the former one was read, by another
 * worker or by this very write whose reply was lost, it is joined (docs/decisions/0028).
 */
export function beginRound(
  store: Store,
  job: string,
  former: number,
): Promise<{ kind: "begun"; at: number } | { kind: "closed" }> {
  const round = store.clock.now();
  return store.change(JobItem, { job }, { set: { round } }, all(is("status", "queued"), is("round", former))).then(
    () => ({ kind: "begun", at: round }),
    onConditionFailed(JobItem, (old) =>
      old?.status === "queued" && old.round !== undefined ? { kind: "begun", at: old.round } : { kind: "closed" },
    ),
  );
}

export async function findClaims(store: StoreReader, chunkRefs: readonly ChunkRef[]): Promise<ClaimState[]> {
  const inRanges = chunkRefs.filter((chunkRef) => !isOnJob(chunkRef));
  const [jobs, claims] = await Promise.all([
    store.getAll(JobItem, chunkRefs.filter(isOnJob)),
    store.getAll(ClaimItem, inRanges),
  ]);
  return [...jobs.map((job) => job && claimOnJob(job)), ...claims].filter((claim) => claim !== undefined);
}

/** The lease after a claim; or another worker has the chunk; or the other writes were refused, one place for each. */
export type AdvanceResult =
  | { kind: "claimed"; lease: Lease }
  | { kind: "lost" }
  | { kind: "refused"; failures: readonly Failure[] };

/** A chunk that a worker has the lease of. */
interface HeldChunk {
  chunkRef: ChunkRef;
  lease: Lease;
  /** Its progress, see `progressText`. */
  progress: string;
}

/** Claims the next group. `extraItems` are written with it, all or nothing. */
export async function advance(
  store: Store,
  { chunkRef, lease, progress }: HeldChunk,
  extraItems: readonly ItemWrite<"workspace">[] = [],
): Promise<AdvanceResult> {
  const { item, says, when, after, isMine } = nextClaim(chunkRef, lease);
  const set = { ...says, lease: store.clock.now() + LEASE_MS, progress };
  const change = { set, initial: { at: lease.at }, remove: ["waits"] };
  const claimed: AdvanceResult = { kind: "claimed", lease: after };
  const refused = (old: Item | undefined): AdvanceResult => (isMine(old) ? claimed : { kind: "lost" });
  if (extraItems.length === 0)
    return store.change(item, chunkRef, change, when).then(() => claimed, onConditionFailed(refused));
  const [claim, ...failures] = await failuresOf(store, [changeItem(item, chunkRef, change, when), ...extraItems]);
  if (claim) return refused(claim.old);
  return failures.length === 0 ? claimed : { kind: "refused", failures };
}

/** How a chunk is released: any worker may continue from `waits` on. */
interface Release {
  waits: number;
  /** Recipients that wait for the end of quiet hours. */
  deferred: number;
  tally: Tally;
  category: Category;
}

/**
 * Releases a chunk with its progress, unless another worker has it. Those who wait are counted at once, and before a wait
 * also the outcomes of the others, which count in this hour: in the range, or on the row of the job.
 */
export async function release(
  store: Store,
  { chunkRef, lease, progress }: HeldChunk,
  { waits, deferred, tally, category }: Release,
): Promise<void> {
  const { item, says, when } = nextClaim(chunkRef, lease);
  const reported = waits > store.clock.now() ? addends(tally) : lease.reported;
  const set = { ...says, lease: 0, progress, waits, deferred, reported: toJson(reported) };
  const added = beyond(reported, lease.reported);
  const outcomes = outcomesOf(added);
  const change = { set, initial: { at: lease.at }, ...(isOnJob(chunkRef) && { add: added }) };
  const unit = isOnJob(chunkRef) ? chunkRef.job : `${chunkRef.job}:${chunkRef.range}:${chunkRef.n}`;
  const more = { ...added, ...beyond({ deferred }, { deferred: lease.deferred }) };
  const range = isOnJob(chunkRef) ? [] : rangeWrites(store, chunkRef, more);
  const hours = countedOutcomeWrites(store, unit, category, outcomes);
  const counted = [...range, ...hours];
  await happened(
    counted.length === 0
      ? store.change(item, chunkRef, change, when)
      : store.transact([changeItem(item, chunkRef, change, when), ...counted]),
  );
}

/** The counts of a waiting chunk in its range. */
function rangeWrites(store: Store, chunkRef: ChunkRef, more: Record<string, number>): ItemWrite<"workspace">[] {
  if (Object.keys(more).length === 0) return [];
  const add = { ...more, ...timedAddends(outcomesOf(more)) };
  return [changeItem(RangeItem, chunkRef, { add, ...passedNow(store, more) })];
}

/**
 * Continues a chunk whose lease has ended, from the step that was read: a late request cannot take it after another
 * worker has worked on it.
 */
export function takeOver(
  store: Store,
  chunkRef: ChunkRef,
  owner: string,
  { step }: Pick<ClaimState, "step">,
): Promise<{ kind: "taken"; claim: ClaimState } | { kind: "lost" }> {
  const { item, isOpen } = homeOf(chunkRef);
  const now = store.clock.now();
  const isAsRead = asRead("step", step);
  const when = all<string>(isOpen, below("lease", now), isAsRead);
  return store.change(item, chunkRef, { set: { owner, lease: now + LEASE_MS } }, when).then(
    (claim) => ({ kind: "taken", claim }),
    onConditionFailed(item, (old) => (old?.owner === owner ? { kind: "taken", claim: old } : { kind: "lost" })),
  );
}

/** A worker that repeats its own write recognizes it by owner and step (docs/decisions/0028). */
function nextClaim(chunkRef: ChunkRef, lease: Lease) {
  const { item, isUnclaimed, isOpen, says } = homeOf(chunkRef);
  const { owner, step } = lease;
  const after: Lease = { ...lease, step: step + 1 };
  return {
    item,
    after,
    says: { ...says, owner, step: after.step },
    when: step === 0 ? isUnclaimed : isHeld(lease, isOpen),
    isMine: (old: Item | undefined) => old?.owner === owner && old.step === after.step,
  };
}
