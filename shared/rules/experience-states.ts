// States of an in-app experience and the moves between them (INX-31 to INX-37): the table is the condition of the write.

export const experienceStatuses = ["draft", "live", "paused", "ended", "archived"] as const;
export type ExperienceStatus = (typeof experienceStatuses)[number];

export const experienceMoves = {
  /** Its send begins, at once or at start_at. */
  publish: { from: ["draft"], to: "live" },
  /** Delivered messages are hidden; a send still ahead is canceled. */
  pause: { from: ["live"], to: "paused" },
  /** Messages are shown again; a send that the pause canceled begins anew. */
  resume: { from: ["paused"], to: "live" },
  /** Delivered messages are recalled for good; also by itself at end_at (AMB-7). */
  end: { from: ["live", "paused"], to: "ended" },
  archive: { from: ["draft", "ended"], to: "archived" },
} as const satisfies Record<string, { from: readonly ExperienceStatus[]; to: ExperienceStatus }>;

export type ExperienceAction = keyof typeof experienceMoves;

/** Asking again for what is done already changes nothing and is no mistake (INX-35, INX-36). */
export const isDone = (action: ExperienceAction, status: ExperienceStatus): boolean =>
  (action === "end" || action === "archive") && status === experienceMoves[action].to;

/** Whether its messages are to be seen: what is paused is hidden, what has ended is recalled (D-INBOXRECALL). */
export const isShown = (status: unknown): boolean => status === ("live" satisfies ExperienceStatus);
