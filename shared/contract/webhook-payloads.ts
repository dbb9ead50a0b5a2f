// The payloads of webhooks, by their events (WEV).
import * as v from "valibot";
import { breachReasons } from "../rules/brake.ts";
import { interactions, platforms } from "../rules/interactions.ts";
import { consentStatuses } from "../rules/topics.ts";
import type { WebhookEvent } from "../rules/webhook-events.ts";
import { Timestamp } from "./schemas.ts";

const text = (about: string) => v.pipe(v.string(), v.description(about));
const count = (about: string) => v.pipe(v.number(), v.integer(), v.minValue(0), v.description(about));
const share = (about: string) => v.pipe(v.number(), v.minValue(0), v.maxValue(1), v.description(about));

const job = { job_id: text("The id of the notification") };

/** Why a brake halted a send or a step (F21). */
const breach = {
  reason: v.pipe(v.picklist(breachReasons), v.description("Which limit was exceeded")),
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
  reason: v.pipe(v.nullable(v.string()), v.description("Why, in the words of the ledger; `null` if nobody said")),
};

export const webhookPayloads = {
  "subscriber.created": v.pipe(
    v.strictObject({
      subscriber_id: text("The subscriber"),
      external_id: text("The id of the subscriber in your own system"),
      email: v.pipe(v.nullable(v.string()), v.description("The e-mail address, if there is one")),
      attributes: v.pipe(v.record(v.string(), v.any()), v.description("The attributes, as an object")),
      created: v.pipe(v.boolean(), v.description("Always `true`")),
    }),
    v.description("A subscriber is new. A change of a known one does not fire it."),
  ),
  "notification.dispatched": v.pipe(
    v.strictObject({
      ...job,
      target_size_estimate: count("About how many subscribers it is for"),
      scheduled_at: v.pipe(
        v.nullable(Timestamp),
        v.description("When it was scheduled for; `null` if it was sent at once"),
      ),
    }),
    v.description("A send starts."),
  ),
  "notification.halted": v.pipe(
    v.strictObject({ ...job, ...breach }),
    v.description("The brake of a send stopped it: resume or cancel it."),
  ),
  "journey.halted": v.pipe(
    v.strictObject({
      journey_id: text("The journey"),
      version: count("The version of the journey"),
      step: text("The id of the step"),
      ...breach,
    }),
    v.description("The brake of a journey's step stopped it: resume or cancel the step."),
  ),
  "notification.terminal": v.pipe(
    v.strictObject({
      ...job,
      status: v.pipe(v.picklist(["completed", "failed"]), v.description("`failed` if it reached no recipient")),
      delivered: count("Recipients that a provider accepted"),
      failed: count("Recipients that it did not reach"),
      total: count("`delivered` and `failed` together"),
    }),
    v.description("A send has ended."),
  ),
  "notification.interaction": v.pipe(
    v.strictObject({
      ...job,
      interaction_type: v.pipe(v.picklist(interactions), v.description("What the recipient did")),
      platform: v.pipe(v.picklist(platforms), v.description("The system on which the message was seen")),
      variant_id: v.pipe(v.optional(v.picklist(["a", "b"])), v.description("The arm. Only of sends with two variants")),
    }),
    v.description("A recipient interacted with a message."),
  ),
  "message.bounced": v.pipe(
    v.strictObject(fate),
    v.description("A mail that its provider had accepted came back: `notification.terminal` counted it as delivered."),
  ),
  "message.complained": v.pipe(v.strictObject(fate), v.description("The recipient of a mail called it spam.")),
  "consent.changed": v.pipe(
    v.strictObject({
      ...subscriber,
      channel: text("`email`, `sms`, `chat_app`, or `topic:` and the key of a topic"),
      status: v.pipe(v.picklist(consentStatuses), v.description("What holds from now on")),
      previous: v.pipe(v.nullable(v.picklist(consentStatuses)), v.description("What held before, if anything did")),
    }),
    v.description(
      "A subscriber agreed to a channel or topic, or no longer does. An assertion that changes nothing does not fire it.",
    ),
  ),
  "subscriber.unsubscribed": v.pipe(
    v.strictObject({ ...subscriber, channel: text("`email`, `sms` or `chat_app`") }),
    v.description("A subscriber opted out of a whole channel. `consent.changed` fires too."),
  ),
  "segment.entered": v.pipe(
    v.strictObject(membership),
    v.description("A subscriber entered a segment, also when the segment is computed for the first time."),
  ),
  "segment.left": v.pipe(v.strictObject(membership), v.description("A subscriber left a segment.")),
} satisfies Record<WebhookEvent, v.GenericSchema>;
