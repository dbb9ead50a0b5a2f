// The outcome of one recipient of a send, and of each attempt to reach it (F2).
import * as v from "valibot";
import { said, Timestamp } from "../../../contract/schemas.ts";
import { channelClasses } from "../../../rules/channel-types.ts";
import { recipientStates } from "../../../rules/recipient-states.ts";

export const decisions = ["sent", "deferred", "held_out", "skipped", "not_in_audience", "pending", "canceled"] as const;
export type Decision = (typeof decisions)[number];

export const ReachedCap = v.object({
  category: v.picklist(["marketing", "transactional"]),
  channel_class: v.optional(v.picklist(channelClasses)),
  max: v.number(),
  per: v.picklist(["day", "week"]),
  count: v.number(),
});

export const Attempt = v.object({
  channel: v.string(),
  device_id: v.nullable(v.string()),
  state: v.picklist(recipientStates),
  reason: v.nullable(v.string()),
  provider_id: v.nullable(v.string()),
  shortened: said("Whether its text was too long for the provider, and was cut", v.boolean()),
  attempted_at: v.array(Timestamp),
  complained: said("Whether its recipient reported the mail as spam", v.boolean()),
  /** The reached cap, and its count. */
  cap: v.nullable(ReachedCap),
  claimed_with: said(
    "What held for the address when the message was claimed; `null` where it needs no consent, or is not known",
    v.nullable(
      v.object({
        consent: said("Of the channel; `null`: none was ever given", v.nullable(v.string())),
        suppression: said("Why the address was suppressed; `null`: it was not", v.nullable(v.string())),
        topic_choice: said(
          "Of the topic of the send; `null`: its default decided, or the send has none",
          v.nullable(v.string()),
        ),
      }),
    ),
  ),
});
export type Attempt = v.InferOutput<typeof Attempt>;
