// The stored form of campaigns (CMP).
import * as v from "valibot";
import type { SafetyInput } from "../../contract/safety.ts";
import { LastError, said, Timestamp } from "../../contract/schemas.ts";
import type { Target } from "../../contract/send-input.ts";
import { ShownContent } from "../../contract/shown-content.ts";
import { campaignMoves, campaignStatuses } from "../../rules/campaign-states.ts";
import { editFields } from "../edits.ts";
import { entity } from "../item.ts";
import { json } from "../json-text.ts";

/** The content, channels and time of a message. */
export const messageFields = {
  content: v.optional(ShownContent),
  template_id: v.optional(v.string()),
  chat_app_template_id: v.optional(v.string()),
  chat_app_parameters: v.optional(v.array(v.string())),
  /** The second arm of an A/B test. */
  variant_b: v.optional(ShownContent),
  /** The share of arm A, in percent. */
  split_percentage: v.optional(v.number()),
  channel_ids: v.array(v.string()),
  /** Omitted: the message is sent with the campaign. */
  scheduled_at: v.optional(Timestamp),
};

export const CampaignMessage = v.object({
  id: v.string(),
  ...messageFields,
  position: v.number(),
  /** Empty until released. */
  job_id: v.string(),
});
export type CampaignMessage = v.InferOutput<typeof CampaignMessage>;

/** Why the job of a message as a whole failed (AMB-126). */
export const MessageError = v.object({ code: v.string(), message: v.string() });

/** The fields that a member sets: stored, returned, replaced and copied as they are given. */
export const authoredFields = {
  name: v.string(),
  category: v.picklist(["transactional", "marketing"]),
  /** The topic of all its messages. */
  topic: v.optional(v.string()),
  holdout_percentage: v.number(),
};

/** The fields of a campaign in the API, as they are stored. */
export const campaignFields = {
  id: v.string(),
  status: v.picklist(campaignStatuses),
  ...authoredFields,
  /** The error of the last message that failed as a whole (AMB-123). */
  last_error: v.optional(LastError),
  created_at: Timestamp,
  updated_at: Timestamp,
};

const Member = v.object({ user_id: v.string(), name: v.string() });

/** The fields of a release request in the API (RDA-26). */
export const approvalFields = {
  id: v.string(),
  status: v.picklist(["waiting", "approved", "declined"]),
  requested_by: said("Who asked", Member),
  requested_at: said("When that was", Timestamp),
  sends_at: said("When each message goes out; `null`: once it is approved", v.array(v.nullable(Timestamp))),
  decided_by: said("Who approved or declined", v.optional(Member)),
  decided_at: said("When that was", v.optional(Timestamp)),
  note: said("Why it was declined", v.optional(v.string())),
};

export interface Approval extends v.InferOutput<v.ObjectSchema<typeof approvalFields, undefined>> {
  /** The draw of the preview that the requesting member saw. */
  draw?: string | undefined;
  /** Digests of the request, by the field of the campaign. */
  asked: Readonly<Record<string, string>>;
}

export const CampaignItem = entity("campaign", {
  about: "A campaign with its messages.",
  row: {
    ...campaignFields,
    react: v.literal("campaign"),
    target: json<Target>(),
    scheduled_at: v.optional(v.string()),
    messages: json<readonly CampaignMessage[]>(),
    /** The brake of its sends; `null`: none. */
    safety: v.optional(json<SafetyInput>()),
    /** In milliseconds; absent from a draft. */
    released_at: v.optional(v.number()),
    /** The draw of its preview, which replaces the draws of the messages (AMB-140). */
    draw: v.optional(v.string()),
    approval: v.optional(json<Approval>()),
    /** The status to which it returns when it is unarchived. */
    archived_from: v.optional(v.picklist(campaignMoves.archive.from)),
    /** How often it was paused or archived. */
    holds: v.optional(v.number()),
    /** Its deletion began: it accepts no further move or schedule. */
    deleting: v.optional(v.literal(true)),
    /** It was unarchived and has not been resumed since. */
    restored: v.optional(v.boolean()),
    /** By job that was held at the last resume: its time in milliseconds, or `null` if it is skipped (AMB-138). */
    resumed: v.optional(json<Record<string, number | null>>()),
    /** By job. */
    "error:*": MessageError,
    ...editFields,
  },
  writers: ["api-campaigns", "api-channels", "run-campaign", "fan-out", "deliver"],
});
