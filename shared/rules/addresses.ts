// The consent state of an address, for every subscriber that has it: a suppression, and opt-outs by a link or a message
// (AMB-128, AMB-130).
import type { ChannelType } from "./channel-types.ts";
import { channels } from "./channels.ts";
import { isBeyondAscii, isInternationalAddress, isPhoneNumber, withAsciiDomain } from "./contacts.ts";
import type { ConsentStatus } from "./topics.ts";

export const addressKinds = ["email", "phone"] as const;
export type AddressKind = (typeof addressKinds)[number];

/** Why an address is suppressed, the weakest reason first: a stronger one replaces it. */
export const suppressionReasons = ["bounce", "complaint", "imported", "manual"] as const;
export type SuppressionReason = (typeof suppressionReasons)[number];

/** The kind of address that a channel sends to; undefined for an inbox and for devices. */
export const addressKindOf = (channel: ChannelType): AddressKind | undefined =>
  addressKinds.find((kind) => kind === channels[channel].address);

/**
 * The form in which addresses are compared: lower case with the domain in ASCII, or E.164. Undefined for an invalid
 * address.
 */
export function normalizedAddress(kind: AddressKind, text: unknown): string | undefined {
  if (typeof text !== "string") return undefined;
  if (kind === "phone") return isPhoneNumber(text) ? text : undefined;
  const ascii = withAsciiDomain(text);
  return isInternationalAddress(text) && !isBeyondAscii(ascii) ? ascii.toLowerCase() : undefined;
}

/**
 * The mailbox of an address: `ada+news@example.com` is an alias of `ada@example.com`. A local part that begins with a
 * plus is no alias: otherwise all numbers at a carrier would be one mailbox.
 */
export const mailboxOf = (address: string): string => address.replace(/(?<=[^@])\+[^@]*@/, "@");

/** The newest consent on one channel. */
interface LastConsent {
  status: ConsentStatus;
  /** RFC 3339. */
  at: string;
}

export interface AddressState {
  /** RFC 3339; undefined while it is not suppressed. */
  suppressedAt: string | undefined;
  /** When it opted out of a channel, in RFC 3339. */
  optedOutAt(channel: string): string | undefined;
}

/** The consent of a person on a channel: a suppression counts first, then the newer consent of person and address. */
export function consentAt(
  channel: string,
  own: LastConsent | undefined,
  address: AddressState | undefined,
): (LastConsent & { of: "person" | "address" }) | undefined {
  if (address?.suppressedAt !== undefined) return { status: "suppressed", at: address.suppressedAt, of: "address" };
  const at = address?.optedOutAt(channel);
  const isOwn = at === undefined || own?.status === "opted_out" || (own?.status === "opted_in" && own.at > at);
  if (!isOwn) return { status: "opted_out", at, of: "address" };
  return own && { ...own, of: "person" };
}

/** Second-level domains that countries share, as in `shop.co.uk`. */
const SHARED = new Set("ac co com edu go gob gouv gov gr gv id ltd me mil ne net nhs nom or org plc sch".split(" "));

/**
 * The registered domain: `shop.example` for `mail.shop.example`, and `shop.co.uk` for `mail.shop.co.uk`
 * (docs/decisions/0153).
 */
export function ownedDomainOf(domain: string): string {
  const labels = domain.toLowerCase().split(".");
  const [second = "", first = ""] = labels.slice(-2);
  const isOfCountry = first.length === 2 && SHARED.has(second);
  return labels.slice(isOfCountry ? -3 : -2).join(".");
}
