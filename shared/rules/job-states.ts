// States of a notification job and the moves between them (D-NTF-STATE): the table is the condition of the write.

export const jobStatuses = ["scheduled", "queued", "processing", "completed", "failed", "canceled"] as const;
export type JobStatus = (typeof jobStatuses)[number];

export const jobMoves = {
  /** Its time has come: only one of this and cancel can win (ARC-10). */
  fire: { from: ["scheduled"], to: "queued" },
  cancel: { from: ["scheduled"], to: "canceled" },
  dispatch: { from: ["queued"], to: "processing" },
  complete: { from: ["processing"], to: "completed" },
  /** A cause that concerns the whole job, or nothing at all was delivered. */
  fail: { from: ["scheduled", "queued", "processing"], to: "failed" },
} as const satisfies Record<string, { from: readonly JobStatus[]; to: JobStatus }>;

export const isTerminal = (status: JobStatus): boolean =>
  status === "completed" || status === "failed" || status === "canceled";

export interface Counts {
  /** Everyone in the audience: held-out and skipped included (AMB-95). */
  total: number;
  /** Accepted into delivery. */
  sent: number;
  delivered: number;
  failed: number;
  skipped: number;
  held_out: number;
}

export const NO_COUNTS: Counts = { total: 0, sent: 0, delivered: 0, failed: 0, skipped: 0, held_out: 0 };

/** How a job ends: it failed if something was sent and nothing was delivered (D-NTF-STATE). */
export const outcomeOf = ({ sent, delivered }: Counts): "completed" | "failed" =>
  sent > 0 && delivered === 0 ? "failed" : "completed";
