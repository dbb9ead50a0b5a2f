// What holds for an address, for every subscriber that has it: a suppression, and opt-outs by a link or a message (AMB-128, AMB-130).
import type { ChannelType } from "./channel-types.ts";
import { channels } from "./channels.ts";
import { isBeyondAscii, isInternationalAddress, isPhoneNumber, withAsciiDomain } from "./contacts.ts";
import type { ConsentStatus } from "./topics.ts";

export const addressKinds = ["email", "phone"] as const;
export type AddressKind = (typeof addressKinds)[number];

/** Why an address is suppressed, the weakest first: what is stronger replaces it. */
export const suppressionReasons = ["bounce", "complaint", "imported", "manual"] as const;
export type SuppressionReason = (typeof suppressionReasons)[number];

/** The kind of address that a channel sends to; undefined for an inbox and for devices. */
export const addressKindOf = (channel: ChannelType): AddressKind | undefined =>
  addressKinds.find((kind) => kind === channels[channel].address);

/** The form in which an address is compared: lower case and its domain in ASCII, or E.164. Undefined if it is none. */
export function normalizedAddress(kind: AddressKind, text: unknown): string | undefined {
  if (typeof text !== "string") return undefined;
  if (kind === "phone") return isPhoneNumber(text) ? text : undefined;
  const ascii = withAsciiDomain(text);
  return isInternationalAddress(text) && !isBeyondAscii(ascii) ? ascii.toLowerCase() : undefined;
}

/**
 * Where mail to an address arrives: `ada+news@example.com` is another name of `ada@example.com`. What begins with a plus is no
 * other name: else all numbers at a carrier were one mailbox.
 */
export const mailboxOf = (address: string): string => address.replace(/(?<=[^@])\+[^@]*@/, "@");

/** What was said last, on one channel. */
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

/** What counts for a person on a channel: the suppression first, then whichever of person and address spoke last. */
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

/** Below these, countries have registered names, as in `shop.co.uk`. */
const SHARED = new Set("ac co com edu go gob gouv gov gr gv id ltd me mil ne net nhs nom or org plc sch".split(" "));

/** Of `mail.shop.example` and `mail.shop.co.uk`, `shop.example` and `shop.co.uk` (docs/decisions/0153). */
export function ownedDomainOf(domain: string): string {
  const labels = domain.toLowerCase().split(".");
  const [second = "", first = ""] = labels.slice(-2);
  const isOfCountry = first.length === 2 && SHARED.has(second);
  return labels.slice(isOfCountry ? -3 : -2).join(".");
}
