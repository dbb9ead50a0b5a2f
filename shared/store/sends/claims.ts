// Claims of groups: one conditional write each, with all that is known by then (decision 7, reliability.md section 4).
import type { Store } from "../../resources.ts";
import { absent, all, below, is } from "../conditions.ts";
import { deliveredSteps } from "../insights/hours.ts";
import { keys } from "../keys.ts";
import type { Item } from "../model.ts";
import { refused, refusedSteps } from "../refusals.ts";
import type { Step } from "../table.ts";
import { LEASE_MS } from "./chunks.ts";
import { addends, beyond, type Tally } from "./tallies.ts";
import type { Place } from "./touches.ts";

/** Who works on a chunk: `step` counts the writes, so that a repeat of one is known as one's own. */
export interface Tenure {
  owner: string;
  step: number;
  /** When the chunk was first claimed. */
  at: number;
  /** Recipients of the chunk whom the range counts as waiting for the end of quiet hours. */
  deferred: number;
  /** What the range counts of the chunk already, before a long wait. */
  told: Record<string, number>;
}

const keyOf = (store: Store, { job, range, n }: Place) => keys.claim(store.tenant, job, range, n);
const isMine = ({ owner, step }: Tenure) => all(is("owner", owner), is("step", step), absent("closed"));

/**
 * Claims the next group, together with the steps `along`: all of it or nothing.
 * @returns the tenure after it; undefined if somebody else has the chunk; or, if only steps of `along` refused, their
 * items as they were (undefined: it passed).
 */
export async function advance(
  store: Store,
  place: Place,
  tenure: Tenure,
  progress: string,
  along: readonly Step[] = [],
): Promise<Tenure | { refused: (Item | undefined)[] } | undefined> {
  const { owner, step, at } = tenure;
  const after: Tenure = { ...tenure, step: step + 1 };
  const set = { owner, lease: store.clock.now() + LEASE_MS, step: after.step, progress };
  const key = keyOf(store, place);
  const change = { set, initial: { at }, remove: ["waits"] };
  const when = step === 0 ? absent("owner") : isMine(tenure);
  const mine = (old: Item | undefined) => (old?.owner === owner && old.step === after.step ? after : undefined);
  if (along.length === 0) return store.update(key, change, when).then(() => after, refused(mine));
  return store.transact([{ update: key, change, when }, ...along]).then(
    () => after,
    refusedSteps(([claim, ...steps]) => (claim ? mine(claim.old) : { refused: steps.map((one) => one?.old) })),
  );
}

/**
 * Lets go of a chunk with all that is known: from `waits` on, whoever comes next may go on. `deferred` recipients wait
 * for the end of quiet hours, and the range counts them; it is told what the others came to, who count in this hour.
 * @returns false if somebody else has the chunk.
 */
export async function release(
  store: Store,
  place: Place,
  tenure: Tenure,
  progress: string,
  { waits, deferred, tally }: { waits: number; deferred: number; tally: Tally },
): Promise<boolean> {
  const { owner, step, at } = tenure;
  const told = deferred > 0 ? addends(tally) : tenure.told;
  const set = { owner, lease: 0, step: step + 1, progress, waits, deferred, told: JSON.stringify(told) };
  const key = keyOf(store, place);
  const change = { set, initial: { at } };
  const when = step === 0 ? absent("owner") : isMine(tenure);
  const isOurs = (old: Item | undefined) => old?.owner === owner && old.step === step + 1;
  const more = beyond({ ...told, deferred }, { ...tenure.told, deferred: tenure.deferred });
  if (Object.keys(more).length === 0) return store.update(key, change, when).then(() => true, refused(isOurs));
  const timed = more["n:delivered"] ?? 0;
  const counted = {
    update: keys.range(store.tenant, place.job, place.range),
    change: { add: { ...more, ...(timed > 0 && { timed }) } },
  };
  const hours = deliveredSteps(store, `${place.job}:${place.range}:${place.n}`, timed);
  return store.transact([{ update: key, change, when }, counted, ...hours]).then(
    () => true,
    refusedSteps(([claim]) => isOurs(claim?.old)),
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
