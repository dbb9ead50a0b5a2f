// States of an in-app experience and the transitions between them (INX-31 to INX-37).

export const experienceStatuses = ["draft", "live", "paused", "ended", "archived"] as const;
export type ExperienceStatus = (typeof experienceStatuses)[number];

export const experienceMoves = {
  /** Its send starts, at once or at start_at. */
  publish: { from: ["draft"], to: "live" },
  /** Delivered messages are hidden; a scheduled send is canceled. */
  pause: { from: ["live"], to: "paused" },
  /** Messages are shown again; a send that the pause canceled starts again. */
  resume: { from: ["paused"], to: "live" },
  /** Delivered messages are recalled, also at end_at (AMB-7). */
  end: { from: ["live", "paused"], to: "ended" },
  archive: { from: ["draft", "ended"], to: "archived" },
} as const satisfies Record<string, { from: readonly ExperienceStatus[]; to: ExperienceStatus }>;

export type ExperienceAction = keyof typeof experienceMoves;

/** A repeated end or archive succeeds and changes nothing (INX-35, INX-36). */
export const isDone = (action: ExperienceAction, status: ExperienceStatus): boolean =>
  (action === "end" || action === "archive") && status === experienceMoves[action].to;

/**
 * Whether its messages are shown: paused ones are hidden, and ended ones recalled (D-INBOXRECALL), also before a worker
 * has ended the experience.
 */
export const isShown = ({ status, until }: { status: string; until?: string | undefined }, now: number): boolean =>
  status === ("live" satisfies ExperienceStatus) && (until === undefined || now < Date.parse(until));
