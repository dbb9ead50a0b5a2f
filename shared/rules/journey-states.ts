// The statuses of a journey and the moves between them (JNY-4, D-JNY-ARCHIVE). The table is the condition of the write.

export const journeyStatuses = ["draft", "active", "paused", "archived"] as const;
export type JourneyStatus = (typeof journeyStatuses)[number];

export const journeyMoves = {
  activate: { from: ["draft", "paused"], to: "active" },
  pause: { from: ["active"], to: "paused" },
  /** Active runs are canceled. */
  archive: { from: ["draft", "paused"], to: "archived" },
} as const satisfies Record<string, { from: readonly JourneyStatus[]; to: JourneyStatus }>;
