// The control group and the arms of a send: decided by a hash, so that every worker and retry agrees (ABH-1, ABH-2).
import { createHash } from "node:crypto";

const BUCKETS = 10_000;

/** The default share of arm A, in percent. */
export const HALF = 50;

/** The purpose of a bucket. Each purpose has its own hash, so that holdout and arm are independent. */
export type SplitPurpose = "holdout" | "split" | "canary";

/** The bucket (0 to 9,999) of a subscriber for one purpose and one unit: a job, or the notification of an experience. */
export function bucket(purpose: SplitPurpose, unit: string, subscriberId: string): number {
  return createHash("sha256").update(`${purpose}:${unit}:${subscriberId}`).digest().readUInt32BE(0) % BUCKETS;
}

/** Whether the subscriber belongs to the control group; `percentage` is 0 to 99 (ABH-4). */
export function isHeldOut(unit: string, subscriberId: string, percentage: number): boolean {
  return percentage > 0 && bucket("holdout", unit, subscriberId) < percentage * 100;
}

/** The arm of a recipient who is not held out; `splitPercentage` is arm A's share, 0 to 100 (ABH-1). */
export function armOf(unit: string, subscriberId: string, splitPercentage: number): "a" | "b" {
  return bucket("split", unit, subscriberId) < splitPercentage * 100 ? "a" : "b";
}
