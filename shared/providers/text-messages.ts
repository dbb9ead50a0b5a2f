// Shared by SMS and the chat app: a phone number as the address, and a text without a title of its own.
import type { Addresses, OutgoingMessage } from "./provider.ts";

type TextMessage = OutgoingMessage<Addresses["sms"]>;

/** The phone number as both providers require it: digits only. */
export const digitsOf = ({ address }: TextMessage): string => address.phone.replace(/^\+/, "");

/** The reference that the provider stores with a message. */
export const referenceOf = ({ job, subscriber }: TextMessage): string => `${job}:${subscriber}`;
