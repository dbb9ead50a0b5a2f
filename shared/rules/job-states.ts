// States of a notification job and the moves between them (D-NTF-STATE): the table is the condition of the write.

export const jobStatuses = ["scheduled", "queued", "processing", "completed", "failed", "canceled"] as const;
export type JobStatus = (typeof jobStatuses)[number];

export const jobMoves = {
  /** Its time has come: only one of this and cancel can win (ARC-10). */
  fire: { from: ["scheduled"], to: "queued" },
  cancel: { from: ["scheduled"], to: "canceled" },
  /** Its brake halted it, and it is canceled instead of resumed (F21). */
  stop: { from: ["queued", "processing"], to: "canceled" },
  dispatch: { from: ["queued"], to: "processing" },
  /** A send to one recipient is delivered without planning. */
  deliver: { from: ["queued"], to: "completed" },
  complete: { from: ["processing"], to: "completed" },
  /** Its workspace was deleted (AMB-112), or its archived campaign, or its experience ended. */
  abandon: { from: ["scheduled", "queued", "processing"], to: "canceled" },
  /** For a cause that concerns the whole job, or because no message was delivered. */
  fail: { from: ["scheduled", "queued", "processing"], to: "failed" },
} as const satisfies Record<string, { from: readonly JobStatus[]; to: JobStatus }>;

export const isTerminal = (status: JobStatus): boolean =>
  status === "completed" || status === "failed" || status === "canceled";

/** How a job ends: it failed if something was sent and nothing was delivered (D-NTF-STATE). */
export const outcomeOf = ({ sent, delivered }: { sent: number; delivered: number }): "completed" | "failed" =>
  sent > 0 && delivered === 0 ? "failed" : "completed";
