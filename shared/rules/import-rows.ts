// Reads a row of an import by its columns (IMP-9 to IMP-12).

import { isBeyondAscii, isEmailAddress, isLocale, withAsciiDomain } from "./contacts.ts";
import { type RowChannel, rowChannelOf, type Unnamed, unnamedOf } from "./import-channels.ts";
import { type Columns, type ImportSource, MAX_VALUE_BYTES, OF_WHOM, type Problem } from "./import-columns.ts";
import {
  type ConsentReading,
  type ImportedChoice,
  type ImportedChoices,
  type ImportedConsent,
  isNothing,
  readChoice,
  readConsent,
  type SignedCell,
} from "./import-consents.ts";
import type { Standard } from "./import-names.ts";
import { INVISIBLE, readPhone, regionOf } from "./import-phones.ts";
import type { SignedChannel } from "./import-signs.ts";
import { readTime } from "./import-times.ts";
import { cellValue, isWhole, tagsOf, type Value } from "./import-values.ts";
import { isTimeZone } from "./time-zones.ts";
import { consentChannelOf } from "./topics.ts";

/** How the rows of a file are read. */
export interface RowReading extends ConsentReading {
  /** ISO 3166: where phone numbers without a country code are from, whatever the row says. */
  phoneRegion?: string | undefined;
  /** Where they are from if the row does not say. */
  region?: string | undefined;
}

export interface ImportedRow {
  external_id: string;
  email?: string | undefined;
  attributes: Record<string, Value>;
  /** Whether the row names an address and no person: what it refuses holds for the address. */
  isByAddress: boolean;
  /** Of mail. */
  consent?: ImportedConsent | undefined;
  /** Of topics and other channels: what the row says something of. */
  choices: ImportedChoices;
  /** What became of its phone number. */
  phone?: "kept" | "converted" | "unreadable" | undefined;
  /** What of it could not be taken, though the row was. */
  warnings: readonly string[];
}

/** The cells of a row by what they hold. */
interface Sorted {
  standard: Partial<Record<Standard, string>>;
  evidence: Record<string, string>;
  attributes: Record<string, Value>;
  signed: SignedCell[];
  /** By the key of a topic. */
  topics: Record<string, { said?: string; signed: SignedCell[]; time?: string }>;
  country?: string;
  /** Of which channel the row is. */
  channel?: RowChannel | undefined;
  /** Its address there. */
  address?: string;
  /** What its status says, if the name of its column does not say that it is of mail. */
  said?: string;
  /** As its columns have them, the most usual name first. */
  phones: WrittenPhone[];
}

interface WrittenPhone {
  text: string;
  rank: number;
  isPlusless: boolean;
}

/** @returns the subscriber of a row, or the reason why it is rejected */
export function readRow(
  columns: Columns,
  row: readonly string[],
  reading: RowReading,
): { kind: "row"; row: ImportedRow } | Problem {
  const { cells } = columns;
  if (!isWhole(row, cells.length)) return problem(`has ${row.length} cells, the header ${cells.length}`);
  if (row.some((cell) => Buffer.byteLength(cell.trim()) > MAX_VALUE_BYTES))
    return problem(`has a value of more than ${MAX_VALUE_BYTES} bytes`);
  const sorted = sortCells(columns, row);
  const { standard, attributes } = sorted;
  takeAddress(sorted);
  const address = standard.email === undefined ? undefined : readAddress(standard.email);
  if (address?.kind === "problem") return address;
  const { email, warning } = address ?? {};
  const external_id = standard.external_id ?? (email ?? standard.email)?.toLowerCase();
  if (external_id === undefined) return problem("has neither an external_id nor an email");
  if (external_id.length > 512) return problem("has an external_id of more than 512 characters");
  const phone = takePhone(sorted, reading);
  const unread = [...takeFields(standard, attributes), ...unreadTime(standard, reading)];
  const unnamed = unnamedOf(sorted.channel, { hasMail: email !== undefined, hasNumber: sorted.phones.length > 0 });
  const consent = ofMail(columns.source, sorted, unnamed, reading);
  if (consent?.said !== undefined) attributes.imported_consent = consent.said;
  const warnings = [warning, phone === "unreadable" ? "has a phone number that cannot be read" : undefined, ...unread];
  const imported: ImportedRow = {
    external_id,
    ...(email !== undefined && { email }),
    isByAddress: standard.external_id === undefined,
    attributes,
    consent,
    choices: choicesOf(sorted, unnamed, reading),
    ...(phone && { phone }),
    warnings: warnings.filter((one) => one !== undefined),
  };
  return { kind: "row", row: imported };
}

const problem = (text: string): Problem => ({ kind: "problem", problem: text });

function sortCells({ cells, types }: Columns, row: readonly string[]): Sorted {
  const sorted: Sorted = { standard: {}, evidence: {}, attributes: {}, signed: [], topics: {}, phones: [] };
  const topicOf = (key: string) => {
    sorted.topics[key] ??= { signed: [] };
    return sorted.topics[key];
  };
  for (const [
    i,
    { standard, evidence, attribute, topic, topicTime, signed, isCountry, isPlusless = false, phoneRank, ...cell },
  ] of cells.entries()) {
    const value = textOf(row[i] ?? "");
    if (value === "" || (standard && OF_WHOM.includes(standard) && NO_VALUE.test(value))) continue;
    if (standard && !signed) sorted.standard[standard] = value;
    if (standard === "consent_status" && !signed && !cell.isOfMail) sorted.said = value;
    if (standard === "tags") sorted.signed.push(...signedTags(value));
    if (cell.rowColumn === "address") sorted.address = value;
    else if (cell.rowColumn) sorted.channel = rowChannelOf(cell.rowColumn, value) ?? sorted.channel;
    if (evidence) sorted.evidence[evidence] = value;
    if (attribute) sorted.attributes[attribute] = cellValue(value, types[i] ?? "text");
    if (topic && signed) topicOf(topic).signed.push({ signed, value });
    else if (topic) topicOf(topic).said = value;
    else if (signed) sorted.signed.push({ signed, value });
    if (topicTime) topicOf(topicTime).time = value;
    if (isCountry) sorted.country = value;
    const rank = standard === "phone" ? FIRST_PHONE : phoneRank;
    if (rank !== undefined && !NO_VALUE.test(value)) sorted.phones.push({ text: value, rank, isPlusless });
  }
  sorted.phones.sort((a, b) => a.rank - b.rank);
  return sorted;
}

const tagged = (channel: "email" | "sms", tags: readonly string[]): SignedCell => ({
  signed: { sign: "word", channels: [channel] },
  value: tags.join(),
});
/** A tag may be an opt-out too: `unsubscribed`, `sms-optout`. */
function signedTags(text: string): SignedCell[] {
  const tags = tagsOf(text);
  const isOfNumbers = (tag: string) => /sms/i.test(tag);
  return [
    tagged(
      "email",
      tags.filter((tag) => !isOfNumbers(tag)),
    ),
    tagged("sms", tags.filter(isOfNumbers)),
  ];
}

/** In a row of one channel, the address may stand in a column for all of them. */
function takeAddress({ standard, channel, address, phones }: Sorted): void {
  if (address === undefined) return;
  if (channel === "email") standard.email ??= address;
  if (channel === "sms") phones.push({ text: address, rank: LAST_PHONE, isPlusless: false });
}

/** What stands for no value where a name, an address or a number would. */
const NO_VALUE = /^(?:null|nan|none|nil|undefined|<na>|n\/a|#n\/a|#nv|\\n|-+)$/i;
/** Space around a value, and signs that nobody sees. */
const AROUND = /^[\s\p{Cf}]+|[\s\p{Cf}]+$/gu;
/** What keeps a spreadsheet from reading a text as a number: `="0151"`. */
const AS_TEXT = /^="([^"]*)"$/;
/** The same in some exports: `'0151`. */
const MARKED_NUMBER = /^'(?=\+?\d[\d\s().+/-]*$)/;
const textOf = (cell: string): string =>
  cell.replaceAll(AROUND, "").replace(AS_TEXT, "$1").replace(MARKED_NUMBER, "").replaceAll(AROUND, "");
const QUOTED = /^(['"‘“])(.*)['"’”]$/;
const WITH_NAME = /^[^<>]*<([^<>\s]+)>$/;

/** An address as it is sent to: its domain in ASCII. It may stand behind a name or `mailto:`. */
function readAddress(written: string): { kind: "address"; email: string; warning?: string } | Problem {
  const visible = written.replaceAll(INVISIBLE, "");
  const unquoted = visible.replace(QUOTED, "$2");
  const text = (WITH_NAME.exec(unquoted)?.[1] ?? unquoted).replace(/^mailto:/i, "").replace(/[.,;]+$/, "");
  const at = text.lastIndexOf("@");
  const local = text.slice(0, at);
  const email = withAsciiDomain(text);
  if (at > 0 && isEmailAddress(email)) return { kind: "address", email };
  const isOnlyLocal = isBeyondAscii(local) && isEmailAddress(email.replaceAll(/[^\x20-\x7e]/g, "a"));
  if (!isOnlyLocal) return problem("has a bad email address");
  return { kind: "address", email, warning: "has an email address that is not supported" };
}

/** A time of consent that cannot be read proves nothing. */
const unreadTime = ({ consent_at: time }: Sorted["standard"], reading: RowReading): string[] =>
  time === undefined || isNothing(time) || readTime(time, reading) !== undefined
    ? []
    : ["has a time of consent that cannot be read"];

/** @returns what is left out: an invalid time zone or locale; the row is imported without it */
function takeFields(
  { first_name, last_name, timezone, locale, tags }: Sorted["standard"],
  attributes: Sorted["attributes"],
): string[] {
  const unread: string[] = [];
  if (first_name) attributes.first_name = first_name;
  if (last_name) attributes.last_name = last_name;
  // OneSignal writes an offset in seconds beside the name of the zone.
  const zone = timezone ?? attributes.timezone;
  if (typeof zone === "string" && isTimeZone(zone)) attributes.timezone = zone;
  else if (zone !== undefined) {
    delete attributes.timezone;
    unread.push("has a time zone that cannot be read");
  }
  if (locale && isLocale(locale.replace("_", "-"))) attributes.locale = locale.replace("_", "-");
  else if (locale) unread.push("has a locale that cannot be read");
  const said = tags?.startsWith("{") ? cellValue(tags, "text") : tags;
  if (tags) attributes.tags = typeof said === "object" ? said : tagsOf(tags);
  return unread;
}

/** The column of the phone comes before others with a name of one. */
const FIRST_PHONE = -1;
const LAST_PHONE = Number.POSITIVE_INFINITY;

/** The first number that can be read. Where none can, the first stays as it is: a send says that it is invalid. */
function takePhone({ attributes, country, phones }: Sorted, reading: RowReading): ImportedRow["phone"] {
  const region = reading.phoneRegion ?? regionOf(country) ?? reading.region;
  for (const { text, isPlusless } of phones) {
    const read = readPhone(text, region, isPlusless);
    if (read.kind === "unreadable") continue;
    attributes.phone = read.phone;
    return read.kind;
  }
  const first = phones[0];
  if (!first) return undefined;
  attributes.phone = first.text;
  return "unreadable";
}

/** Pinpoint writes `ALL` in `OptOut`. */
const isOfAll = ({ signed, value }: SignedCell): boolean => signed.sign === "out" && /^all$/i.test(value);

const ofChannel = (signed: readonly SignedCell[], channel: SignedChannel, isUnnamedToo: boolean): SignedCell[] =>
  signed.filter(
    (cell) => isOfAll(cell) || (cell.signed.isUnnamed ? isUnnamedToo : cell.signed.channels.includes(channel)),
  );

/**
 * What a row says of a channel.
 * @param read what it says there, with or without what names no channel
 */
function saidOf<C extends { status: ImportedConsent["status"] }>(
  channel: SignedChannel,
  { agreed, refused }: Unnamed,
  read: (isUnnamedToo: boolean) => C | undefined,
): C | undefined {
  if (agreed === channel) return read(true);
  const own = read(false);
  if (isRefusal(own) || !refused.includes(channel)) return own;
  const all = read(true);
  return isRefusal(all) ? all : own;
}

const isRefusal = (said: { status: ImportedConsent["status"] } | undefined): boolean =>
  said?.status === "opted_out" || said?.status === "suppressed";

function ofMail(
  source: ImportSource,
  { standard, evidence, signed, said }: Sorted,
  unnamed: Unnamed,
  reading: RowReading,
): ImportedConsent | undefined {
  const { consent_status: _, consent_at: __, ...others } = standard;
  return saidOf("email", unnamed, (isUnnamedToo) =>
    readConsent(
      source,
      {
        standard: isUnnamedToo || said === undefined ? standard : others,
        evidence,
        signed: ofChannel(signed, "email", isUnnamedToo),
      },
      reading,
    ),
  );
}

function choicesOf(sorted: Sorted, unnamed: Unnamed, reading: RowReading): ImportedChoices {
  const { standard, topics, signed, said } = sorted;
  const choices: Record<string, ImportedChoice> = {};
  for (const [key, said] of Object.entries(topics)) {
    const choice = readChoice(said, standard, reading);
    if (choice) choices[consentChannelOf(key)] = choice;
  }
  // The time of a consent to mail proves nothing of other channels.
  const { consent_at: _, ...others } = standard;
  for (const channel of ["sms", "chat_app"] as const) {
    const choice = saidOf(channel, unnamed, (isUnnamedToo) =>
      isUnnamedToo
        ? readChoice({ said, signed: ofChannel(signed, channel, true) }, standard, reading)
        : readChoice({ signed: ofChannel(signed, channel, false) }, others, reading),
    );
    if (choice) choices[channel] = choice;
  }
  return choices;
}
