// The statuses of an export and the moves between them (RDA-16): the condition of each write.

export const exportStatuses = ["pending", "processing", "completed", "failed", "expired"] as const;
type ExportStatus = (typeof exportStatuses)[number];

export const exportMoves = {
  /** A worker starts it, at first or after another one stopped. */
  begin: { from: ["pending", "processing"], to: "processing" },
  /** The file is complete. */
  complete: { from: ["processing"], to: "completed" },
  /** It cannot be made, or a subscriber was erased in the meantime. */
  fail: { from: ["pending", "processing"], to: "failed" },
  /** A subscriber was erased: the file is deleted. */
  forget: { from: ["completed"], to: "expired" },
} as const satisfies Record<string, { from: readonly ExportStatus[]; to: ExportStatus }>;
