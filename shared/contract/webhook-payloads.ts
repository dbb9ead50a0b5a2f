// The payloads of webhooks, by their events (WEV).
import * as v from "valibot";
import { breachReasons } from "../rules/brake.ts";
import { interactions, platforms } from "../rules/interactions.ts";
import { consentStatuses } from "../rules/topics.ts";
import type { WebhookEvent } from "../rules/webhook-events.ts";
import { said, Timestamp } from "./schemas.ts";

const text = (about: string) => said(about, v.string());
const count = (about: string) => v.pipe(v.number(), v.integer(), v.minValue(0), v.description(about));
const share = (about: string) => v.pipe(v.number(), v.minValue(0), v.maxValue(1), v.description(about));

const job = { job_id: text("The id of the notification") };

/** Why a brake halted a send or a step (F21). */
const breach = {
  reason: said("Which limit was exceeded", v.picklist(breachReasons)),
  channel: text("The type of the channel that it is about"),
  rate: share("`count` over `tried`"),
  limit: share("The share at which it halts"),
  count: count("Errors, bounces, complaints or opt-outs"),
  tried: count("Addresses that were tried"),
};

const subscriber = { subscriber_id: text("The subscriber") };

const membership = { segment_id: text("The segment"), ...subscriber };

const fate = {
  ...job,
  ...subscriber,
  channel: text("The type of the channel: `email`"),
  reason: said("Why, in the words of the ledger; `null` if nobody said", v.nullable(v.string())),
};

export const webhookPayloads = {
  "subscriber.created": said(
    "A subscriber is new. A change of a known one does not fire it.",
    v.strictObject({
      subscriber_id: text("The subscriber"),
      external_id: text("The id of the subscriber in your own system"),
      email: said("The email address, if there is one", v.nullable(v.string())),
      attributes: said("The attributes, as an object", v.record(v.string(), v.any())),
      created: said("Always `true`", v.boolean()),
    }),
  ),
  "notification.dispatched": said(
    "A send starts.",
    v.strictObject({
      ...job,
      target_size_estimate: count("About how many subscribers it is for"),
      scheduled_at: said("When it was scheduled for; `null` if it was sent at once", v.nullable(Timestamp)),
    }),
  ),
  "notification.halted": said(
    "The brake of a send stopped it: resume or cancel it.",
    v.strictObject({ ...job, ...breach }),
  ),
  "journey.halted": said(
    "The brake of a journey's step stopped it: resume or cancel the step.",
    v.strictObject({
      journey_id: text("The journey"),
      version: count("The version of the journey"),
      step: text("The id of the step"),
      ...breach,
    }),
  ),
  "notification.terminal": said(
    "A send has ended.",
    v.strictObject({
      ...job,
      status: said("`failed` if it reached no recipient", v.picklist(["completed", "failed"])),
      delivered: count("Recipients that a provider accepted"),
      failed: count("Recipients that it did not reach"),
      total: count("`delivered` and `failed` together"),
    }),
  ),
  "notification.interaction": said(
    "A recipient interacted with a message.",
    v.strictObject({
      ...job,
      interaction_type: said("What the recipient did", v.picklist(interactions)),
      platform: said("The system on which the message was seen", v.picklist(platforms)),
      variant_id: said("The arm. Only of sends with two variants", v.optional(v.picklist(["a", "b"]))),
    }),
  ),
  "message.bounced": said(
    "A mail that its provider had accepted came back: `notification.terminal` counted it as delivered.",
    v.strictObject(fate),
  ),
  "message.complained": said("The recipient of a mail called it spam.", v.strictObject(fate)),
  "consent.changed": said(
    "A subscriber agreed to a channel or topic, or no longer does. An assertion that changes nothing does not fire it.",
    v.strictObject({
      ...subscriber,
      channel: text("`email`, `sms`, `chat_app`, or `topic:` and the key of a topic"),
      status: said("What holds from now on", v.picklist(consentStatuses)),
      previous: said("What held before, if anything did", v.nullable(v.picklist(consentStatuses))),
    }),
  ),
  "subscriber.unsubscribed": said(
    "A subscriber opted out of a whole channel. `consent.changed` fires too.",
    v.strictObject({ ...subscriber, channel: text("`email`, `sms` or `chat_app`") }),
  ),
  "segment.entered": said(
    "A subscriber entered a segment, also when the segment is computed for the first time.",
    v.strictObject(membership),
  ),
  "segment.left": said("A subscriber left a segment.", v.strictObject(membership)),
} satisfies Record<WebhookEvent, v.GenericSchema>;
