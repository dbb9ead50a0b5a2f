// States of a journey's run and the moves between them (JND-14, AMB-10): the table is the condition of the write.

export const runStatuses = ["active", "completed", "exited", "canceled"] as const;
export type RunStatus = (typeof runStatuses)[number];

export const runMoves = {
  /** It reached an exit, an empty next, or the end of a branch or wait that leads nowhere. */
  complete: { from: ["active"], to: "completed" },
  /** An exit condition of the journey held. */
  exit: { from: ["active"], to: "exited" },
  /** By hand, by the journey's archiving, or with its subscriber's erasure. */
  cancel: { from: ["active"], to: "canceled" },
} as const satisfies Record<string, { from: readonly RunStatus[]; to: RunStatus }>;
