// What a worker holds of a chunk while it delivers it (docs/decisions/0013).
import { SECOND } from "../../../kernel/clock.ts";
import type { RowOf } from "../../item.ts";
import type { Failure } from "../../refusals.ts";
import type { ClaimItem } from "../audience/audience-items.ts";
import type { Category } from "../jobs/job-items.ts";
import type { Tally } from "./tallies.ts";

/** A worker's time limit and 10 s: when it is over, no worker is working on the group any more. */
export const LEASE_MS = 70 * SECOND;

/** What one worker holds of a chunk. */
export interface Lease {
  owner: string;
  /** Counts the writes, so that a worker recognizes its own write when it repeats it. */
  step: number;
  /** When the chunk was first claimed. */
  at: number;
  /** Recipients of the chunk that the range counts as waiting for the end of quiet hours. */
  deferred: number;
  /** What is counted of the chunk already, before a long wait. */
  reported: Record<string, number>;
}

type ClaimRow = RowOf<typeof ClaimItem>;
type ClaimAttribute = "owner" | "lease" | "at" | "step" | "progress" | "waits" | "deferred" | "told" | "closed";

/** A claim as it is stored: in a row of its own, or on the row of a job with one recipient. */
export type ClaimState = { [N in keyof Pick<ClaimRow, ClaimAttribute>]: ClaimRow[N] | undefined } & Pick<
  ClaimRow,
  "owner" | "lease" | "at"
>;

/** The lease after a claim; undefined if another worker has the chunk; or why its other writes were refused. */
export type Advanced = Lease | { refused: readonly Failure[] } | undefined;

/** How a chunk is released: any worker may continue from `waits` on. */
export interface Released {
  waits: number;
  /** Recipients that wait for the end of quiet hours. */
  deferred: number;
  tally: Tally;
  category: Category;
}
