// The statuses of a simulation on history and the moves between them (F3): the condition of each write.

export const simulationStatuses = ["pending", "processing", "completed", "failed", "canceled"] as const;
type SimulationStatus = (typeof simulationStatuses)[number];

export const simulationMoves = {
  /** A worker starts it, at first or after another one stopped. */
  begin: { from: ["pending", "processing"], to: "processing" },
  /** The whole window was replayed. */
  complete: { from: ["processing"], to: "completed" },
  /** It cannot be computed. */
  fail: { from: ["pending", "processing"], to: "failed" },
  cancel: { from: ["pending", "processing", "canceled"], to: "canceled" },
} as const satisfies Record<string, { from: readonly SimulationStatus[]; to: SimulationStatus }>;
