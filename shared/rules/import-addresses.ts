// Mail addresses in files, and the characters between the digits of phone numbers (AMB-132, AMB-133).
import { isBeyondAscii, isEmailAddress, withAsciiDomain } from "./contacts.ts";
import type { Problem } from "./import-columns.ts";

/** Invisible characters. */
export const INVISIBLE = /\p{Cf}/gu;
/** A phone number without the characters that people write between its digits. */
export const compactPhone = (text: string): string => text.replaceAll(/[\s().-]/g, "");

const QUOTED = /^(['"‘“])(.*)['"’”]$/;
/** `ada@example.com (Ada)` */
const WITH_REMARK = /(?<!\s)\s+\([^()@]*\)$/;
const WITH_NAME = /^[^<>]*<([^<>\s]+)>$/;

type Address = { kind: "address"; email: string; warning?: string };

/** Separators between addresses; Google Contacts writes three colons. */
export const BETWEEN_ADDRESSES = /\s*(?::::|[;,|\s])\s*/;

/** The first address of a cell in the form for sending: its domain in ASCII. A name or `mailto:` may come before it. */
export function readEmail(written: string): Address | Problem {
  const read = readOneAddress(written);
  if (read.kind === "address") return read;
  const several = written.split(BETWEEN_ADDRESSES).filter(Boolean).map(readOneAddress);
  const [first] = several;
  if (several.length < 2 || first?.kind !== "address" || several.some(({ kind }) => kind === "problem")) return read;
  const warning = "has several email addresses, of which the first is taken";
  return { kind: "address", email: first.email, warning };
}

/** Every readable address of a cell: the refusals of a row apply to all of them. */
export function addressesIn(written: string): string[] {
  const whole = readOneAddress(written);
  const read = whole.kind === "address" ? [whole] : written.split(BETWEEN_ADDRESSES).map(readOneAddress);
  return [...new Set(read.flatMap((cell) => (cell.kind === "address" ? [cell.email] : [])))];
}

function readOneAddress(written: string): Address | Problem {
  const visible = written.replaceAll(INVISIBLE, "");
  // A lone apostrophe only keeps a spreadsheet from interpreting the cell.
  const unquoted = visible
    .replace(QUOTED, "$2")
    .replace(/^['‘’]/, "")
    .replace(WITH_REMARK, "");
  const text = (WITH_NAME.exec(unquoted)?.[1] ?? unquoted).replace(/^mailto:/i, "").replace(/(?<![.,;])[.,;]+$/, "");
  const at = text.lastIndexOf("@");
  const local = text.slice(0, at);
  const email = withAsciiDomain(text);
  if (at > 0 && isEmailAddress(email)) return { kind: "address", email };
  const isOnlyLocal = isBeyondAscii(local) && isEmailAddress(email.replaceAll(/[^\x20-\x7e]/g, "a"));
  if (!isOnlyLocal) return { kind: "problem", problem: "has a bad email address" };
  return { kind: "address", email, warning: "has an email address that is not supported" };
}
