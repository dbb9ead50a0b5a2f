// A notification job from its row, with and without its content.
import type { Figures, Halt } from "../../../rules/brake.ts";
import type { RowOf } from "../../item.ts";
import type { ClaimState } from "../chunks/leases.ts";
import type { Recipient } from "../chunks/recipients.ts";
import type { Tally } from "../chunks/tallies.ts";
import type { JobItem } from "./job-items.ts";
import type { DeliverySettings, JobContent, JobSpec } from "./job-spec.ts";

/** Mails that bounced, with recipients that no other channel reached; complaints; opt-outs by a link. */
export const NOTHING_LATE = {
  /** Mails that came back. */
  bounced: 0,
  /** Recipients that were counted as delivered, and that no other channel reached. */
  lost: 0,
  complained: 0,
  unsubscribed: 0,
  /** Mails without an answer that arrived, and recipients who were counted as failed until then. */
  arrived: 0,
  found: 0,
  /** Bounced mails, mails without an answer, and recipients who were counted as failed until then. */
  returned: 0,
  missed: 0,
  /** The `found` and `lost` ones of these recipients, by arm. */
  gained_a: 0,
  gained_b: 0,
  lost_a: 0,
  lost_b: 0,
};
type Late = typeof NOTHING_LATE;

/** A job from its row. `withContent` adds its content. */
export interface JobRecord
  extends Omit<JobSpec, keyof JobContent>,
    Tally,
    Pick<RowOf<typeof JobItem>, "id" | "status" | "sent" | "created_at"> {
  /** Or the hash under which it is stored. */
  content: JobContent | string;
  /** Its recipients are in two arms. */
  isSplit: boolean;
  /** The results after it was handed over. */
  late: Late;
  error: string | null;
  dispatched_at: string | null;
  completed_at: string | null;
  /** Its recipients, and when their round began, of a send that is delivered without ranges and chunks. */
  direct: { recipients: Recipient[]; round: number } | undefined;
  /** The claim of its only recipient, while it is delivered through providers. */
  claim: ClaimState | undefined;
  /** The ranges of the audience: set at creation for a small one, else at dispatch. */
  ranges: string[] | undefined;
  ranges_closed: number;
  /**
   * Its campaign is paused or archived: it is neither fired, dispatched nor planned, and its deferred messages wait.
   */
  held: boolean;
  /** Why its brake stopped it, until it is resumed or canceled (F21). */
  halted: Halt | undefined;
  /** Its figures when it was last resumed. */
  resumedWith: Figures | undefined;
  /** When it was last released, in milliseconds: it counts as late only after that. */
  releasedAt: number | undefined;
  /** Set at dispatch. */
  deliverySettings: DeliverySettings | undefined;
  /** Sends taken from the quota for this job; undefined before that; after its end, the number that it used. */
  reserved: number | undefined;
  /** When they were taken, in milliseconds; undefined if they were taken ahead. */
  reservedAt: number | undefined;
}

export type Job = JobRecord & JobContent;

/** Why a job as a whole failed. */
export interface JobFailure {
  code: string;
  message: string;
}
