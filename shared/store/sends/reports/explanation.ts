// The explanation of one recipient of a send in the API (F2).
import * as v from "valibot";
import { grammar } from "../../../contract/grammar.ts";
import { Named, NamedPerson } from "../../../contract/named.ts";
import { personal } from "../../../contract/personal.ts";
import { said, Timestamp } from "../../../contract/schemas.ts";
import { channelTypes } from "../../../rules/channel-types.ts";
import { recipientStates } from "../../../rules/recipient-states.ts";
import { topicDefaults } from "../../../rules/topics.ts";
import { Attempt, decisions, ReachedCap } from "../ledger/attempts.ts";
import { ChannelOutcome } from "../ledger/channel-outcomes.ts";

const Share = v.object({ percentage: v.number(), bucket: v.number() });

const Clause = v.object({
  key: v.string(),
  condition: v.pipe(v.any(), grammar("ClauseCondition")),
  value: personal(v.any()),
  matches: v.boolean(),
});
export type Clause = v.InferOutput<typeof Clause>;

const QuietHoursNow = v.object({
  start: v.string(),
  end: v.string(),
  days: v.array(v.number()),
  timezone_mode: v.picklist(["subscriber", "workspace"]),
  timezone: v.string(),
  local_time: v.string(),
  until: v.nullable(Timestamp),
});

/** The rules of the send with the values that they see now. */
const RulesNow = v.object({
  subscriber_filters: v.array(Clause),
  device_filters: v.array(v.object({ device_id: v.string(), clauses: v.array(Clause) })),
  /** Null for a send without a topic. */
  topic: v.nullable(
    v.object({
      key: v.string(),
      default: v.picklist(topicDefaults),
      choice: said("The newest choice; `null` while the default decides", v.nullable(v.string())),
      chosen_at: said("When that was said", v.nullable(Timestamp)),
      reachable: v.boolean(),
    }),
  ),
  email_consent_mode: said(
    "Whether marketing mail goes to all who did not object, or only to those who agreed",
    v.picklist(["opt_out", "opt_in"]),
  ),
  segment: said(
    "The segment that it goes to; `null` for a send to others, and where the segment is gone",
    v.nullable(
      v.object({
        id: v.string(),
        name: v.string(),
        is_dynamic: v.boolean(),
        member: v.boolean(),
        unmet: said("What of its rule does not hold, in words", personal(v.nullable(v.string()))),
      }),
    ),
  ),
  list: said(
    "The list that it goes to; `null` for a send to others, and where the list is gone",
    v.nullable(
      v.object({
        id: v.string(),
        name: v.string(),
        consent: said("`pending`: was asked to confirm, and has not yet", v.nullable(v.string())),
        consent_at: said("When that was said", v.nullable(Timestamp)),
      }),
    ),
  ),
  unusable_channels: said(
    "Of the channels that the send names, those that cannot send now",
    v.array(
      v.object({
        id: v.string(),
        name: v.nullable(v.string()),
        why: said("Why it cannot", v.picklist(["switched_off", "not_verified", "not_in_plan", "deleted"])),
      }),
    ),
  ),
  channels: v.array(
    v.object({
      channel: v.picklist(channelTypes),
      reachable: v.boolean(),
      reason: v.nullable(v.string()),
      devices: v.number(),
      devices_off: said(
        "Devices of the channel whose token the provider refused, or whose owner disabled pushes",
        v.number(),
      ),
      consent: v.nullable(v.string()),
      consent_at: said("Since when that holds", v.nullable(Timestamp)),
      consent_of: said(
        "Whose it is: `address` of whoever has the address, as after an opt-out by a link in a mail",
        v.nullable(v.picklist(["person", "address"])),
      ),
      suppression: said(
        "Why nothing is sent to the address; `null`: it is not suppressed",
        v.nullable(
          v.object({
            reason: v.string(),
            suppressed_at: said("Since when", Timestamp),
          }),
        ),
      ),
    }),
  ),
  quiet_hours: v.nullable(QuietHoursNow),
  caps: v.array(ReachedCap),
  ranking: v.nullable(v.array(v.object({ class: v.string(), source: v.string(), score: v.number() }))),
});
export type RulesNow = v.InferOutput<typeof RulesNow>;

const Wait = v.object({
  channel: v.picklist(channelTypes),
  device_id: v.nullable(v.string()),
  why: said(
    "`throttled`: the provider takes no more messages for the moment; `verifying`: the channel's new credentials are being " +
      "verified. Neither counts as an attempt. `held`: quiet hours are over, and its workspace, campaign or journey was " +
      "stopped at their end",
    v.picklist(["quiet_hours", "throttled", "verifying", "retry", "held"]),
  ),
  since: said(
    "The last attempt, or since when its channel takes nothing; `null`: there was none",
    v.nullable(Timestamp),
  ),
  attempts: said("How often it was tried", v.number()),
  until: said("It is tried again then, or as soon as its turn comes after it", Timestamp),
});
export type Wait = v.InferOutput<typeof Wait>;

/** The message on one channel. */
const ShownMessage = v.object({
  channel: v.picklist(channelTypes),
  title: personal(v.nullable(v.string())),
  body: personal(v.nullable(v.string())),
  html: said("Of email, without the links that count clicks", personal(v.optional(v.string()))),
  attributes_changed: said(
    "It was rendered again, and attributes that it shows have changed since; `null`: whether they have is not known",
    v.nullable(v.boolean()),
  ),
  left_out: said(
    "What the answer has no room for. The explanation of this send by itself has it",
    v.optional(v.array(v.string())),
  ),
});
export type ShownMessage = v.InferOutput<typeof ShownMessage>;

export const Explanation = v.object({
  notification_id: v.string(),
  subscriber_id: v.string(),
  notification: said("The send that is asked about", Named),
  subscriber: said("The person who is asked about", NamedPerson),
  decision: v.picklist(decisions),
  state: v.picklist(recipientStates),
  reason: v.nullable(v.string()),
  in_words: said("The answer in a few sentences", v.string()),
  /** The end of the quiet hours that its messages wait for. */
  deferred_until: v.nullable(Timestamp),
  holdout: Share,
  held_out: v.boolean(),
  split: v.nullable(Share),
  variant_id: v.nullable(v.string()),
  /** For a send with a canary (F21). */
  canary: said("The share that gets the send first, and the subscriber's place; `null` without one", v.nullable(Share)),
  channels: said(
    "What became of the message on each channel; empty for one who is sent nothing",
    v.array(ChannelOutcome),
  ),
  attempts: v.array(Attempt),
  waits: said(
    "The addresses that wait for another attempt, or for the end of quiet hours; empty once the send is over",
    v.array(Wait),
  ),
  messages: said(
    "The message as the subscriber got it on each channel that was tried, from the content of this send",
    v.array(ShownMessage),
  ),
  /** Null for a subscriber that does not exist. */
  now: v.nullable(RulesNow),
  evaluated_at: Timestamp,
});
export type Explanation = v.InferOutput<typeof Explanation>;
