// Email: one source, sent by SES or by an SMTP server (D-EMAIL).
import { createHash } from "node:crypto";
import type { CredentialsFor } from "../contract/credentials.ts";
import type { Clock } from "../kernel/clock.ts";
import { isEmailAddress } from "../rules/contacts.ts";
import { htmlOfText } from "../rules/mail-body.ts";
import { type Addresses, type OutgoingMessage, type Provider, rejected } from "./provider.ts";
import type { Ses } from "./ses.ts";
import type { Smtp } from "./smtp.ts";

interface EmailDeps {
  clock: Clock;
  ses: Ses;
  smtp: Smtp;
}

export function emailProvider({ clock, ses, smtp }: EmailDeps): Provider<CredentialsFor<"email">, Addresses["email"]> {
  return {
    send: async (credentials, message) => {
      const mail = mailSource(credentials, message, clock.now());
      if (mail.kind === "refused") return rejected(mail.reason, { addressDead: mail.reason === "invalid_address" });
      const { source } = mail;
      if (credentials.provider === "ses") return ses.send(credentials, message, source);
      return smtp.send(credentials, message.address.email, source);
    },
    verify: (credentials, tenant) =>
      credentials.provider === "ses" ? ses.verify(credentials, tenant) : smtp.verify(credentials),
  };
}

type Email = CredentialsFor<"email">;

const MAX_LINE = 998;
const QP_LINE = 76;
/** The longest header line with an encoded word (RFC 2047, section 2). */
const ENCODED_LINE = 76;
/** The frame of an encoded word: `=?UTF-8?B?` and `?=`. */
const WORD_FRAME = 12;
const PRINTABLE = /^[\x20-\x7e]*$/;
/** ASCII that could not be read as an encoded word. */
const PLAIN = /^(?!.*=\?)[\x20-\x7e]*$/;
/** http is allowed only for loopback: the local service. */
const UNSUBSCRIBE_URL = /^(?:https:\/\/|http:\/\/(?:127\.0\.0\.1|localhost)[:/])[\x21-\x3b\x3d\x3f-\x7e]{1,2000}$/;

/** The source of a message, or why it is refused. */
export function mailSource(
  credentials: Email,
  message: OutgoingMessage<Addresses["email"]>,
  now: number,
): { kind: "mail"; source: string } | { kind: "refused"; reason: string } {
  const { from_email, from_name, reply_to } = credentials;
  const { tenant, address, title, body, job, subscriber, target, variant, unsubscribeUrl } = message;
  if (!isEmailAddress(address.email)) return { kind: "refused", reason: "invalid_address" };
  if (unsubscribeUrl !== undefined && !UNSUBSCRIBE_URL.test(unsubscribeUrl))
    return { kind: "refused", reason: "invalid_unsubscribe_url" };
  const domain = from_email.slice(from_email.lastIndexOf("@") + 1);
  const id = createHash("sha256").update(`${job}/${target}/${subscriber}`).digest("hex").slice(0, 32);
  const headers = [
    `From: ${from_name ? `${phrase(from_name)}<${from_email}>` : from_email}`,
    `To: ${address.email}`,
    ...(reply_to ? [`Reply-To: ${reply_to}`] : []),
    `Subject: ${encodedText(title, "Subject")}`,
    `Date: ${new Date(now).toUTCString().replace("GMT", "+0000")}`,
    `Message-ID: <${id}@${domain}>`,
    `X-Notification-Id: ${oneLine(job)}`,
    `X-Subscriber-Id: ${oneLine(subscriber)}`,
    ...(variant ? [`X-Variant-Id: ${variant}`] : []),
    ...(unsubscribeUrl
      ? [
          `List-Id: <marketing.${oneLine(tenant)}.${domain}>`,
          `List-Unsubscribe: <${unsubscribeUrl}>`,
          "List-Unsubscribe-Post: List-Unsubscribe=One-Click",
        ]
      : []),
    "MIME-Version: 1.0",
    `Content-Type: multipart/alternative; boundary="=_${id}"`,
  ];
  const { text, html } = message.parts ?? { text: body, html: htmlOfText(body) };
  const parts = [partOf("text/plain", text), partOf("text/html", html)];
  const lines = [...headers, "", ...parts.flatMap((part) => [`--=_${id}`, part]), `--=_${id}--`, ""];
  return { kind: "mail", source: lines.join("\r\n") };
}

/** Replaces control characters and line breaks by a space. */
const oneLine = (text: string): string => text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").trim();

/** The bytes that fit into an encoded word after this many characters of its line. */
const wordBytes = (before: number): number => Math.floor((ENCODED_LINE - before - WORD_FRAME) / 4) * 3;

/** RFC 2047: unchanged if that is possible, else encoded words, folded so that no line of the header has over 76. */
export function encodedText(text: string, header: string): string {
  const line = oneLine(text);
  const before = `${header}: `.length;
  if (PLAIN.test(line) && line.length <= ENCODED_LINE - before) return line;
  const words: string[] = [];
  let bytes = Buffer.alloc(0);
  for (const character of line) {
    const next = Buffer.concat([bytes, Buffer.from(character)]);
    if (next.length > wordBytes(words.length === 0 ? before : 1)) {
      words.push(bytes.toString("base64"));
      bytes = Buffer.from(character);
    } else bytes = next;
  }
  words.push(bytes.toString("base64"));
  return words.map((word) => `=?UTF-8?B?${word}?=`).join("\r\n ");
}

/** The name before an address, with the separator; encoded words have lines of their own. */
function phrase(name: string): string {
  if (/^[A-Za-z0-9 ]{1,64}$/.test(name)) return `${name} `;
  if (PLAIN.test(name)) return `"${name.replaceAll(/["\\]/g, "\\$&")}" `;
  return `${encodedText(name, "From")}\r\n `;
}

function partOf(type: string, content: string): string {
  const lines = content.replaceAll(/\r\n|\r|\n/g, "\n").split("\n");
  const isPlain = lines.every((line) => line.length <= MAX_LINE && PRINTABLE.test(line.replaceAll("\t", " ")));
  const [encoding, encoded] = isPlain ? ["7bit", lines] : ["quoted-printable", lines.map(quotedPrintable)];
  const headers = [`Content-Type: ${type}; charset=utf-8`, `Content-Transfer-Encoding: ${encoding}`, ""];
  return [...headers, ...encoded].join("\r\n");
}

/** A line of text in quoted-printable, with soft line breaks. */
function quotedPrintable(line: string): string {
  const bytes = [...Buffer.from(line)];
  const units = bytes.map((byte, i) => {
    const isLastSpace = (byte === 0x20 || byte === 0x09) && i === bytes.length - 1;
    const isPlain = (byte >= 0x20 && byte <= 0x7e && byte !== 0x3d) || byte === 0x09;
    return isPlain && !isLastSpace ? String.fromCharCode(byte) : `=${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  });
  let text = "";
  let width = 0;
  for (const unit of units) {
    if (width + unit.length > QP_LINE - 1) {
      text += "=\r\n";
      width = 0;
    }
    text += unit;
    width += unit.length;
  }
  return text;
}
