// Claims of groups: one conditional write each, with all that is known by then (docs/decisions/0013).
import type { Store } from "../../resources.ts";
import { absent, all, below, is } from "../conditions.ts";
import { deliveredWrites } from "../insights/hours.ts";
import { keys } from "../keys.ts";
import type { Item } from "../model.ts";
import { onConditionFailed, onTransactionCanceled } from "../refusals.ts";
import type { TransactItem } from "../table.ts";
import { LEASE_MS } from "./chunks.ts";
import { addends, beyond, type Tally } from "./tallies.ts";
import type { ChunkRef } from "./touches.ts";

/** Who works on a chunk: `step` counts the writes, so that a repeat of one is known as one's own. */
export interface Lease {
  owner: string;
  step: number;
  /** When the chunk was first claimed. */
  at: number;
  /** Recipients of the chunk whom the range counts as waiting for the end of quiet hours. */
  deferred: number;
  /** What the range counts of the chunk already, before a long wait. */
  reported: Record<string, number>;
}

const keyOf = (store: Store, { job, range, n }: ChunkRef) => keys.claim(store.tenant, job, range, n);
const isMine = ({ owner, step }: Lease) => all(is("owner", owner), is("step", step), absent("closed"));

/**
 * Claims the next group, together with the steps `extraItems`: all of it or nothing.
 * @returns the lease after it; undefined if somebody else has the chunk; or, if only steps of `extraItems` refused, their
 * items as they were (undefined: it passed).
 */
export async function advance(
  store: Store,
  chunkRef: ChunkRef,
  lease: Lease,
  progress: string,
  extraItems: readonly TransactItem[] = [],
): Promise<Lease | { refused: (Item | undefined)[] } | undefined> {
  const { owner, step, at } = lease;
  const after: Lease = { ...lease, step: step + 1 };
  const set = { owner, lease: store.clock.now() + LEASE_MS, step: after.step, progress };
  const key = keyOf(store, chunkRef);
  const change = { set, initial: { at }, remove: ["waits"] };
  const when = step === 0 ? absent("owner") : isMine(lease);
  const mine = (old: Item | undefined) => (old?.owner === owner && old.step === after.step ? after : undefined);
  if (extraItems.length === 0) return store.update(key, change, when).then(() => after, onConditionFailed(mine));
  return store.transact([{ update: key, change, when }, ...extraItems]).then(
    () => after,
    onTransactionCanceled(([claim, ...failures]) =>
      claim ? mine(claim.old) : { refused: failures.map((one) => one?.old) },
    ),
  );
}

/**
 * Lets go of a chunk with all that is known: from `waits` on, whoever comes next may go on. `deferred` recipients wait
 * for the end of quiet hours, and the range counts them; it is told what the others came to, who count in this hour.
 * @returns false if somebody else has the chunk.
 */
export async function release(
  store: Store,
  chunkRef: ChunkRef,
  lease: Lease,
  progress: string,
  { waits, deferred, tally }: { waits: number; deferred: number; tally: Tally },
): Promise<boolean> {
  const { owner, step, at } = lease;
  const reported = deferred > 0 ? addends(tally) : lease.reported;
  const set = { owner, lease: 0, step: step + 1, progress, waits, deferred, told: JSON.stringify(reported) };
  const key = keyOf(store, chunkRef);
  const change = { set, initial: { at } };
  const when = step === 0 ? absent("owner") : isMine(lease);
  const isOurs = (old: Item | undefined) => old?.owner === owner && old.step === step + 1;
  const more = beyond({ ...reported, deferred }, { ...lease.reported, deferred: lease.deferred });
  if (Object.keys(more).length === 0)
    return store.update(key, change, when).then(() => true, onConditionFailed(isOurs));
  const timed = more["n:delivered"] ?? 0;
  const counted = {
    update: keys.range(store.tenant, chunkRef.job, chunkRef.range),
    change: { add: { ...more, ...(timed > 0 && { timed }) } },
  };
  const hours = deliveredWrites(store, `${chunkRef.job}:${chunkRef.range}:${chunkRef.n}`, timed);
  return store.transact([{ update: key, change, when }, counted, ...hours]).then(
    () => true,
    onTransactionCanceled(([claim]) => isOurs(claim?.old)),
  );
}

/** Goes on where nobody works any more. @returns the row as it is then; undefined if somebody was faster. */
export function takeOver(store: Store, chunkRef: ChunkRef, owner: string): Promise<Item | undefined> {
  const now = store.clock.now();
  return store
    .update(
      keyOf(store, chunkRef),
      { set: { owner, lease: now + LEASE_MS } },
      all(absent("closed"), below("lease", now)),
    )
    .then(
      (item) => item,
      onConditionFailed((old) => (old?.owner === owner ? old : undefined)),
    );
}
