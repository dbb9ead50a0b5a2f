// Finds the channel of a row. Some platforms write a row for each channel of a person, and some files have only phone
// numbers: a statement without a channel in such a row is not about mail, or not about mail alone (AMB-132).
import { type LogColumn, logColumn, replyColumn } from "./import-message-logs.ts";
import { columnKey, keysOf } from "./import-names.ts";
import type { SignedChannel } from "./import-signs.ts";

/**
 * The role of a column for the channel of its row: the channel's name, its number at OneSignal, its address, or a part
 * of a message.
 */
export type RowColumn = "channel" | "device" | "address" | LogColumn;

const CHANNEL =
  /^(?:(?:subscription|endpoint|contact|consent|optin|marketing|communication|permission|message|messaging)(?:channel|medium|type)|channel|channeltype)$/;
/** A `device_type` is the channel of a row only beside one of these columns. */
const OF_DEVICES = ["identifier", "notificationtypes", "invalididentifier"];
/** Airship writes a row for each channel of a person: an address beside its kind, or a column of each kind. */
const OF_AIRSHIP = ["address", "nameduser", "msisdn"];
/** Pinpoint and OneSignal write the address of any channel beside the channel's name. */
const BESIDE = new Map([
  ["address", ["channeltype", "endpointstatus", "devicetype"]],
  ["token", ["subscriptiontype", "subscriptionid", "onesignalid"]],
]);
/** A bare type is the type of a subscription only beside such an address. */
const hasTokens = (header: readonly string[]): boolean =>
  keysOf(header).has("token") && rowColumn("token", header) === "address";

/** The role of a column, by its name and the names of its file. */
export function rowColumn(name: string, header: readonly string[]): RowColumn | undefined {
  const key = columnKey(name);
  const keys = keysOf(header);
  const ofLog = logColumn(name, header);
  if (ofLog) return ofLog;
  const isOfAddress = key === "devicetype" && OF_AIRSHIP.some((column) => keys.has(column));
  if (CHANNEL.test(key) || isOfAddress || (key === "type" && hasTokens(header))) return "channel";
  const beside = BESIDE.get(key);
  if (beside) return beside.some((column) => keys.has(column)) ? "address" : undefined;
  const ofReply = replyColumn(name, header);
  if (ofReply) return ofReply;
  const isOfDevices = (key === "devicetype" || key === "identifier") && OF_DEVICES.some((column) => keys.has(column));
  if (!isOfDevices) return undefined;
  return key === "devicetype" ? "device" : "address";
}

/** A channel that we do not have: a device, calls, or another way to contact a person. */
export type RowChannel = SignedChannel | "device" | "voice" | "other";

/** The first channel that a cell names counts: a yes to several channels includes mail. */
const CHANNELS: readonly (readonly [RowChannel, RegExp])[] = [
  ["email", /(?<!direct|snail|voice?)e?mail|newsletter/],
  ["sms", /sms|^(?:mms|rcs|text)/],
  ["chat_app", /whatsapp/],
  ["device", /push|^(?:apns|gcm|fcm|adm|baidu|ios|android|amazon|web)/],
  ["voice", /^voice$/],
  ["other", /phone|voice|call|telefon|fax|postal|(?:direct|snail)mail|messenger|telegram|viber|inapp/],
];
const DEVICES: Record<string, RowChannel> = { 11: "email", 14: "sms" };

/** The channel in a cell. Undefined for a cell that names none. */
export function rowChannelOf(column: "channel" | "device", value: string): RowChannel | undefined {
  const key = columnKey(value);
  if (column === "device" && /^\d+$/.test(key)) return DEVICES[key] ?? "device";
  return CHANNELS.find(([, form]) => form.test(key))?.[0];
}

/** The channels of a statement that names none. */
export interface UnnamedStatement {
  agreed?: SignedChannel | undefined;
  refused: readonly SignedChannel[];
}

/**
 * Finds the channels of a statement that names none. No opt-out is lost, and no opt-in is applied to another channel: a
 * row with a mail address refuses mail, whatever its other channels, but a row of another channel agrees only to that
 * one. @param hasNumber whether the row has a phone number @param isOfNumbers whether its file has only numbers: then
 * it agrees to their channel (docs/decisions/0136)
 */
export function unnamedOf(
  channel: RowChannel | undefined,
  {
    hasMail,
    hasNumber,
    isOfNumbers,
    numbersOf,
  }: { hasMail: boolean; hasNumber: boolean; isOfNumbers: boolean; numbersOf: "sms" | "chat_app" },
): UnnamedStatement {
  const isOurs = channel === "email" || channel === "sms" || channel === "chat_app";
  const usual = isOfNumbers && !hasMail ? numbersOf : "email";
  const named = isOurs ? channel : undefined;
  const agreed = channel === undefined ? usual : named;
  // A person who refuses calls gets no texts to the same number.
  const refusedOf = channel === "voice" ? "sms" : named;
  if (hasMail) return { agreed, refused: [...new Set<SignedChannel>(["email", refusedOf ?? "email"])] };
  if (channel === "device") return { agreed, refused: [] };
  if (refusedOf) return { agreed, refused: [refusedOf] };
  const ofNumber = [...new Set<SignedChannel>(["sms", numbersOf])];
  return { agreed, refused: ["email", ...(hasNumber ? ofNumber : [])] };
}
