// Why an event or entry that could start a run of a journey did not (AMB-147).

export const refusalReasons = [
  "historical",
  "too_old",
  "paused",
  "over_quota",
  "already_active",
  "reentry_window",
  "not_eligible",
] as const;
export type RefusalReason = (typeof refusalReasons)[number];
