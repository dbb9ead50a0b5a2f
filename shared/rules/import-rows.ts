// Reads a row of an import by its columns (IMP-9 to IMP-12).
import { normalizedAddress } from "./addresses.ts";
import { readEmail } from "./import-addresses.ts";
import { isClear, isNothing } from "./import-answers.ts";
import { otherEmails, type RowReading, type SortedCells, sortCells } from "./import-cells.ts";
import { type Columns, MAX_VALUE_BYTES, type Problem } from "./import-columns.ts";
import type { ImportedChoices, ImportedConsent } from "./import-consents.ts";
import type { OtherChannel } from "./import-mapping.ts";
import { readLocale, readZone } from "./import-places.ts";
import { DOUBTFUL_NUMBER, type NumbersByChannel, type PhoneKind, takeNumbers } from "./import-row-numbers.ts";
import { statementsOf } from "./import-statements.ts";
import { readTime } from "./import-times.ts";
import { isWhole, tagsValue, type Value } from "./import-values.ts";

export interface ImportedRow {
  external_id: string;
  email?: string | undefined;
  /** Further addresses in its cells: the row's refusals apply to them too. */
  otherEmails?: readonly string[] | undefined;
  attributes: Record<string, Value>;
  /** Whether the row names an address and no person: its refusals apply to the address. */
  isByAddress: boolean;
  consent?: ImportedConsent | undefined;
  /** The choices of topics and other channels. */
  choices: ImportedChoices;
  /** How its phone number was read. */
  phone?: PhoneKind | undefined;
  /** The numbers to which its refusals apply. */
  numbers: NumbersByChannel;
  /** The parts of it that could not be imported, though the row was. */
  warnings: readonly string[];
}

const NOBODY = "has neither an external_id nor an email";
const NO_NUMBER = "has no phone number that can be read";
const TOTAL = "is a line of totals";

/** Reads a row. @returns its subscriber, or why the row is rejected */
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
  const address = standard.email === undefined ? undefined : readEmail(standard.email);
  if (address?.kind === "problem") return address;
  const { email, warning } = address ?? {};
  const { kind: phone, problem: unreadNumber, numbers, elsewhere } = takeNumbers(sorted, reading);
  const number = columns.isOfNumbers ? normalizedAddress("phone", attributes.phone) : undefined;
  const external_id = standard.external_id ?? (email ?? standard.email)?.toLowerCase() ?? number;
  const lostId = sorted.isIdLost ? "has an external_id of which a spreadsheet lost digits" : undefined;
  const noNumber = unreadNumber === DOUBTFUL_NUMBER ? unreadNumber : NO_NUMBER;
  if (external_id === undefined) return problem(lostId ?? (columns.isOfNumbers ? noNumber : NOBODY));
  if (isTotal(sorted)) return problem(TOTAL);
  if (external_id.length > 512) return problem("has an external_id of more than 512 characters");
  const unread = [...takeFields(standard, attributes), ...unreadTime(standard, reading)];
  const { consent, choices: said } = statementsOf(columns, sorted, email !== undefined, reading);
  const { choices, warnings: ofOthers } = withoutOthers(said, elsewhere);
  if (consent?.said !== undefined) attributes.imported_consent = consent.said;
  const warnings = [
    lostId,
    warning,
    unreadNumber,
    isUnread(columns, sorted, consent, reading) ? "has a consent that cannot be read" : undefined,
    ...unread,
    ...ofOthers,
  ];
  const imported: ImportedRow = {
    external_id,
    ...(email !== undefined && { email }),
    otherEmails: otherEmails(sorted, email, consent),
    isByAddress: standard.external_id === undefined,
    attributes,
    consent,
    choices,
    ...(phone && { phone }),
    numbers,
    warnings: warnings.filter((text) => text !== undefined),
  };
  return { kind: "row", row: imported };
}

/** Labels of the sums below a table in a spreadsheet. */
const OF_TOTALS =
  /^(?:(?:grand|sub)[\s-]?)?total(?:e|s|en)?:?$|^(?:gesamt)?summe:?$|^insgesamt:?$|^gesamt:?$|^somme:?$|^suma:?$|^soma:?$|^razem:?$|^totaal:?$|^합계$|^合計$|^总计$/i;
/** A line of sums names no person: its id is a label, and it has no address. */
const isTotal = ({ standard: { external_id, email }, phones }: SortedCells): boolean =>
  email === undefined && phones.length === 0 && OF_TOTALS.test(external_id ?? "");

const WAYS: Record<OtherChannel, string> = { sms: "SMS", chat_app: "WhatsApp" };

/** A consent for a number that the person does not have is not the person's. */
function withoutOthers(choices: ImportedChoices, elsewhere: readonly OtherChannel[]) {
  const others = elsewhere.filter((channel) => choices[channel]?.status === "opted_in");
  const left = Object.fromEntries(others.map((channel) => [channel, { status: "unknown" as const }]));
  const warnings = others.map((channel) => `agrees to ${WAYS[channel]} with another number than its phone`);
  return { choices: { ...choices, ...left }, warnings };
}

const problem = (text: string): Problem => ({ kind: "problem", problem: text });

const LETTER = /^\p{L}$/u;
const LETTER_OR_NUMBER = /^(?:\p{L}|\d{1,2})$/u;

/** A letter or a number with an unknown meaning. Other statements of the row do not make it doubtful. */
function isUnread(
  { source }: Columns,
  { signed, standard }: SortedCells,
  consent: ImportedConsent | undefined,
  reading: RowReading,
): boolean {
  if (consent !== undefined && consent.status !== "unknown") return false;
  const codes = signed.flatMap(({ signed: { sign, isOfTrade }, value }) => {
    if (sign === "in") return LETTER_OR_NUMBER.test(value) ? [value] : [];
    return sign === "status" && !isOfTrade && LETTER.test(value) ? [value] : [];
  });
  // The other platforms have words for people who never answered.
  const stated = source === "csv" && consent?.doubt === undefined ? [standard.consent_status ?? ""] : [];
  return [...codes, ...stated].some((value) => !isNothing(value) && !isClear(value, reading));
}

/** An unreadable time of consent proves nothing. */
const unreadTime = ({ consent_at: time }: SortedCells["standard"], reading: RowReading): string[] =>
  time === undefined || isNothing(time) || readTime(time, reading) !== undefined
    ? []
    : ["has a time of consent that cannot be read"];

/**
 * Takes the fields of a row. @returns the problems: an invalid time zone or locale, without which the row is imported
 */
function takeFields(
  { first_name, last_name, timezone, locale, tags }: SortedCells["standard"],
  attributes: SortedCells["attributes"],
): string[] {
  const unread: string[] = [];
  if (first_name) attributes.first_name = first_name;
  if (last_name) attributes.last_name = last_name;
  // OneSignal writes an offset in seconds beside the name of the zone.
  const written = timezone ?? attributes.timezone;
  const zone = typeof written === "string" ? readZone(written) : undefined;
  if (zone !== undefined) attributes.timezone = zone;
  else if (written !== undefined) {
    delete attributes.timezone;
    unread.push("has a time zone that cannot be read");
  }
  const language = locale && readLocale(locale);
  if (language) attributes.locale = language;
  else if (locale) unread.push("has a locale that cannot be read");
  if (tags) attributes.tags = tagsValue(tags);
  return unread;
}
