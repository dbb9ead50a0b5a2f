// Claims of sends whose recipient is on the row of the job: the claim is there too, so that one write dispatches the job
// and claims its message, and its end needs no row of a chunk or a range (docs/decisions/0046).

import { jobMoves } from "../../../rules/job-states.ts";
import { absent, all, below, is, oneOf } from "../../conditions.ts";
import type { Store } from "../../context.ts";
import { countedOutcomeWrites, outcomesOf } from "../../insights/hours.ts";
import { type ChangeOf, type ConditionOf, changeItem, type ItemWrite, type RowOf } from "../../item.ts";
import { toJson } from "../../json-text.ts";
import { oldRow, onConditionFailed, onTransactionCanceled } from "../../refusals.ts";
import { type Advanced, type ClaimState, LEASE_MS, type Lease, type Released } from "../chunks/leases.ts";
import { addends, beyond } from "../chunks/tallies.ts";
import { JobItem } from "./job-items.ts";

type JobRow = RowOf<typeof JobItem>;
type Condition = ConditionOf<typeof JobItem>;

/** What the end of a job removes of its claim. `told` stays: its outcomes were counted before a wait. */
export const CLAIM_ATTRIBUTES = ["owner", "lease", "at", "step", "progress", "waits", "deferred"] as const;

/** The claim on the row of a job; undefined before the first one and after the end. */
export function claimOnJob({ owner, lease = 0, at = 0, ...row }: JobRow): ClaimState | undefined {
  const { step, progress, waits, deferred, told } = row;
  return owner === undefined ? undefined : { owner, lease, at, step, progress, waits, deferred, told };
}

/** The lease is still the newest of its job. */
export const isHeldBy = ({ owner, step }: Lease): Condition =>
  all(is("status", "processing"), is("owner", owner), is("step", step));

/** As `advance` of a chunk. The first claim dispatches the job. */
export function advanceOnJob(
  store: Store,
  job: string,
  lease: Lease,
  progress: string,
  extraItems: readonly ItemWrite<"workspace">[],
): Promise<Advanced> {
  const { change, when, isMine, after } = nextClaim(lease);
  const set = { ...change.set, lease: store.clock.now() + LEASE_MS, progress };
  const claimed: ChangeOf<typeof JobItem> = { ...change, set, remove: ["waits"] };
  const mine = (old: JobRow | undefined) => (isMine(old) ? after : undefined);
  if (extraItems.length === 0)
    return store.change(JobItem, { job }, claimed, when).then(() => after, onConditionFailed(JobItem, mine));
  return store.transact([changeItem(JobItem, { job }, claimed, when), ...extraItems]).then(
    () => after,
    onTransactionCanceled(([claim, ...refused]) => (claim ? mine(oldRow(JobItem, claim)) : { refused })),
  );
}

/** As `release` of a chunk: before a wait, the job counts the outcomes that are known by then. */
export function releaseOnJob(
  store: Store,
  job: string,
  lease: Lease,
  progress: string,
  { waits, deferred, tally, category }: Released,
): Promise<boolean> {
  const reported = waits > store.clock.now() ? addends(tally) : lease.reported;
  const add = beyond(reported, lease.reported);
  const { change, when, isMine } = nextClaim(lease);
  const set = { ...change.set, lease: 0, progress, waits, deferred, told: toJson(reported) };
  const released: ChangeOf<typeof JobItem> = { ...change, set, add };
  const hours = countedOutcomeWrites(store, job, category, outcomesOf(add));
  if (hours.length === 0)
    return store.change(JobItem, { job }, released, when).then(() => true, onConditionFailed(JobItem, isMine));
  return store.transact([changeItem(JobItem, { job }, released, when), ...hours]).then(
    () => true,
    onTransactionCanceled(([claim]) => isMine(oldRow(JobItem, claim))),
  );
}

/**
 * Continues a send whose lease has ended, from the step that was read. @returns undefined if another worker was faster,
 * or it has ended.
 */
export function takeOverOnJob(
  store: Store,
  job: string,
  owner: string,
  step: number | undefined,
): Promise<ClaimState | undefined> {
  const now = store.clock.now();
  const isAsRead: Condition = step === undefined ? absent("step") : is("step", step);
  const when = all(is("status", "processing"), below("lease", now), isAsRead);
  return store.change(JobItem, { job }, { set: { owner, lease: now + LEASE_MS } }, when).then(
    claimOnJob,
    onConditionFailed(JobItem, (old) => (old?.owner === owner ? claimOnJob(old) : undefined)),
  );
}

function nextClaim(lease: Lease) {
  const { owner, step, at } = lease;
  const after: Lease = { ...lease, step: step + 1 };
  const first = all(oneOf("status", jobMoves.dispatch.from), absent("owner"));
  return {
    after,
    change: { set: { status: "processing" as const, owner, step: after.step }, initial: { at } },
    when: step === 0 ? first : isHeldBy(lease),
    isMine: (old: JobRow | undefined) => old?.owner === owner && old.step === after.step,
  };
}
