// The statuses of a run and the moves between them (JND-14, AMB-10). The table is the condition of the write.

export const runStatuses = ["active", "completed", "exited", "canceled"] as const;
export type RunStatus = (typeof runStatuses)[number];

export const runMoves = {
  /** It reached an exit, a step without `next`, or the end of a branch or wait that leads to no step. */
  complete: { from: ["active"], to: "completed" },
  /** An exit condition of the journey was met. */
  exit: { from: ["active"], to: "exited" },
  /** By a user, when the journey is archived, or when the subscriber is erased. */
  cancel: { from: ["active"], to: "canceled" },
} as const satisfies Record<string, { from: readonly RunStatus[]; to: RunStatus }>;
