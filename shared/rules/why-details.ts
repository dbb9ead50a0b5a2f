// Details of a send's reason for one person: since when it applies, and what set it.
import type { ChannelType } from "./channel-types.ts";
import { channels } from "./channels.ts";
import { conditionText } from "./clause-words.ts";
import { reasonText } from "./reason-words.ts";

/** The outcome of the message on one channel. */
export interface Channel {
  channel: ChannelType;
  state: string;
  reason: string | null;
  deferred_until: string | null;
}

interface KnownReason {
  reason: string | null;
  /** When its audience was decided, RFC 3339. */
  sent_at?: string | null;
  /** Why a send failed as a whole. */
  error?: string | null;
  /** The figures of its brake. */
  halt?: string | undefined;
  attempts: readonly {
    attempted_at?: readonly string[];
    complained: boolean;
    cap: ReachedCap | null;
    claimed_with: { consent: string | null; suppression: string | null; topic_choice: string | null } | null;
  }[];
  now: RulesNow | null;
}

/** When a message that waited after the start of its send was sent, RFC 3339. */
export interface WentOut {
  at: string;
  began: string;
  after: "quiet_hours" | "others" | null;
}

export interface SaidOfSend extends KnownReason {
  decision: string;
  state: string;
  /** When the send will be sent, RFC 3339; absent after it was sent. */
  goes_at?: string | null;
  /** When the send ended, RFC 3339. */
  ended_at?: string | null;
  wentOut?: WentOut | undefined;
  category?: string;
  /** When the message was first delivered, RFC 3339. */
  deliveredAt?: string | undefined;
  /** The variant of a send with two, and the share of its recipients, in percent. */
  variant?: { arm: "a" | "b"; share: number } | undefined;
  /** How long the other recipients wait after the canary, in minutes; for one of the others. */
  othersAfter?: number | undefined;
  /** The status of the campaign that holds the send. */
  campaign?: string | undefined;
  /** A step of a journey sends it. */
  isOfJourney?: boolean;
  /** The status of the experience that the send shows. */
  experience?: string | undefined;
  channels: readonly Channel[];
  waits?: readonly { why: string; since: string | null; attempts: number; until: string }[];
}

interface RulesNow {
  subscriber_filters: readonly { key: string; condition?: unknown; matches: boolean }[];
  topic: { key: string; default: string; choice: string | null; chosen_at: string | null; reachable: boolean } | null;
  email_consent_mode: string;
  /** Without `unmet`, it is unknown whether the rule is met. */
  segment: { name: string; is_dynamic: boolean; unmet?: string | null | undefined } | null;
  list: { name: string; consent: string | null; consent_at: string | null } | null;
  unusable_channels: readonly { name: string | null; why: string }[];
  channels: readonly {
    channel: ChannelType;
    reason: string | null;
    devices_off: number;
    consent: string | null;
    consent_at: string | null;
    consent_of: string | null;
    suppression: { reason: string; suppressed_at: string } | null;
  }[];
  quiet_hours: { start: string; end: string; timezone: string } | null;
  caps: readonly ReachedCap[];
  /** Null if every channel of the send is tried. */
  ranking?: readonly unknown[] | null;
}

interface ReachedCap {
  category: string;
  channel_class?: string | undefined;
  max: number;
  per: "day" | "week";
  count: number;
}

/** The format of `moment`. */
export const MOMENT = /(\d{4}-\d\d-\d\d) (\d\d:\d\d) UTC/g;

/** `2026-11-20 23:00 UTC` */
export const moment = (at: string): string => `${at.slice(0, 10)} ${at.slice(11, 16)} UTC`;

/** Reasons of a person's channels, which may no longer apply. */
const ofChannels = ["suppressed", "no_consent", "invalid_phone", "address_not_supported", "no_device", "no_address"];

/** Whether the reason still applies, as far as that can be known. */
export function holdsStill({ reason, now }: KnownReason): boolean {
  if (reason === null || now === null) return true;
  if (reason === "topic_opt_out") return now.topic?.reachable !== true;
  return !ofChannels.includes(reason) || now.channels.some((channel) => channel.reason === reason);
}

/** The details of a reason, in brackets. */
export function detailOf(said: KnownReason): string {
  const words = wordsOf(said);
  return words === undefined ? "" : ` (${words})`;
}

function wordsOf(said: KnownReason): string | undefined {
  const { reason, attempts, error, now, halt } = said;
  switch (reason) {
    case "halted":
      return halt;
    case "suppressed":
      return suppressionWords(said);
    case "no_consent":
      return consentWords(said);
    case "topic_opt_out":
      return topicWords(said);
    case "capped":
      return capWords(attempts.find(({ cap }) => cap)?.cap ?? now?.caps.find(({ count, max }) => count >= max));
    case "send_failed":
      return failureWords(error, now);
    case "no_channel":
      return unusableWords(now);
    case "no_device":
      return holdsStill(said) ? deviceWords(now) : "then; now it is not so";
    case "not_in_list":
      return listWords(now);
    case "not_in_segment":
      return segmentWords(now);
    case "subscriber_filters":
      return filterWords(now);
    case "invalid_phone":
    case "address_not_supported":
    case "no_address":
      return holdsStill(said) ? undefined : "then; now it is not so";
    default:
      return triedWords(said);
  }
}

/** The number of attempts, if there were several. */
function triedWords({ attempts }: KnownReason): string | undefined {
  const times = attempts.flatMap(({ attempted_at = [] }) => attempted_at).toSorted();
  const last = times.at(-1);
  return last === undefined || times.length < 2 ? undefined : `tried ${times.length} times, last on ${moment(last)}`;
}

const suppressions: Readonly<Record<string, string>> = {
  bounce: "a message to it came back",
  complaint: "its owner reported a mail as spam",
  imported: "an imported file said so",
  manual: "by an operator",
};

const claimIn = (attempts: KnownReason["attempts"]) => attempts.find(({ claimed_with }) => claimed_with)?.claimed_with;

/** The state of the address when the message was claimed; if it was skipped before, the present state. */
function suppressionWords({ attempts, now }: KnownReason): string {
  const current = now?.channels.find(({ suppression }) => suppression)?.suppression;
  const why = claimIn(attempts)?.suppression ?? current?.reason;
  if (!why) return "then; now it is not";
  const since = current?.reason === why ? `, on ${moment(current.suppressed_at)}` : "";
  return `${suppressions[why] ?? why}${since}`;
}

const consents: Readonly<Record<string, string>> = {
  opted_in: "opted in",
  opted_out: "opted out",
  pending: "asked to confirm, and has not yet",
  unknown: "never given",
};

const consentText = (consent: string | null): string => consents[consent ?? "unknown"] ?? String(consent);

/** Whether the present statement is newer than the decision about the audience of the send. */
const isLater = (at: string | null, sent: string | null | undefined): boolean =>
  at !== null && typeof sent === "string" && at > sent;

function consentWords({ attempts, now, sent_at }: KnownReason): string | undefined {
  const known = claimIn(attempts);
  if (known) return `consent: ${consentText(known.consent)}`;
  if (now?.list?.consent === "pending") return listWords(now);
  const channel = now?.channels.find(({ reason }) => reason === "no_consent");
  if (!channel) return now ? "then; now there is" : undefined;
  const { consent, consent_at: at, consent_of } = channel;
  if (consent === null || consent === "unknown")
    return now?.email_consent_mode === "opt_in"
      ? "never given, and marketing mail goes only to who opted in"
      : undefined;
  const by = consent_of === "address" ? " by a link or message for the address" : "";
  const since = at === null ? "" : `, since ${moment(at)}`;
  return `${isLater(at, sent_at) ? "then; now: " : ""}${consentText(consent)}${by}${since}`;
}

function topicWords({ attempts, now, sent_at }: KnownReason): string | undefined {
  if (!now?.topic) return undefined;
  const { key, choice, chosen_at } = now.topic;
  const known = claimIn(attempts)?.topic_choice;
  if (known && known !== choice) return `${key}: ${consentText(known)}`;
  if (choice === null) return `${key}: nobody is in it who did not choose it`;
  const since = chosen_at === null ? "" : `, since ${moment(chosen_at)}`;
  return `${key}: ${isLater(chosen_at, sent_at) ? "then; now " : ""}${consentText(choice)}${since}`;
}

/** `1 of 1 marketing messages by email a day` */
function capWords(cap: ReachedCap | undefined): string | undefined {
  if (!cap) return undefined;
  const by = cap.channel_class === undefined ? "" : ` by ${cap.channel_class.replaceAll("_", " ")}`;
  return `${cap.count} of ${cap.max} ${cap.category} messages${by} a ${cap.per}`;
}

/** Errors of a send that correspond to a reason of the rules. */
const errors: Readonly<Record<string, string>> = { expired: "expired", "no usable channel": "no_channel" };

function failureWords(error: string | null | undefined, now: RulesNow | null): string | undefined {
  if (!error) return undefined;
  const known = errors[error];
  const more = known === "no_channel" ? unusableWords(now) : undefined;
  const text = known === undefined ? error.replace(/\.$/, "") : reasonText(known);
  return more === undefined ? text : `${text}: ${more}`;
}

const states: Readonly<Record<string, string>> = {
  switched_off: "is switched off",
  not_verified: "is not verified",
  not_in_plan: "is of a type that the plan does not have",
  deleted: "is deleted",
};

function unusableWords(now: RulesNow | null): string | undefined {
  const channels = now?.unusable_channels ?? [];
  const words = channels.map(({ name, why }) => `${name ?? "a channel"} ${states[why]}`).join(", ");
  return words === "" ? undefined : `now ${words}`;
}

function deviceWords(now: RulesNow | null): string | undefined {
  const others = now?.channels.flatMap(({ channel, reason }) =>
    reason === null || reason === "no_device" ? [] : [`${channels[channel].label}: ${reasonText(reason)}`],
  );
  const off = now?.channels.reduce((sum, { devices_off }) => sum + devices_off, 0) ?? 0;
  const registered =
    off > 0 ? [`${off} registered, which the provider refused or whose owner disabled pushes`] : ["none is registered"];
  return now ? [...registered, ...(others ?? [])].join("; ") : undefined;
}

function listWords(now: RulesNow | null): string | undefined {
  if (!now?.list) return undefined;
  const { name, consent, consent_at: at } = now.list;
  return consent === null ? name : `${name}; ${consentText(consent)}${at === null ? "" : `, since ${moment(at)}`}`;
}

function segmentWords(now: RulesNow | null): string | undefined {
  if (!now?.segment) return undefined;
  const { name, is_dynamic, unmet } = now.segment;
  const fixed = is_dynamic ? [] : ["static, so its members are those of its last computation"];
  return [name, ...(unmet ? [`not met now: ${unmet}`] : []), ...fixed].join("; ");
}

function filterWords(now: RulesNow | null): string | undefined {
  const unmet = now?.subscriber_filters.filter(({ matches }) => !matches) ?? [];
  if (unmet.length === 0) return undefined;
  return unmet.map(({ key, condition }) => `${key} ${conditionText(Object(condition))}`.trim()).join(", ");
}
