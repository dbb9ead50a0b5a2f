// States of an import job and the moves between them (IMP-2): the table is the condition of the write.

export const importStatuses = ["pending", "processing", "completed", "failed"] as const;
export type ImportStatus = (typeof importStatuses)[number];

export const importMoves = {
  /** The worker has the file open and its header understood. */
  begin: { from: ["pending"], to: "processing" },
  /** Every row was taken or counted as failed. */
  complete: { from: ["processing"], to: "completed" },
  /** Nothing more can be done: the file, its header or its list. */
  fail: { from: ["pending", "processing"], to: "failed" },
} as const satisfies Record<string, { from: readonly ImportStatus[]; to: ImportStatus }>;
