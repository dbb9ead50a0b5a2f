// The totals of a stopped send: recipients not reached by then count as skipped (docs/decisions/0089).
import { byArm, type Chunk, tallyOfChunk } from "../chunks/chunks.ts";
import { NO_COUNTS, NO_TALLY, type Tally } from "../chunks/tallies.ts";
import type { JobRecord } from "./job-record.ts";

/** Why a recipient of a chunk that was begun got nothing. It was assigned to an arm, so lift looks at it. */
const CANCELED = "canceled";
/** The same of a chunk that no worker had begun. Nobody in it was assigned to an arm. */
const STOPPED = "stopped";

/** How many of those that a tally counts as skipped got nothing because the send was stopped. */
export const stoppedIn = ({ [CANCELED]: canceled = 0, [STOPPED]: stopped = 0 }: Record<string, number>): number =>
  canceled + stopped;

/** Whether the totals of a job stay in its ranges: it was stopped after it was planned, at least in part. */
export const isStopped = ({ status, ranges }: Pick<JobRecord, "status" | "ranges">): boolean =>
  status === "canceled" && ranges !== undefined;

/** The tally of a chunk that no worker has begun. Nobody was held out of it. */
export function tallyOfUnbegun(chunk: Chunk): Tally {
  const { counts, skip_reasons } = tallyOfChunk(chunk);
  return {
    ...NO_TALLY,
    counts: { ...NO_COUNTS, total: counts.total, skipped: counts.total },
    skip_reasons: {
      ...skip_reasons,
      ...ifAny(STOPPED, counts.sent + counts.held_out),
    },
  };
}

/** The tally of a chunk of inboxes of which some were written. */
export function tallyOfInbox(chunk: Chunk, written: ReadonlySet<string>): Tally {
  const plain = tallyOfChunk(chunk);
  const delivered = written.size;
  const delivered_by_arm = byArm(chunk, ({ subscriber }) => written.has(subscriber));
  const counts = { ...plain.counts, delivered };
  return withoutOpen({ ...plain, counts, delivered_by_channel: { in_app: delivered }, delivered_by_arm });
}

/** Counts those as skipped that nothing is known of: they wait for a worker that is going to look at them. */
export function withoutOpen<T extends Tally>(tally: T): T {
  const { sent, delivered, failed, skipped } = tally.counts;
  const open = sent - delivered - failed;
  return {
    ...tally,
    counts: { ...tally.counts, sent: sent - open, skipped: skipped + open },
    skip_reasons: { ...tally.skip_reasons, ...ifAny(CANCELED, (tally.skip_reasons[CANCELED] ?? 0) + open) },
    late_skips: tally.late_skips + open,
  };
}

const ifAny = (reason: string, n: number): Record<string, number> => (n > 0 ? { [reason]: n } : {});
