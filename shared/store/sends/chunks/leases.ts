// The hold of a worker on a chunk during delivery, and its stored form (docs/decisions/0013).
import { SECOND } from "../../../kernel/clock.ts";
import type { NewRowOf, RowOf } from "../../item.ts";
import { fromJson } from "../../json-text.ts";
import type { ClaimItem } from "../audience/audience-items.ts";
import type { JobItem } from "../jobs/job-items.ts";

/** A worker's time limit and 10 s: after this, no worker is working on the group. */
export const LEASE_MS = 70 * SECOND;

/** The hold of one worker on a chunk. */
export interface Lease {
  owner: string;
  /** Counts the writes, so that a worker recognizes its own write when it repeats it. */
  step: number;
  /** When the chunk was first claimed. */
  at: number;
  /** Recipients of the chunk that the range counts as waiting for the end of quiet hours. */
  deferred: number;
  /** The outcomes of the chunk that were counted before a long wait. */
  reported: Record<string, number>;
}

/** The first lease of a chunk. */
export const newLease = (owner: string, at: number): Lease => ({ owner, step: 0, at, deferred: 0, reported: {} });

type StoredClaim = "owner" | "lease" | "at" | "step" | "progress" | "waits" | "deferred" | "reported" | "closed";

/** A claim as it is stored: in a row of its own, or on the row of a job that has its recipients. */
export type ClaimState = Pick<NewRowOf<typeof ClaimItem>, StoredClaim>;

/** The claim on the row of a job; undefined before the first one and after the end. */
export function claimOnJob({ owner, lease = 0, at = 0, ...row }: RowOf<typeof JobItem>): ClaimState | undefined {
  const { step, progress, waits, deferred, reported } = row;
  return owner === undefined ? undefined : { owner, lease, at, step, progress, waits, deferred, reported };
}

/** The stored lease, for taking over a chunk. */
export const leaseOf = ({ owner, step = 0, at, deferred = 0, reported }: ClaimState): Lease => ({
  owner,
  step,
  at,
  deferred,
  reported: reported ? fromJson(reported) : {},
});
