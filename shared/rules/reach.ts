// The channels by which a subscriber can be reached, and why the others cannot (NTF-23, D-CONSENT, D-ATTR).
import { type ChannelType, platformOf } from "./channel-types.ts";
import { channels } from "./channels.ts";
import { isBeyondAscii, isPhoneNumber } from "./contacts.ts";
import { listChannelOf } from "./list-consents.ts";
import { isInTopic, type SendTopic } from "./topics.ts";

/** One address of a send: a device, or the one address of a channel. */
export interface Target {
  channel: ChannelType;
  device?: string | undefined;
}

interface ReachableDevice {
  id: string;
  platform: string;
  status?: string | undefined;
  push_enabled?: boolean | undefined;
}

export interface Contact {
  email?: string | undefined;
  /** `attributes.phone`, of any type. */
  phone?: unknown;
  /** Newest consent by channel and by topic. */
  consents: Readonly<Record<string, string | undefined>>;
  devices: readonly ReachableDevice[];
}

export interface ReachRules {
  /** Usable channels among the selected ones, one of each type. */
  channels: readonly ChannelType[];
  category: "marketing" | "transactional";
  /** `opt_in`: marketing email only to subscribers that have opted in. */
  emailConsent: "opt_out" | "opt_in";
  /** Only subscribers who are in the topic are reached, whatever the category (TPC-2). */
  topic?: SendTopic | undefined;
  /** The list of the send: members who have yet to confirm it are not reached. */
  list?: string | undefined;
  /** The message asks to confirm an opt-in. */
  confirms?: true | undefined;
}

/** Why a subscriber is not reached, the most specific reason first. */
export const unreachableReasons = [
  "no_channel",
  "topic_opt_out",
  "suppressed",
  "no_consent",
  "invalid_phone",
  "address_not_supported",
  "no_device",
  "no_address",
] as const;
export type UnreachableReason = (typeof unreachableReasons)[number];

/** Every address of a subscriber on the selected channels, or the most specific reason why there is none. */
export function reachOf(
  contact: Contact,
  rules: ReachRules,
  allows: (device: ReachableDevice) => boolean = () => true,
): { kind: "reached"; targets: Target[] } | { kind: "unreachable"; reason: UnreachableReason } {
  if (rules.topic && !isInTopic(contact.consents, rules.topic)) return { kind: "unreachable", reason: "topic_opt_out" };
  if (rules.list !== undefined && contact.consents[listChannelOf(rules.list)] === "pending")
    return { kind: "unreachable", reason: "no_consent" };
  if (rules.channels.length === 0) return { kind: "unreachable", reason: "no_channel" };
  const targets: Target[] = [];
  const reasons = new Set<UnreachableReason>();
  for (const channel of rules.channels) {
    const found = targetsBy(channel, contact, rules, allows);
    if (typeof found === "string") reasons.add(found);
    else targets.push(...found);
  }
  if (targets.length > 0) return { kind: "reached", targets };
  return { kind: "unreachable", reason: unreachableReasons.find((reason) => reasons.has(reason)) ?? "no_address" };
}

function targetsBy(
  channel: ChannelType,
  contact: Contact,
  rules: ReachRules,
  allows: (device: ReachableDevice) => boolean,
): Target[] | UnreachableReason {
  const kind = channels[channel].address;
  switch (kind) {
    case "inbox":
      return [{ channel }];
    case "token":
    case "subscription": {
      const platform = platformOf(channel);
      const devices = contact.devices.filter(
        (device) => device.platform === platform && isReachableDevice(device) && allows(device),
      );
      return devices.length > 0 ? devices.map(({ id }) => ({ channel, device: id })) : "no_device";
    }
    case "email":
    case "phone": {
      const address = contact[kind];
      if (address === undefined || address === null || address === "") return "no_address";
      if (kind === "phone" && !(typeof address === "string" && isPhoneNumber(address))) return "invalid_phone";
      if (kind === "email" && isBeyondAscii(String(address))) return "address_not_supported";
      return consentRefusal(channel, contact.consents[channel], rules) ?? [{ channel }];
    }
  }
}

/** Whether the provider accepts the device's address, and its owner has not disabled pushes. */
export const isReachableDevice = ({ status, push_enabled }: Omit<ReachableDevice, "id" | "platform">): boolean =>
  status !== "invalid" && push_enabled !== false;

/** Why consent forbids a message. A transactional message respects only the suppression of an address (D-CONSENT). */
function consentRefusal(
  channel: ChannelType,
  consent: string | undefined,
  { category, emailConsent }: ReachRules,
): UnreachableReason | undefined {
  if (consent === "suppressed") return "suppressed";
  if (category === "transactional") return undefined;
  if (consent === "opted_out" || consent === "pending") return "no_consent";
  return channel === "email" && emailConsent === "opt_in" && consent !== "opted_in" ? "no_consent" : undefined;
}
