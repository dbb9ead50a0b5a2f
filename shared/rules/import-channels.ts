// Of which channel a row speaks. Some platforms write a row for each way to reach somebody, and some files have numbers
// alone: what such a row says without the name of a channel is not of mail, or not of mail alone (AMB-132).
import { columnKey } from "./import-names.ts";
import type { SignedChannel } from "./import-signs.ts";

/** What a column is for the channel of its row: its name, its number at OneSignal, or the address there. */
export type RowColumn = "channel" | "device" | "address";

const CHANNEL = /^(?:subscription|endpoint|contact)?channel(?:type)?$|^subscriptiontype$/;
/** Only beside one of these is a `device_type` the channel of a row. */
const OF_DEVICES = ["identifier", "notificationtypes", "invalididentifier"];

/** By the name of a column, and those of its file. */
export function rowColumn(name: string, header: readonly string[]): RowColumn | undefined {
  const key = columnKey(name);
  if (CHANNEL.test(key)) return "channel";
  const isOfDevices = (key === "devicetype" || key === "identifier") && header.some(isOfADevice);
  if (!isOfDevices) return undefined;
  return key === "devicetype" ? "device" : "address";
}

const isOfADevice = (name: string): boolean => OF_DEVICES.includes(columnKey(name));

/** One that is none of ours: a device. */
export type RowChannel = SignedChannel | "device";

const CHANNELS: readonly (readonly [RowChannel, RegExp])[] = [
  ["email", /^e?mail$/],
  ["sms", /^(?:sms|mms|rcs|textmessages?)$/],
  ["chat_app", /^whatsapp$/],
  ["device", /push/],
];
const DEVICES: Record<string, RowChannel> = { 11: "email", 14: "sms" };

/** Undefined for a cell that does not say it. */
export function rowChannelOf(column: RowColumn, value: string): RowChannel | undefined {
  const key = columnKey(value);
  if (column === "device" && /^\d+$/.test(key)) return DEVICES[key] ?? "device";
  return CHANNELS.find(([, form]) => form.test(key))?.[0];
}

/** Of what a statement is that names no channel. */
export interface Unnamed {
  /** Every such statement. */
  of?: SignedChannel | undefined;
  /** Only what it refuses. */
  refusedOf?: SignedChannel | undefined;
}

/**
 * A row with an address of mail speaks of mail, whatever else it says of itself: no opt-out is lost.
 * @param hasNumber whether the row has a phone number
 */
export function unnamedOf(
  channel: RowChannel | undefined,
  { hasMail, hasNumber }: { hasMail: boolean; hasNumber: boolean },
): Unnamed {
  const other = channel === "sms" || channel === "chat_app" ? channel : undefined;
  if (hasMail) return { of: "email", refusedOf: other };
  if (channel === undefined) return { of: "email", refusedOf: hasNumber ? "sms" : undefined };
  return channel === "device" ? {} : { of: channel };
}
