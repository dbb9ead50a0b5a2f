// Why a message was sent, waits or was not sent, and why a journey did not begin: each reason in a few words.
import type { RefusalReason } from "./entry-refusals.ts";
import type { UnreachableReason } from "./reach.ts";
import type { lateSkips } from "./reasons.ts";

type Reason =
  | UnreachableReason
  | RefusalReason
  | "unknown_subscriber"
  | (typeof lateSkips)[number]
  | "delivery_unconfirmed"
  | "expired"
  | "rate_limited"
  | "throttled"
  | "verifying"
  | "quiet_hours"
  | "halted"
  | "stopped"
  | "send_failed"
  | "not_named"
  | "not_at_step"
  | "not_in_list"
  | "not_in_segment"
  | "subscriber_filters"
  | "device_filters"
  | "joined_later"
  | "not_kept"
  | "not_active"
  | "not_planned"
  | "not_handled"
  | "not_identified"
  | "template_error"
  | "erased"
  | "no_credentials"
  | "message_too_long"
  | "payload_too_large"
  | "too_many_addresses";

/** Used after "did not get it:" and after a count. The type requires every reason of the rules. */
const reasons: Record<Reason, string> = {
  unknown_subscriber: "no such subscriber",
  suppressed: "the address is suppressed",
  no_consent: "no consent for this channel",
  invalid_phone: "the phone number is not valid",
  address_not_supported: "the address has letters that mail providers do not support",
  no_device: "no device that can receive it",
  no_address: "no address for the chosen channels",
  no_channel: "none of the channels of the send is switched on and verified",
  capped: "the frequency cap is reached",
  template_not_approved: "the chat-app template is not approved",
  canceled: "the send was canceled first",
  stopped: "the send was stopped before its turn",
  delivery_unconfirmed: "the provider did not confirm it, and it is not sent twice",
  expired: "it waited for more than a day",
  rate_limited: "the provider took no more messages for a day",
  throttled: "the provider takes no more messages for the moment",
  verifying: "the new credentials of its channel are being verified",
  quiet_hours: "quiet hours",
  halted: "the send has halted until it is resumed",
  topic_opt_out: "not in the topic",
  template_error: "its text is blank for this person, or cannot be made",
  erased: "the person was erased before it went out",
  no_credentials: "the channel had no credentials",
  message_too_long: "it is longer than the provider takes",
  payload_too_large: "it is larger than the provider takes",
  too_many_addresses: "the person has more addresses than a send reaches",
  blank_subject: "the subject of the mail is blank",
  send_failed: "the send failed as a whole",
  not_named: "it goes to named people, and not to this one",
  not_at_step: "no run was at the step of the journey that sends it",
  not_in_list: "not in the list",
  not_in_segment: "not in the segment",
  subscriber_filters: "the filters of the send leave this person out",
  device_filters: "no device that the filters of the send allow",
  joined_later: "in the audience only since it was planned",
  not_kept: "in the audience only since it was planned, or skipped: who was skipped, and why, is known for 30 days",
  historical: "the event was marked as historical",
  too_old: "the event was too old at its receipt",
  paused: "paused",
  not_planned: "its template is gone, or none of its channels can be used",
  already_active: "a run was still active",
  over_quota: "the sends of the month are used up",
  reentry_window: "entered before, and may not enter again at that time",
  not_eligible: "not eligible by the rules of entry",
  not_active: "the journey was not active",
  not_identified: "it came from a visitor who was identified as this person later",
  not_handled: "not handled yet, or held while the workspace is suspended",
};

const ACTIVATE = "Activate, on the page of the journey";
const PERSON = "on the page of the person";

/** The page of the console with the deciding setting, after "To change:". Absent if nothing can be changed any more. */
const settings: Partial<Record<Reason, string>> = {
  suppressed: "Suppressions",
  no_consent: `Channels ${PERSON}`,
  invalid_phone: `Attributes ${PERSON}`,
  address_not_supported: `Attributes ${PERSON}`,
  no_address: `Attributes ${PERSON}`,
  no_device: `Devices ${PERSON}`,
  no_channel: "Channels",
  no_credentials: "Channels",
  template_error: `the content of the send, or Attributes ${PERSON}`,
  message_too_long: "the content of the send",
  payload_too_large: "the content of the send",
  blank_subject: "the content of the send",
  halted: "Resume, on the page of the send",
  topic_opt_out: `Topics ${PERSON}`,
  capped: "Settings, Workspace, Frequency caps",
  template_not_approved: "Channels, the templates of the chat app",
  not_in_list: `Lists and segments ${PERSON}`,
  not_in_segment: "the rule of the segment",
  over_quota: "Settings, Plan and usage",
  not_eligible: "the rules of entry of the journey",
  reentry_window: "the rules of entry of the journey",
  too_old: "the trigger of the journey",
  paused: ACTIVATE,
  not_active: ACTIVATE,
  quiet_hours: "Settings, Workspace, Quiet hours",
};

/** ` To change: Suppressions.`, or nothing. */
export const settingWords = (reason: string | null): string =>
  reason !== null && isOfRules(reason) && settings[reason] !== undefined ? ` To change: ${settings[reason]}.` : "";

const isOfRules = (reason: string): reason is Reason => Object.hasOwn(reasons, reason);

/** A reason of the rules, or a provider's own words. */
export const reasonText = (reason: string): string =>
  isOfRules(reason) ? reasons[reason] : reason.replaceAll("_", " ");

/** The same, with the note that the words are the provider's. */
export const saidReason = (reason: string): string =>
  isOfRules(reason) ? reasons[reason] : `the provider said: ${reasonText(reason)}`;
