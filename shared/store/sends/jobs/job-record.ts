// A notification job as its row says it, and with what it says.
import type { Figures, Halt } from "../../../rules/brake.ts";
import type { RowOf } from "../../item.ts";
import type { ClaimState } from "../chunks/leases.ts";
import type { Recipient } from "../chunks/recipients.ts";
import type { Tally } from "../chunks/tallies.ts";
import type { JobItem } from "./job-items.ts";
import type { DeliverySettings, JobContent, JobSpec } from "./job-spec.ts";

/** Mails that bounced, with recipients whom nothing else reached; complaints; opt-outs by a link. */
export interface Late {
  /** Mails that came back. */
  bounced: number;
  /** Recipients who were counted as delivered, and whom nothing else reached. */
  lost: number;
  complained: number;
  unsubscribed: number;
  /** Mails without an answer that arrived, and recipients who were counted as failed until then. */
  arrived: number;
  found: number;
  /** Of the mails that came back, those without an answer, and recipients who were counted as failed until then. */
  returned: number;
  missed: number;
  /** Of those recipients, by their arm: `found` ones and `lost` ones. */
  gained_a: number;
  gained_b: number;
  lost_a: number;
  lost_b: number;
}

/** A job as its row says it. `withContent` adds what it says. */
export interface JobRecord
  extends Omit<JobSpec, keyof JobContent>,
    Tally,
    Pick<RowOf<typeof JobItem>, "id" | "status" | "sent" | "created_at"> {
  /** Or the hash under which it is stored. */
  content: JobContent | string;
  /** Its recipients are in two arms. */
  isSplit: boolean;
  /** What came back after it was handed over. */
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
  /** Its campaign is paused or archived: it is neither fired, dispatched nor planned, and what it has deferred waits. */
  held: boolean;
  /** Why its brake stopped it, until it is resumed or canceled (F21). */
  halted: Halt | undefined;
  /** What was known of it when it was resumed last. */
  resumedWith: Figures | undefined;
  /** When it was last released, in milliseconds: it counts as late only after that. */
  releasedAt: number | undefined;
  /** Set at dispatch. */
  deliverySettings: DeliverySettings | undefined;
  /** Sends taken from the quota for this job, undefined until they are; once it has ended, what it sent. */
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
