// The statuses of an import job and the moves between them (IMP-2): the condition of each write.

export const importStatuses = ["pending", "processing", "completed", "failed", "canceled"] as const;
type ImportStatus = (typeof importStatuses)[number];

export const importMoves = {
  /** The worker has read the header of the file. */
  begin: { from: ["pending"], to: "processing" },
  /** Every row was imported or counted as failed. */
  complete: { from: ["processing"], to: "completed" },
  /** The file, its header or its list does not allow the import. */
  fail: { from: ["pending", "processing"], to: "failed" },
  /** By a member of the team: the batch in progress is the last one. */
  cancel: { from: ["pending", "processing"], to: "canceled" },
} as const satisfies Record<string, { from: readonly ImportStatus[]; to: ImportStatus }>;
