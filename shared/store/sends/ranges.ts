// Ranges of an audience: how far each is planned, how many of its chunks are closed, and when it is closed into its job.
import type { Store, StoreReader } from "../../resources.ts";
import { absent, all, any, below, is, present } from "../conditions.ts";
import { deliveredWrites } from "../insights/hours.ts";
import { keys } from "../keys.ts";
import type { Item } from "../model.ts";
import { onConditionFailed, onTransactionCanceled } from "../refusals.ts";
import { addendsOf } from "./tallies.ts";

export interface RangeState {
  /** Chunks known so far, and where planning goes on. */
  chunks: number;
  cursor: string | undefined;
  planned: boolean;
  chunksClosed: number;
  closed: boolean;
}

const rangeOf = (item: Item | undefined): RangeState => ({
  chunks: Number(item?.chunks ?? 0),
  cursor: item?.cursor as string | undefined,
  planned: item?.planned === true,
  chunksClosed: Number(item?.chunks_closed ?? 0),
  closed: item?.closed === true,
});

export async function getRange(store: StoreReader, job: string, range: string): Promise<RangeState> {
  return rangeOf(await store.get(keys.range(store.tenant, job, range)));
}

/** Notes how far a range is planned; a slower planner changes nothing. */
export async function notePlanned(
  store: Store,
  job: string,
  range: string,
  { chunks, cursor, planned }: Pick<RangeState, "chunks" | "cursor" | "planned">,
): Promise<RangeState> {
  const set = { chunks, planned, ...(cursor !== undefined && { cursor }), ...(planned && { last: chunks - 1 }) };
  return store
    .update(
      keys.range(store.tenant, job, range),
      { set, initial: { chunks_closed: 0 } },
      all(absent("closed"), any(absent("chunks"), below("chunks", chunks), is("chunks", chunks))),
    )
    .then(rangeOf, onConditionFailed(rangeOf));
}

export function rangeItem(store: Pick<Store, "tenant">, job: string, range: string, chunks: number): Item {
  return { ...keys.range(store.tenant, job, range), chunks, chunks_closed: 0, planned: true, last: chunks - 1 };
}

/**
 * Closes a range whose chunks are all closed into its job, once.
 * @returns whether to look if the job can end: this call closed the range, or it was closed before (by somebody who
 * may have stopped right after).
 */
export async function closeRange(store: Store, job: string, range: string): Promise<boolean> {
  const item = await store.get(keys.range(store.tenant, job, range));
  const state = rangeOf(item);
  if (state.closed) return true;
  if (!item || !isComplete(state)) return false;
  const added = addendsOf(item);
  return store
    .transact([
      {
        update: keys.range(store.tenant, job, range),
        change: { set: { closed: true } },
        when: all(present(), absent("closed")),
      },
      {
        update: keys.job(store.tenant, job),
        change: { add: { ...added, ranges_closed: 1 } },
        when: is("status", "processing"),
      },
      ...deliveredWrites(store, `${job}:${range}`, Number(added["n:delivered"] ?? 0) - Number(item.timed ?? 0)),
    ])
    .then(
      () => true,
      onTransactionCanceled(() => false),
    );
}

/** All its chunks are known and closed. */
export const isComplete = ({ planned, chunks, chunksClosed }: RangeState): boolean => planned && chunksClosed >= chunks;
