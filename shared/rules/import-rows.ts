// Reads a row of an import by its columns (IMP-9 to IMP-12).
import { isBeyondAscii, isEmailAddress, isLocale, withAsciiDomain } from "./contacts.ts";
import { type Columns, MAX_VALUE_BYTES } from "./import-columns.ts";
import {
  type ConsentReading,
  type ImportedChoice,
  type ImportedChoices,
  type ImportedConsent,
  readChoice,
  readConsent,
  type SignedCell,
} from "./import-consents.ts";
import type { Standard } from "./import-names.ts";
import { readPhone, regionOf } from "./import-phones.ts";
import { cellValue, tagsOf, type Value } from "./import-values.ts";
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
  isPlusless: boolean;
}

/** @returns the subscriber of a row, or the reason why it is rejected */
export function readRow(
  columns: Columns,
  row: readonly string[],
  reading: RowReading,
): ImportedRow | { problem: string } {
  const { cells } = columns;
  // Spreadsheets end rows with empty cells.
  if (row.length < cells.length || row.slice(cells.length).some((cell) => cell.trim() !== ""))
    return { problem: `has ${row.length} cells, the header ${cells.length}` };
  if (row.some((cell) => Buffer.byteLength(cell.trim()) > MAX_VALUE_BYTES))
    return { problem: `has a value of more than ${MAX_VALUE_BYTES} bytes` };
  const sorted = sortCells(columns, row);
  const { standard, attributes } = sorted;
  const address = standard.email === undefined ? undefined : readAddress(standard.email);
  if (address && "problem" in address) return address;
  const { email, warning } = address ?? {};
  // Some exports mark a number as a text by an apostrophe.
  const external_id = standard.external_id?.replace(/^'(?=\d+$)/, "") ?? (email ?? standard.email)?.toLowerCase();
  if (external_id === undefined) return { problem: "has neither an external_id nor an email" };
  if (external_id.length > 512) return { problem: "has an external_id of more than 512 characters" };
  const phone = takePhone(sorted, reading);
  takeFields(standard, attributes);
  const consent = readConsent(columns.source, { ...sorted, signed: ofChannel(sorted.signed, "email") }, reading);
  if (consent?.said !== undefined) attributes.imported_consent = consent.said;
  const warnings = [warning, phone === "unreadable" ? "has a phone number that cannot be read" : undefined];
  return {
    external_id,
    ...(email !== undefined && { email }),
    attributes,
    consent,
    choices: choicesOf(sorted, reading),
    ...(phone && { phone }),
    warnings: warnings.filter((one) => one !== undefined),
  };
}

function sortCells({ cells, types }: Columns, row: readonly string[]): Sorted {
  const sorted: Sorted = { standard: {}, evidence: {}, attributes: {}, signed: [], topics: {}, isPlusless: false };
  const topicOf = (key: string) => {
    sorted.topics[key] ??= { signed: [] };
    return sorted.topics[key];
  };
  for (const [
    i,
    { standard, evidence, attribute, topic, topicTime, signed, isCountry, isPlusless },
  ] of cells.entries()) {
    const value = row[i]?.trim() ?? "";
    if (value === "") continue;
    if (standard && !signed) sorted.standard[standard] = value;
    if (evidence) sorted.evidence[evidence] = value;
    if (attribute) sorted.attributes[attribute] = cellValue(value, types[i] ?? "text");
    if (topic && signed) topicOf(topic).signed.push({ signed, value });
    else if (topic) topicOf(topic).said = value;
    else if (signed) sorted.signed.push({ signed, value });
    if (topicTime) topicOf(topicTime).time = value;
    if (isCountry) sorted.country = value;
    if (isPlusless) sorted.isPlusless = true;
  }
  return sorted;
}

/** An address as it is sent to: its domain in ASCII. */
function readAddress(text: string): { email?: string; warning?: string } | { problem: string } {
  const at = text.lastIndexOf("@");
  const local = text.slice(0, at);
  const email = withAsciiDomain(text);
  if (at > 0 && isEmailAddress(email)) return { email };
  const isOnlyLocal = isBeyondAscii(local) && isEmailAddress(email.replaceAll(/[^\x20-\x7e]/g, "a"));
  if (!isOnlyLocal) return { problem: "has a bad email address" };
  return { email, warning: "has an email address that is not supported" };
}

/** An invalid time zone or locale is left out; the row is imported without it. */
function takeFields(
  { first_name, last_name, timezone, locale, tags }: Sorted["standard"],
  attributes: Sorted["attributes"],
): void {
  if (first_name) attributes.first_name = first_name;
  if (last_name) attributes.last_name = last_name;
  if (timezone && isTimeZone(timezone)) attributes.timezone = timezone;
  if (locale && isLocale(locale.replace("_", "-"))) attributes.locale = locale.replace("_", "-");
  if (!tags) return;
  const tagged = tags.startsWith("{") ? cellValue(tags, "text") : tags;
  attributes.tags = typeof tagged === "object" ? tagged : tagsOf(tags);
}

/** A number that cannot be read stays as it is: a send says that it is invalid. */
function takePhone({ standard, attributes, country, isPlusless }: Sorted, reading: RowReading): ImportedRow["phone"] {
  if (standard.phone === undefined) return undefined;
  const region = reading.phoneRegion ?? regionOf(country) ?? reading.region;
  const read = readPhone(standard.phone, region, isPlusless);
  attributes.phone = read.kind === "unreadable" ? standard.phone : read.phone;
  return read.kind;
}

const ofChannel = (signed: readonly SignedCell[], channel: string): SignedCell[] =>
  signed.filter((cell) => cell.signed.channels.some((one) => one === channel));

function choicesOf({ standard, signed, topics }: Sorted, reading: RowReading): ImportedChoices {
  const { consent_source } = standard;
  const choices: Record<string, ImportedChoice> = {};
  for (const [key, said] of Object.entries(topics)) {
    const choice = readChoice(said, standard, reading);
    if (choice) choices[consentChannelOf(key)] = choice;
  }
  // The time of a consent to mail proves nothing of other channels.
  for (const channel of ["sms", "chat_app"]) {
    const choice = readChoice(
      { signed: ofChannel(signed, channel) },
      { ...(consent_source !== undefined && { consent_source }) },
      reading,
    );
    if (choice) choices[channel] = choice;
  }
  return choices;
}
