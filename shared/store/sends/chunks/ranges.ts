// Ranges of an audience: how far each is planned, how many of its chunks are closed, and when it is closed into its job.
import { absent, all, any, asRead, below, is, present } from "../../conditions.ts";
import type { Store, StoreReader } from "../../context.ts";
import { familyOf } from "../../families.ts";
import { countedOutcomeWrites, outcomesBeyond } from "../../insights/hours.ts";
import { changeItem, type ItemWrite, putItem, type RowOf } from "../../item.ts";
import { busy, contended, done, onConditionFailed, transacted, untilUncontended } from "../../refusals.ts";
import { settlement } from "../../workspaces/usage.ts";
import { RangeItem } from "../audience/audience-items.ts";
import { JobItem } from "../jobs/job-items.ts";
import type { JobRecord } from "../jobs/job-record.ts";
import { findJob, finishJob, isReserved, reservedSet } from "../jobs/jobs.ts";
import { type Chunk, peopleIn } from "./chunks.ts";
import { addendsOf, sumOf, tallyOf } from "./tallies.ts";

export interface RangeState {
  /** Chunks known so far. */
  chunks: number;
  /** Everyone in these chunks, held out and skipped included. */
  people: number;
  /** Where planning continues. */
  cursor: string | undefined;
  planned: boolean;
  chunksClosed: number;
  closed: boolean;
}

const rangeOf = (row: RowOf<typeof RangeItem> | undefined): RangeState => ({
  chunks: row?.chunks ?? 0,
  people: row?.people ?? 0,
  cursor: row?.cursor,
  planned: row?.planned === true,
  chunksClosed: row?.chunks_closed ?? 0,
  closed: row?.closed === true,
});

export async function getRange(store: StoreReader, job: string, range: string): Promise<RangeState> {
  return rangeOf(await store.get(RangeItem, { job, range }));
}

/** Notes how far a range is planned; a planner that is behind another one changes nothing. */
export async function notePlanned(
  store: Store,
  job: string,
  range: string,
  { chunks, people, cursor, planned }: Pick<RangeState, "chunks" | "people" | "cursor" | "planned">,
): Promise<RangeState> {
  return store
    .change(
      RangeItem,
      { job, range },
      {
        set: { chunks, people, planned, cursor, last: planned ? chunks - 1 : undefined },
        initial: { chunks_closed: 0 },
      },
      all(absent("closed"), any(absent("chunks"), below("chunks", chunks), is("chunks", chunks))),
    )
    .then(rangeOf, onConditionFailed(RangeItem, rangeOf));
}

/** The write that puts a range whose chunks are all planned. */
export const plannedRangeWrite = (job: string, range: string, planned: readonly Chunk[]): ItemWrite<"workspace"> =>
  putItem(
    RangeItem,
    { job, range },
    {
      chunks: planned.length,
      people: planned.reduce((sum, chunk) => sum + peopleIn(chunk), 0),
      chunks_closed: 0,
      planned: true,
      last: planned.length - 1,
    },
  );

/** Closes a range into its job if its chunks are all closed, and the job with the last range. */
export async function completeRange(
  store: Store,
  job: Pick<JobRecord, "id" | "category">,
  range: string,
): Promise<void> {
  const state = await closeRange(store, job, range);
  // An earlier call may have closed the range and stopped right after.
  if (state === "closed") await finishJob(store, job.id);
}

/** Once: the range and its job change together or not at all. */
export async function closeRange(
  store: Store,
  { id: job, category }: Pick<JobRecord, "id" | "category">,
  range: string,
): Promise<"closed" | "open"> {
  const row = await store.get(RangeItem, { job, range });
  const state = rangeOf(row);
  if (state.closed) return "closed";
  if (!row || !isComplete(state)) return "open";
  const added = addendsOf(row);
  const isClosed = await transacted(store, [
    changeItem(RangeItem, { job, range }, { set: { closed: true } }, all(present(), absent("closed"))),
    changeItem(JobItem, { job }, { add: { ...added, ranges_closed: 1 } }, is("status", "processing")),
    ...countedOutcomeWrites(store, `${job}:${range}`, category, outcomesBeyond(added, timedOf(row))),
  ]);
  return isClosed ? "closed" : "open";
}

const changedByOthers = busy.transient("What a send did is being counted by others.");

/**
 * Counts by day the outcomes of a range whose send was ended early, once: such a range is never closed into its job
 * (F21).
 */
export async function countStopped(
  store: Store,
  { id: job, category }: Pick<JobRecord, "id" | "category">,
  range: string,
): Promise<void> {
  await untilUncontended(changedByOthers, async () => {
    const row = await store.get(RangeItem, { job, range });
    if (!row || row.closed) return done(undefined);
    const rest = outcomesBeyond(addendsOf(row), timedOf(row));
    if (Object.keys(rest).length === 0) return done(undefined);
    const add = timedAddends(rest);
    const names = Object.keys(add) as TimedName[];
    const isAsRead = names.map((name) => asRead(name, row[name]));
    const counting = [
      changeItem(RangeItem, { job, range }, { add }, all(...isAsRead)),
      ...countedOutcomeWrites(store, `${job}:${range}`, category, rest),
    ];
    const isCounted = await transacted(store, counting);
    return isCounted ? done(undefined) : contended;
  });
}

/**
 * Corrects what a stopped send took from the quota to what it sent, once all its chunks are closed. It may be called at any
 * time: a chunk that is closed later is part of the next call (docs/decisions/0093).
 */
export async function settleStopped(store: Store, id: string): Promise<void> {
  await untilUncontended(changedByOthers, async () => {
    const job = await findJob(store, id);
    if (job?.status !== "canceled" || job.direct) return done(undefined);
    const refs = (job.ranges ?? []).map((range) => ({ job: id, range }));
    const rows = (await store.getAll(RangeItem, refs)).filter((row) => row !== undefined);
    if (rows.map(rangeOf).some(({ chunks, chunksClosed }) => chunksClosed < chunks)) return done(undefined);
    const { sent } = sumOf(rows.map(tallyOf)).counts;
    if (sent === (job.reserved ?? 0)) return done(undefined);
    const settled = await settlement(store, [{ ...job, sent }]);
    const noting = changeItem(JobItem, { job: id }, { set: reservedSet(job, sent) }, isReserved(job));
    const isSettled = await transacted(store, [noting, ...settled]);
    return isSettled ? done(undefined) : contended;
  });
}

type TimedName = "timed" | `timed:${string}`;

/** The outcomes that are counted by the day already. */
const timedOf = (row: RowOf<typeof RangeItem>): Record<string, number> => ({
  "n:delivered": row.timed ?? 0,
  ...Object.fromEntries(familyOf(row, "timed:")),
});

/** The change of a range that notes outcomes as counted by the day. */
export const timedAddends = (outcomes: Record<string, number>): Record<string, number> =>
  Object.fromEntries(
    Object.entries(outcomes).map(([name, n]) => [name === "n:delivered" ? "timed" : `timed:${name}`, n]),
  );

/** The range notes when a chunk of it was worked through once, where a brake counts that. */
export const passedNow = ({ clock }: Pick<Store, "clock">, added: Record<string, number>) =>
  added["pass:chunks"] ? { set: { passed_at: clock.now() } } : {};

/** All its chunks are known and closed. */
export const isComplete = ({ planned, chunks, chunksClosed }: RangeState): boolean => planned && chunksClosed >= chunks;
