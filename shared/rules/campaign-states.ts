// The statuses of a campaign and the moves between them (CMP-18 to CMP-26): the condition of each write.

export const campaignStatuses = ["draft", "scheduled", "live", "completed", "paused", "archived"] as const;
export type CampaignStatus = (typeof campaignStatuses)[number];

export const campaignMoves = {
  /** Released, and a message goes out at once. */
  release_now: { from: ["draft"], to: "live" },
  /** Released, and every message has a later time. */
  release_later: { from: ["draft"], to: "scheduled" },
  /** Its first job was dispatched. */
  start: { from: ["scheduled"], to: "live" },
  /** Every job has ended, and no recurring schedule of its own is active. */
  complete: { from: ["live"], to: "completed" },
  pause: { from: ["scheduled", "live"], to: "paused" },
  resume: { from: ["paused"], to: "scheduled" },
  archive: { from: ["draft", "scheduled", "live", "completed", "paused"], to: "archived" },
  /** Unarchived, back to the status that it had. */
  restore_draft: { from: ["archived"], to: "draft" },
  restore_scheduled: { from: ["archived"], to: "scheduled" },
  restore_live: { from: ["archived"], to: "live" },
  restore_completed: { from: ["archived"], to: "completed" },
  restore_paused: { from: ["archived"], to: "paused" },
} as const satisfies Record<string, { from: readonly CampaignStatus[]; to: CampaignStatus }>;

/** In these statuses the campaign sends nothing. */
export const isHeld = (status: string): boolean => status === "paused" || status === "archived";
