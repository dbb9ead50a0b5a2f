// What became of one recipient of a send, and of each attempt to reach it (F2).
import * as v from "valibot";
import { Timestamp } from "../../../contract/schemas.ts";
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
  shortened: v.pipe(v.boolean(), v.description("Whether its text was too long for the provider, and was cut")),
  attempted_at: v.array(Timestamp),
  complained: v.pipe(v.boolean(), v.description("Whether its recipient reported the mail as spam")),
  /** The cap that was reached, and what it had counted. */
  cap: v.nullable(ReachedCap),
  claimed_with: v.pipe(
    v.nullable(
      v.object({
        consent: v.pipe(v.nullable(v.string()), v.description("Of the channel; `null`: none was ever given")),
        suppression: v.pipe(
          v.nullable(v.string()),
          v.description("Why the address was suppressed; `null`: it was not"),
        ),
        topic_choice: v.pipe(
          v.nullable(v.string()),
          v.description("Of the topic of the send; `null`: its default decided, or the send has none"),
        ),
      }),
    ),
    v.description(
      "What held for the address when the message was claimed; `null` where it needs no consent, or is not known",
    ),
  ),
});
export type Attempt = v.InferOutput<typeof Attempt>;
