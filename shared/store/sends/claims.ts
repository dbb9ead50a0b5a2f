// Claims of groups: one conditional write each, with all that is known by then (decision 7, reliability.md section 4).
import type { Store } from "../../resources.ts";
import { absent, all, below, is } from "../conditions.ts";
import { keys } from "../keys.ts";
import type { Item } from "../model.ts";
import { refused } from "../refusals.ts";
import { LEASE_MS } from "./chunks.ts";
import type { Place } from "./touches.ts";

/** Who works on a chunk: `step` counts the writes, so that a repeat of one is known as one's own. */
export interface Tenure {
  owner: string;
  step: number;
  /** When the chunk was first claimed. */
  at: number;
}

const keyOf = (store: Store, { job, range, n }: Place) => keys.claim(store.tenant, job, range, n);

/**
 * Claims the next group, or, with `release`, lets go of the chunk.
 * @returns the tenure after it; undefined if somebody else has the chunk.
 */
export function advance(
  store: Store,
  place: Place,
  { owner, step, at }: Tenure,
  progress: string,
  { release = false }: { release?: boolean } = {},
): Promise<Tenure | undefined> {
  const lease = release ? 0 : store.clock.now() + LEASE_MS;
  const after: Tenure = { owner, step: step + 1, at };
  const mine = all(is("owner", owner), is("step", step), absent("closed"));
  return store
    .update(
      keyOf(store, place),
      { set: { owner, lease, step: after.step, progress }, initial: { at } },
      step === 0 ? absent("owner") : mine,
    )
    .then(
      () => after,
      refused((old) => (old?.owner === owner && old.step === after.step ? after : undefined)),
    );
}

/** Goes on where nobody works any more. @returns the row as it is then; undefined if somebody was faster. */
export function takeOver(store: Store, place: Place, owner: string): Promise<Item | undefined> {
  const now = store.clock.now();
  return store
    .update(keyOf(store, place), { set: { owner, lease: now + LEASE_MS } }, all(absent("closed"), below("lease", now)))
    .then(
      (item) => item,
      refused((old) => (old?.owner === owner ? old : undefined)),
    );
}
