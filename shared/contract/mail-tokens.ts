// Tokens in the links of mails: ids and the target, signed by an HMAC. They contain no address (D-EMAIL).
import { timingSafeEqual } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { hmacUnder } from "../kernel/hmac.ts";
import { UUID, uuidFrom } from "../kernel/ids.ts";

interface UnsubscribeToken {
  kind: "unsubscribe";
  tenant: string;
  subscriber: string;
  /** The id of the mail's address: it opts out, also for a later owner (AMB-130). */
  address: string;
  channel: "email";
  scope: "marketing";
  /** The send that an opt-out by this link counts for (AMB-139); absent in a test send. */
  of?: { job: string; sentAt: number } | undefined;
}

export interface ConfirmToken {
  kind: "confirm";
  tenant: string;
  subscriber: string;
  /** The id of the mail's address. */
  address: string;
  /** `email`, `topic:` and a key, or `list:` and an id. */
  channel: string;
  /** When the confirmation was requested, in whole seconds. */
  askedAt: number;
}

interface SentMail {
  tenant: string;
  subscriber: string;
  job: string;
  arm?: "a" | "b" | undefined;
  /** When the mail went out, in whole seconds. */
  sentAt: number;
}

export type OpenToken = SentMail & { kind: "open" };
/**
 * `link`: the position of the link in the HTML body, which has `links`. `target`: its target when the mail was sent
 * (AMB-149).
 */
export type ClickToken = SentMail & { kind: "click"; link: number; links: number; target: string };
export type MailToken = UnsubscribeToken | ConfirmToken | OpenToken | ClickToken;

const ID_BYTES = 16;
const MAC_BYTES = 16;
/** The only channel and scope that exist. */
const EMAIL_MARKETING = 0x11;
const arms = [undefined, "a", "b"] as const;

/** For each kind its letter, which is signed too, and the number of signed bytes. */
const kinds = { unsubscribe: "u", confirm: "i", open: "o", click: "c" } as const;
const lengths: Record<MailToken["kind"], number> = {
  unsubscribe: 3 * ID_BYTES + 1,
  confirm: 3 * ID_BYTES + 4,
  open: 3 * ID_BYTES + 5,
  click: 3 * ID_BYTES + 5 + 4,
};

/** The send in a link that unsubscribes: its id, and when the mail was sent. */
const SEND_BYTES = ID_BYTES + 4;

/** The longest target in a token. */
const MAX_TARGET_BYTES = 2_048;
/** A target is unpacked only up to this length. */
const MAX_TARGET_CHARACTERS = 65_536;
const MAX_TOKEN_CHARACTERS = 2_900;

/** Whether the target of a link fits into a token. A longer link is sent as it is. */
export const fitsMailToken = (target: string): boolean =>
  target.length <= MAX_TARGET_CHARACTERS && deflateRawSync(target).length <= MAX_TARGET_BYTES;

/** The token: about 100 characters, and those of the target of a click. None needs escaping in a path. */
export function sealMailToken(key: Buffer, token: MailToken): string {
  const bytes = bytesOf(token);
  return Buffer.concat([bytes, macOf(key, token.kind, bytes)]).toString("base64url");
}

/** Whether a text has the form of a token of this kind. Others are refused without reading the key. */
export const looksLikeMailToken = (kind: MailToken["kind"], text: string): boolean =>
  text.length <= MAX_TOKEN_CHARACTERS && /^[\w-]+$/.test(text) && hasLength(kind, Buffer.byteLength(text, "base64url"));

function hasLength(kind: MailToken["kind"], bytes: number): boolean {
  const least = lengths[kind] + MAC_BYTES;
  if (kind === "click" || kind === "confirm") return bytes > least;
  return bytes === least || (kind === "unsubscribe" && bytes === least + SEND_BYTES);
}

/** Opens a token. @returns its content if it is of this kind and its signature is valid */
export function openMailToken<K extends MailToken["kind"]>(
  key: Buffer,
  kind: K,
  text: string,
): Extract<MailToken, { kind: K }> | undefined {
  const all = Buffer.from(text, "base64url");
  if (all.toString("base64url") !== text || !looksLikeMailToken(kind, text)) return undefined;
  const bytes = all.subarray(0, -MAC_BYTES);
  if (!timingSafeEqual(all.subarray(-MAC_BYTES), macOf(key, kind, bytes))) return undefined;
  return tokenOf(kind, bytes) as Extract<MailToken, { kind: K }>;
}

const macOf = (key: Buffer, kind: MailToken["kind"], bytes: Buffer): Buffer =>
  hmacUnder(key).update(`mail-token:${kinds[kind]}:`).update(bytes).digest().subarray(0, MAC_BYTES);

function bytesOf(token: MailToken): Buffer {
  const owner = [packed(token.tenant), packed(token.subscriber)];
  if (token.kind === "unsubscribe")
    return Buffer.concat([...owner, packed(token.address), Buffer.of(EMAIL_MARKETING), sendBytesOf(token)]);
  if (token.kind === "confirm") {
    const asked = Buffer.alloc(4);
    asked.writeUInt32BE(token.askedAt);
    return Buffer.concat([...owner, packed(token.address), asked, Buffer.from(token.channel)]);
  }
  const sent = Buffer.alloc(5);
  sent.writeUInt8(arms.indexOf(token.arm));
  sent.writeUInt32BE(token.sentAt, 1);
  const mail = [...owner, packed(token.job), sent];
  if (token.kind === "open") return Buffer.concat(mail);
  const link = Buffer.alloc(4);
  link.writeUInt16BE(token.link);
  link.writeUInt16BE(token.links, 2);
  return Buffer.concat([...mail, link, deflateRawSync(token.target)]);
}

function sendBytesOf({ of }: UnsubscribeToken): Buffer {
  if (!of) return Buffer.alloc(0);
  const sentAt = Buffer.alloc(4);
  sentAt.writeUInt32BE(of.sentAt);
  return Buffer.concat([packed(of.job), sentAt]);
}

function sendOf(bytes: Buffer): Pick<UnsubscribeToken, "of"> {
  if (bytes.length === 0) return {};
  return { of: { job: uuidFrom(bytes.subarray(0, ID_BYTES)), sentAt: bytes.readUInt32BE(ID_BYTES) } };
}

function tokenOf(kind: MailToken["kind"], bytes: Buffer): MailToken {
  const id = (n: number) => uuidFrom(bytes.subarray(n * ID_BYTES, (n + 1) * ID_BYTES));
  const owner = { tenant: id(0), subscriber: id(1) };
  if (kind === "unsubscribe") {
    const send = sendOf(bytes.subarray(lengths.unsubscribe));
    return { kind, ...owner, address: id(2), channel: "email", scope: "marketing", ...send };
  }
  const rest = bytes.subarray(3 * ID_BYTES);
  if (kind === "confirm")
    return { kind, ...owner, address: id(2), askedAt: rest.readUInt32BE(), channel: rest.subarray(4).toString() };
  const arm = arms[rest.readUInt8()];
  const sent = { ...owner, job: id(2), ...(arm && { arm }), sentAt: rest.readUInt32BE(1) };
  if (kind === "open") return { kind, ...sent };
  const target = inflateRawSync(rest.subarray(9), { maxOutputLength: 4 * MAX_TARGET_CHARACTERS }).toString();
  return { kind, ...sent, link: rest.readUInt16BE(5), links: rest.readUInt16BE(7), target };
}

function packed(id: string): Buffer {
  if (!UUID.test(id)) throw new Error(`A link cannot name ${id}, which is no UUID.`);
  return Buffer.from(id.replaceAll("-", ""), "hex");
}
