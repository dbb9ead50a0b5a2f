// The end of chunks: the outcomes of their recipients are counted once, in one write with the end. A chunk of a range
// closes into its range (docs/decisions/0002); one that is on the row of its job ends the job (docs/decisions/0027,
// 0046).
import { timestamp } from "../../../kernel/clock.ts";
import { throwFailures } from "../../../kernel/failures.ts";
import { jobMoves, outcomeOf } from "../../../rules/job-states.ts";
import { absent, all, any, is, lessThan } from "../../conditions.ts";
import type { Store } from "../../context.ts";
import { hashOf } from "../../hash.ts";
import { countedOutcomes, dayWrites, outcomesOf } from "../../insights/hours.ts";
import { type ConditionOf, changeItem, type ItemWrite } from "../../item.ts";
import { move, moveWrite } from "../../lifecycle.ts";
import { failuresOf, transacted } from "../../refusals.ts";
import { settlement, type Use } from "../../workspaces/usage.ts";
import { ClaimItem, RangeItem } from "../audience/audience-items.ts";
import { JobItem } from "../jobs/job-items.ts";
import type { JobRecord } from "../jobs/job-record.ts";
import { endedCounts, NOTHING_DELIVERED, reservedSet, WORKSPACE_DELETED } from "../jobs/jobs.ts";
import type { ChunkRef } from "../ledger/touches.ts";
import { isHeld } from "./claims.ts";
import type { Lease } from "./leases.ts";
import { isOnJob } from "./range-names.ts";
import { passedNow } from "./ranges.ts";
import { addends, beyond, type Tally } from "./tallies.ts";

/** The worker's hold on the chunk that it closes: a lease, or the round of inboxes on the row of a job. */
export type Hold = { kind: "lease"; lease: Lease } | { kind: "round"; at: number };

export interface ClosingChunk {
  job: JobRecord;
  chunkRef: ChunkRef;
  hold: Hold;
  tally: Tally;
  /** It is the last chunk of its range. */
  isFinal: boolean;
  /** The chunk's send was stopped. */
  isStopped: boolean;
}

/**
 * Closes chunks, each once: one that has ended is left out.
 * @returns those whose ranges may be complete with it, or were closed by another worker
 */
export async function closeChunks(store: Store, closings: readonly ClosingChunk[]): Promise<ReadonlySet<ClosingChunk>> {
  const mayBeLast = new Set<ClosingChunk>();
  const { range = [], quarter = [], journey = [] } = Object.groupBy(closings, counterOf);
  const closed = await Promise.allSettled([
    ...range.map(async (closing) => {
      const place = await closeIntoRange(store, closing);
      if (place === "last") mayBeLast.add(closing);
    }),
    ...quarter.map((closing) => closeJob(store, closing)),
    closeJobs(store, journey),
  ]);
  throwFailures(closed);
  return mayBeLast;
}

/**
 * Where the outcomes of a chunk are counted: in its range; when the quarter-hour of a one-off send is settled
 * (docs/decisions/0056); or, of a journey, in the transaction that ends its jobs.
 */
function counterOf({ chunkRef, job }: ClosingChunk): "range" | "quarter" | "journey" {
  if (!isOnJob(chunkRef)) return "range";
  return job.source.type === "api" ? "quarter" : "journey";
}

/** The outcomes of the chunk that are not counted yet. */
const uncounted = ({ hold, tally }: ClosingChunk): Record<string, number> =>
  beyond(addends(tally), hold.kind === "lease" ? hold.lease.reported : {});

/** The chunk and its range change together or not at all. */
async function closeIntoRange(store: Store, closing: ClosingChunk): Promise<"last" | "not last"> {
  const { chunkRef, hold, tally, isFinal } = closing;
  if (hold.kind !== "lease") throw new Error("A chunk of a range is closed under a lease.");
  const { owner, deferred } = hold.lease;
  const rest = { ...uncounted(closing), ...(deferred > 0 && { deferred: -deferred }) };
  const remove = ["progress", "waits", "deferred", "reported"] as const;
  const change = { set: { closed: true }, add: addends(tally), remove };
  const closed = changeItem(ClaimItem, chunkRef, change, all(is("owner", owner), absent("closed")));
  const counted = { add: { ...rest, chunks_closed: 1 }, ...passedNow(store, rest) };
  const attempt = (when: ConditionOf<typeof RangeItem>): Promise<boolean> =>
    transacted(store, [closed, changeItem(RangeItem, chunkRef, counted, when)]);
  if (!isFinal) {
    const isClosed = await attempt(all(absent("closed"), isNotLast));
    if (isClosed) return "not last";
  }
  await attempt(absent("closed"));
  return "last";
}

/** Other chunks will close after this one, or their number is not known yet: then the planner completes the range. */
const isNotLast: ConditionOf<typeof RangeItem> = any(absent("last"), lessThan("chunks_closed", "last"));

async function closeJob(store: Store, closing: ClosingChunk): Promise<void> {
  const { action, change, when } = endOf(store, closing);
  const options = { change: { ...change, set: { ...change.set, counted: "quarter" as const } }, when };
  const key = { job: closing.job.id };
  for (;;) {
    const settled = await settlement(store, [useOf(closing)]);
    if (settled.length === 0) {
      await move(store, JobItem, key, { lifecycle: jobMoves, action, ...options });
      return;
    }
    const end = moveWrite(JobItem, key, { lifecycle: jobMoves, action, ...options });
    const failures = await failuresOf(store, [end, ...settled]);
    const hasEnded = failures.length === 0 || failures[0] !== undefined;
    if (hasEnded) return;
  }
}

const useOf = ({ job, tally }: ClosingChunk): Use => ({ ...job, sent: tally.counts.sent });

/** Ends jobs together with all that counts them. */
async function closeJobs(store: Store, closings: readonly ClosingChunk[]): Promise<void> {
  let open = closings;
  while (open.length > 0) {
    const ends = open.map((closing) => {
      const { action, ...options } = endOf(store, closing);
      return moveWrite(JobItem, { job: closing.job.id }, { lifecycle: jobMoves, action, ...options });
    });
    const settled = await settlement(store, open.map(useOf));
    const failures = await failuresOf(store, [...ends, ...settled, ...countersOf(store, open)]);
    if (failures.length === 0) return;
    open = open.filter((_, i) => !failures[i]);
  }
}

/** How a job ends, on condition that it is still held. */
function endOf({ clock }: Store, closing: ClosingChunk) {
  const { job, hold, tally } = closing;
  const { sent } = tally.counts;
  const ending = endingOf(closing);
  const isGood = ending.kind === "delivered";
  const error = isGood ? undefined : ending.error;
  const set = { completed_at: timestamp(clock.now()), ...(error && { error }), ...reservedSet(job, sent) };
  const add = uncounted(closing);
  return hold.kind === "lease"
    ? {
        action: isGood ? ("complete" as const) : ending.kind,
        change: { set, add, remove: CLAIM_ATTRIBUTES },
        when: isHeld(hold.lease, is("status", "processing")),
      }
    : {
        action: isGood ? ("deliver" as const) : ending.kind,
        change: { set, add },
        when: all(is("round", hold.at), absent("owner")),
      };
}

type ChunkEnding = { kind: "delivered" } | { kind: "abandon" | "fail"; error: string };

function endingOf({ tally, isStopped }: ClosingChunk): ChunkEnding {
  if (isStopped) return { kind: "abandon", error: WORKSPACE_DELETED };
  const hasFailed = outcomeOf(tally.counts) === "failed";
  return hasFailed ? { kind: "fail", error: NOTHING_DELIVERED.message } : { kind: "delivered" };
}

/**
 * The attributes of a claim that the end of its job removes. `reported` stays: these outcomes were counted before a
 * wait.
 */
const CLAIM_ATTRIBUTES = ["owner", "lease", "at", "step", "progress", "waits", "deferred"] as const;

/** Deliveries by the day, by week and class of channels, and of journeys. The first job decides the shard. */
function countersOf(store: Store, closings: readonly ClosingChunk[]): ItemWrite<"workspace">[] {
  const [first] = closings;
  if (!first) return [];
  const counted = closings.map((closing) =>
    countedOutcomes(store, closing.job.category, outcomesOf(uncounted(closing))),
  );
  const ended = closings.map(({ job, tally }) => ({ ...job, ...tally }));
  return [...dayWrites(hashOf(first.job.id).slice(0, 1), counted), ...endedCounts(store, ended)];
}
