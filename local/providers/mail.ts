// Parses the source of a mail for the outbox: its headers, and the body without what the service added. The embedded SES
// puts its mails there.
import { htmlOfText } from "../../shared/rules/mail-body.ts";
import { withoutAdditions } from "../../shared/rules/mail-parts.ts";
import type { Mailbox } from "../aws/index.ts";
import type { OutboxItem } from "../outbox.ts";
import { faultOf, HANGS, record, refusedCredentials, type SinkDeps } from "./sink.ts";

interface Mail {
  headers: Record<string, string>;
  subject: string;
  body: string;
}

export function readMail(source: string): Mail {
  const { headers, content } = split(source);
  const boundary = /boundary="?([^";]+)"?/.exec(find(headers, "content-type"))?.[1];
  const parts = boundary
    ? content
        .split(`--${boundary}`)
        .slice(1, -1)
        .map((part) => split(part.replace(/^\r\n/, "")))
    : [];
  const partOf = (type: string) => {
    const part = parts.find((one) => find(one.headers, "content-type").startsWith(type));
    return part && decoded(part.content.replace(/\r\n$/, ""), find(part.headers, "content-transfer-encoding"));
  };
  const given = { text: partOf("text/plain") ?? content, html: partOf("text/html") ?? "" };
  const { text, html } = withoutAdditions(given);
  const body = html === "" || html === htmlOfText(text) ? text : html;
  return { headers, subject: decodedWords(find(headers, "subject")), body };
}

/** A mail as an item of the outbox. */
export function itemOf(source: string, to: string): Omit<OutboxItem, "id" | "at"> {
  const { headers, subject, body } = readMail(source);
  const whose = {
    subscriber_id: find(headers, "x-subscriber-id") || null,
    job_id: find(headers, "x-notification-id") || null,
  };
  return { channel: "email", to, ...whose, title: subject, body, payload: source, headers };
}

/** Puts the mails that SES accepts into the outbox; faults of the channel decide how others fail. */
export const sesMailbox = (deps: SinkDeps): Mailbox => ({
  open: (source, to) => {
    const item = itemOf(source, to);
    return { fault: faultOf(deps, "email", item.subscriber_id), accept: () => record(deps, item) };
  },
  refusalOfIdentity: () => {
    const refused = refusedCredentials(deps, "email", "The identity is not verified.");
    if (refused === HANGS) return { kind: "timeout" };
    return refused && { kind: "refused", message: refused.said };
  },
});

function split(text: string): { headers: Record<string, string>; content: string } {
  const end = text.indexOf("\r\n\r\n");
  const head = (end < 0 ? text : text.slice(0, end)).replaceAll(/\r\n[ \t]/g, " ");
  const headers = head.split("\r\n").flatMap((line): [string, string][] => {
    const colon = line.indexOf(":");
    return colon > 0 ? [[line.slice(0, colon), line.slice(colon + 1).trim()]] : [];
  });
  return { headers: Object.fromEntries(headers), content: end < 0 ? "" : text.slice(end + 4) };
}

const find = (headers: Record<string, string>, name: string): string =>
  Object.entries(headers).find(([found]) => found.toLowerCase() === name)?.[1] ?? "";

function decoded(content: string, encoding: string): string {
  const lines = encoding === "quoted-printable" ? quotedPrintable(content) : content;
  return lines.replaceAll("\r\n", "\n");
}

function quotedPrintable(text: string): string {
  const bytes = text
    .replaceAll(/=\r\n/g, "")
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1").toString();
}

/** RFC 2047, base64 words of UTF-8. */
const decodedWords = (text: string): string =>
  text
    .replaceAll(/\?=\s+=\?/g, "?==?")
    .replaceAll(/=\?UTF-8\?B\?([A-Za-z0-9+/=]*)\?=/g, (_, word: string) => Buffer.from(word, "base64").toString());
