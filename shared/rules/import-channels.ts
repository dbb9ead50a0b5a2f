// Of which channel a row speaks. Some platforms write a row for each way to reach somebody, and some files have numbers
// alone: what such a row says without the name of a channel is not of mail, or not of mail alone (AMB-132).
import { type LogColumn, logColumn, replyColumn } from "./import-message-logs.ts";
import { columnKey, keysOf } from "./import-names.ts";
import type { SignedChannel } from "./import-signs.ts";

/** What a column is for the channel of its row: its name, its number at OneSignal, the address there, or part of a message. */
export type RowColumn = "channel" | "device" | "address" | LogColumn;

const CHANNEL =
  /^(?:(?:subscription|endpoint|contact|consent|optin|marketing|communication|permission|message|messaging)(?:channel|medium|type)|channel|channeltype)$/;
/** Only beside one of these is a `device_type` the channel of a row. */
const OF_DEVICES = ["identifier", "notificationtypes", "invalididentifier"];
/** Airship writes a row for each way to reach somebody: an address beside its kind, or a column of each kind. */
const OF_AIRSHIP = ["address", "nameduser", "msisdn"];
/** Pinpoint and OneSignal write an address of any channel beside the name of that channel. */
const BESIDE = new Map([
  ["address", ["channeltype", "endpointstatus", "devicetype"]],
  ["token", ["subscriptiontype", "subscriptionid", "onesignalid"]],
]);
/** A bare type is that of a subscription only beside such an address. */
const hasTokens = (header: readonly string[]): boolean =>
  keysOf(header).has("token") && rowColumn("token", header) === "address";

/** By the name of a column, and those of its file. */
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

/** One that is none of ours: a device, calls, or another way to reach somebody that no channel here has. */
export type RowChannel = SignedChannel | "device" | "voice" | "other";

/** The first counts that a cell names: who says yes to mail among others says yes to mail. */
const CHANNELS: readonly (readonly [RowChannel, RegExp])[] = [
  ["email", /(?<!direct|snail|voice?)e?mail|newsletter/],
  ["sms", /sms|^(?:mms|rcs|text)/],
  ["chat_app", /whatsapp/],
  ["device", /push|^(?:apns|gcm|fcm|adm|baidu|ios|android|amazon|web)/],
  ["voice", /^voice$/],
  ["other", /phone|voice|call|telefon|fax|postal|(?:direct|snail)mail|messenger|telegram|viber|inapp/],
];
const DEVICES: Record<string, RowChannel> = { 11: "email", 14: "sms" };

/** Undefined for a cell that does not say it. */
export function rowChannelOf(column: "channel" | "device", value: string): RowChannel | undefined {
  const key = columnKey(value);
  if (column === "device" && /^\d+$/.test(key)) return DEVICES[key] ?? "device";
  return CHANNELS.find(([, form]) => form.test(key))?.[0];
}

/** Of what a statement is that names no channel. */
export interface UnnamedStatement {
  /** What it agrees to. */
  agreed?: SignedChannel | undefined;
  /** What it refuses: each of them. */
  refused: readonly SignedChannel[];
}

/**
 * No opt-out is lost, and no opt-in is made of one to something else: a row with an address of mail refuses mail, whatever
 * else it speaks of, but a row of another channel agrees to that one alone.
 * @param hasNumber whether the row has a phone number
 * @param isOfNumbers whether its file has numbers alone: then it agrees to what they are of (docs/decisions/0136)
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
  // A person who wants no calls gets no texts to the same number.
  const refusedOf = channel === "voice" ? "sms" : named;
  if (hasMail) return { agreed, refused: [...new Set<SignedChannel>(["email", refusedOf ?? "email"])] };
  if (channel === "device") return { agreed, refused: [] };
  if (refusedOf) return { agreed, refused: [refusedOf] };
  const ofNumber = [...new Set<SignedChannel>(["sms", numbersOf])];
  return { agreed, refused: ["email", ...(hasNumber ? ofNumber : [])] };
}
