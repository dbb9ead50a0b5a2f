// The channels by which a subscriber can be reached, and why not by the others (NTF-23, D-CONSENT, D-ATTR).
import { isPhoneNumber } from "./contacts.ts";
import { isInTopic, type SendTopic } from "./topics.ts";

/** The types of channels, in the order in which their reasons count. */
export const reachChannels = ["ios", "android", "web_push", "email", "in_app", "sms", "chat_app"] as const;
export type ReachChannel = (typeof reachChannels)[number];
/** Those that a provider sends by. */
export type ProvidedChannel = Exclude<ReachChannel, "in_app">;

/** What arbitration chooses between (D-ARB), in the default order. */
export const channelClasses = ["push", "email", "web_push", "chat_app", "sms", "in_app"] as const;
export type ChannelClass = (typeof channelClasses)[number];

export const classOf = (channel: ReachChannel): ChannelClass =>
  channel === "ios" || channel === "android" ? "push" : channel;

/** One address of a send: a device, or the one address of a channel. */
export interface Target {
  channel: ReachChannel;
  device?: string | undefined;
}

export interface ReachableDevice {
  id: string;
  platform: string;
  status?: string | undefined;
  push_enabled?: boolean | undefined;
}

export interface Contact {
  email?: string | undefined;
  /** `attributes.phone`, whatever it is. */
  phone?: unknown;
  /** Newest consent by channel and by topic. */
  consents: Readonly<Record<string, string | undefined>>;
  devices: readonly ReachableDevice[];
}

export interface ReachRules {
  /** Usable channels among the selected ones, one of each type. */
  channels: readonly ReachChannel[];
  category: "marketing" | "transactional";
  /** `opt_in`: marketing e-mail only to subscribers that have opted in. */
  emailConsent: "opt_out" | "opt_in";
  /** Only subscribers who are in it are reached, whatever the category (TPC-2). */
  topic?: SendTopic | undefined;
}

/** Why a subscriber is not reached, the most specific reason first. */
export const unreachableReasons = [
  "topic_opt_out",
  "suppressed",
  "no_consent",
  "invalid_phone",
  "no_device",
  "no_address",
] as const;
export type UnreachableReason = (typeof unreachableReasons)[number];

const platformOf: Partial<Record<ReachChannel, string>> = { ios: "ios", android: "android", web_push: "web" };

/** Every address of a subscriber by the selected channels; where there is none, the most specific reason. */
export function reachOf(
  contact: Contact,
  rules: ReachRules,
  allows: (device: ReachableDevice) => boolean = () => true,
): { targets: Target[] } | { reason: UnreachableReason } {
  if (rules.topic && !isInTopic(contact.consents, rules.topic)) return { reason: "topic_opt_out" };
  const targets: Target[] = [];
  const reasons = new Set<UnreachableReason>();
  for (const channel of rules.channels) {
    const found = targetsBy(channel, contact, rules, allows);
    if (typeof found === "string") reasons.add(found);
    else targets.push(...found);
  }
  if (targets.length > 0) return { targets };
  return { reason: unreachableReasons.find((reason) => reasons.has(reason)) ?? "no_address" };
}

function targetsBy(
  channel: ReachChannel,
  contact: Contact,
  rules: ReachRules,
  allows: (device: ReachableDevice) => boolean,
): Target[] | UnreachableReason {
  if (channel === "in_app") return [{ channel }];
  const platform = platformOf[channel];
  if (platform !== undefined) {
    const devices = contact.devices.filter(
      (device) => device.platform === platform && isReachableDevice(device) && allows(device),
    );
    return devices.length > 0 ? devices.map(({ id }) => ({ channel, device: id })) : "no_device";
  }
  const address = channel === "email" ? contact.email : contact.phone;
  if (address === undefined || address === null || address === "") return "no_address";
  if (channel !== "email" && !(typeof address === "string" && isPhoneNumber(address))) return "invalid_phone";
  return consentRefusal(channel, contact.consents[channel], rules) ?? [{ channel }];
}

/** The provider accepts its address, and its owner has not disabled pushes. */
export const isReachableDevice = ({ status, push_enabled }: Omit<ReachableDevice, "id" | "platform">): boolean =>
  status !== "invalid" && push_enabled !== false;

/** D-CONSENT: a transactional message respects only the suppression of an address. */
function consentRefusal(
  channel: ReachChannel,
  consent: string | undefined,
  { category, emailConsent }: ReachRules,
): UnreachableReason | undefined {
  if (consent === "suppressed") return "suppressed";
  if (category === "transactional") return undefined;
  if (consent === "opted_out") return "no_consent";
  return channel === "email" && emailConsent === "opt_in" && consent !== "opted_in" ? "no_consent" : undefined;
}
