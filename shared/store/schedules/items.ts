// The stored form of cron schedules (SCH).
import * as v from "valibot";
import { LastError } from "../../contract/schemas.ts";
import { entity, item } from "../item.ts";

/** The fields of a schedule in the API, as they are stored. */
export const scheduleFields = {
  id: v.string(),
  cron_expression: v.string(),
  timezone: v.string(),
  template_id: v.string(),
  channel_ids: v.array(v.string()),
};

export const ScheduleItem = entity("schedule", {
  about: "A cron schedule.",
  row: {
    ...scheduleFields,
    topic: v.optional(v.nullable(v.string())),
    react: v.optional(v.literal("schedule")),
    active: v.boolean(),
    campaign_id: v.optional(v.string()),
    /** The next tick in milliseconds; absent while inactive. */
    next: v.optional(v.number()),
    /** Grows with each change of when it fires: a timer of an earlier revision does nothing. */
    revision: v.number(),
    /** The last tick that was too late to be sent. */
    last_missed_at: v.optional(v.string()),
    /** The error of the last tick that ended, if it failed. */
    last_error: v.optional(LastError),
    /** The day of the last tick whose failure was annotated, in its time zone. */
    annotated_on: v.optional(v.string()),
    /** The action on its campaign that switched it off. */
    held_by: v.optional(v.picklist(["pause", "archive"])),
    /** The last of the holds of its campaign after which it was said whether it is active. */
    hold: v.optional(v.number()),
    created_at: v.string(),
    updated_at: v.string(),
  },
  writers: [
    "api-schedules",
    "api-campaigns",
    "api-channels",
    "api-templates",
    "run-schedule",
    "run-campaign",
    "fan-out",
    "deliver",
  ],
});

export const CampaignSchedule = item({
  about: "A schedule that belongs to a campaign.",
  pk: ({ campaign }: { campaign: string }) => `campaign#${campaign}`,
  sk: ({ schedule }: { schedule: string }) => `S#${schedule}`,
  prefix: "S#",
  row: {},
  writers: ["api-schedules"],
});
