// The API's shapes of a campaign: its fields, its numbers, and the attribute keys in its audience that no subscriber
// has.
import * as v from "valibot";
import { grammar } from "../../../shared/contract/grammar.ts";
import { acted, reached } from "../../../shared/contract/results.ts";
import { Halt, SafetyInput } from "../../../shared/contract/safety.ts";
import { said, Timestamp, titled } from "../../../shared/contract/schemas.ts";
import { timestamp } from "../../../shared/kernel/clock.ts";
import { compileRule } from "../../../shared/rules/segment-evaluation.ts";
import type { Campaign } from "../../../shared/store/campaigns/campaigns.ts";
import {
  approvalFields,
  CampaignMessage,
  campaignFields,
  MessageError,
  messageFields,
} from "../../../shared/store/campaigns/items.ts";
import { abridgedMessage, rewrittenMessages } from "../../../shared/store/campaigns/mails.ts";
import type { StoreReader } from "../../../shared/store/context.ts";
import type { MailReading } from "../../../shared/store/files/mails.ts";
import { fieldsOf } from "../../../shared/store/item.ts";
import { fromJson } from "../../../shared/store/json-text.ts";
import { findSegment } from "../../../shared/store/segments/segments.ts";
import { uncertain } from "../../../shared/store/sends/chunks/tallies.ts";
import { unknownKeys } from "../../../shared/store/subscribers/unknown-keys.ts";

export const CampaignShape = v.object({
  ...campaignFields,
  approval: v.optional(
    said(
      "The release that a second person was asked for, and what became of it",
      v.object({
        ...approvalFields,
        previewed: said("Whether who is held out, and who gets which arm, is as who asked was shown", v.boolean()),
      }),
    ),
  ),
  target: v.pipe(v.looseObject({ type: v.string() }), grammar("Target")),
  ...messageFields,
  safety: v.optional(SafetyInput),
  messages: v.array(
    v.object({
      ...CampaignMessage.entries,
      moved_to: v.optional(
        said(
          "When it goes out instead, since the campaign was resumed last; `null`: it was skipped",
          v.nullable(Timestamp),
        ),
      ),
      error: v.optional(MessageError),
    }),
  ),
});

/** Recipients who failed (AMB-126). */
export const failures = { failed: v.number(), fail_reasons: v.record(v.string(), v.number()), uncertain };

/** The halted sends of a campaign (F21). */
export const halted = said(
  "The sends that their brake stopped",
  v.array(v.object({ job_id: v.string(), ...Halt.entries })),
);

export const ListedCampaign = titled("ListedCampaign", {
  ...CampaignShape.entries,
  results: v.optional(
    said(
      "What came of it so far, with `results`; left out before anything went out",
      v.object({
        sent: v.number(),
        delivered: reached.delivered,
        opened_human: acted.opened_human,
        clicked_human: acted.clicked_human,
        unsubscribed: reached.unsubscribed,
        opened_by_day: said(
          "Who first opened it, by days in UTC from the first dispatch to the last on which somebody did",
          v.array(v.number()),
        ),
      }),
    ),
  ),
});

/** Reads the mails that are stored apart, and shows the whole campaign. @param read for an answer of what is done, `asRead` */
export const shownWhole = async (read: MailReading["whole"], campaign: Campaign) =>
  shown({ ...campaign, messages: await rewrittenMessages(read, campaign.messages) });

/** The top level repeats the first message. Its time is the campaign's own, if it has one (CMP-10, AMB-66). */
export function shown(campaign: Campaign) {
  const messages = campaign.messages.map(abridgedMessage);
  const [first] = messages;
  return {
    ...campaign,
    messages: messages.map((message) => ({ ...message, moved_to: movedTo(campaign, message) })),
    approval: campaign.approval && { ...campaign.approval, previewed: campaign.approval.draw !== undefined },
    ...(first && fieldsOf(messageFields, first)),
    channel_ids: first?.channel_ids ?? [],
    scheduled_at: campaign.scheduled_at ?? first?.scheduled_at,
  };
}

/** @returns undefined for a message that keeps its time (AMB-138) */
function movedTo(
  { resumed, scheduled_at: own }: Campaign,
  { job_id, scheduled_at = own }: Campaign["messages"][number],
) {
  const time = resumed?.[job_id];
  if (time === undefined || time === null) return time;
  return scheduled_at !== undefined && Date.parse(scheduled_at) === time ? undefined : timestamp(time);
}

/** The keys in the rule of the target segment that no subscriber has (AMB-148). */
export async function unknownKeysOfTarget(store: StoreReader, target: Campaign["target"]) {
  const segment = target.type === "segment" ? await findSegment(store, target.segment_id) : undefined;
  return segment ? unknownKeys(store, compileRule(fromJson(segment.rule)).keys) : {};
}
