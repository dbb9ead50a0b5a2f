// The refusals of a row that is not imported: its opt-out is not lost with the rest (AMB-132).
import { normalizedAddress } from "./addresses.ts";
import { addressesIn, readEmail } from "./import-addresses.ts";
import { isClear } from "./import-answers.ts";
import { otherEmails, type RowReading, type SortedCells, sortCells } from "./import-cells.ts";
import { type Cell, type Columns, MAX_VALUE_BYTES } from "./import-columns.ts";
import { type ImportedChoices, type ImportedConsent, isOptOut } from "./import-consents.ts";
import { type OtherChannel, otherChannels } from "./import-mapping.ts";
import { type NumbersByChannel, takeNumbers } from "./import-row-numbers.ts";
import type { ImportedRow } from "./import-rows.ts";
import { isRefusal, statementsOf } from "./import-statements.ts";
import { fitsType, isWhole } from "./import-values.ts";
import { topicKeyOf } from "./topics.ts";

export interface Refusals {
  /** The id of a person who may not exist. */
  external_id?: string | undefined;
  email?: string | undefined;
  /** Further addresses in the same row. */
  otherEmails?: readonly string[] | undefined;
  /** The phone of the person, in E.164 form. */
  phone?: string | undefined;
  /** The numbers to which an opt-out of a channel applies, whoever their owner is. */
  numbers: NumbersByChannel;
  /** The mail consent: an opt-out or a suppression. */
  consent?: ImportedConsent | undefined;
  /** The opt-outs of topics and other channels. */
  choices: ImportedChoices;
}

/** The most readings tried of a row with the wrong number of cells. */
const MAX_READINGS = 20;

/**
 * The refusals of a rejected row that names its person; undefined if it has none. @param isNamedToo also of a row
 * without refusals, but with an address of a person who may be refused in another row
 */
export function refusalsOf(
  columns: Columns,
  row: readonly string[],
  reading: RowReading,
  isNamedToo = false,
): Refusals | undefined {
  if (!mayRefuse(columns)) return undefined;
  const short = row.map((cell) => (Buffer.byteLength(cell) > MAX_VALUE_BYTES ? "" : cell));
  if (isWhole(short, columns.cells.length)) return refusedBy(columns, sortCells(columns, short), reading, isNamedToo);
  for (const row of readingsOf(columns, short)) {
    const refused = refusedBy(columns, onlyClear(sortCells(columns, row), reading), reading);
    if (refused) return refused;
  }
  return undefined;
}

/** Whether a row of the file may have a consent. */
export const mayRefuse = ({ cells }: Columns): boolean => cells.some(saysSomething);

/**
 * The refusals of a row's person who does not exist. Refusals of an address or a number are kept for these. @returns
 * undefined if there are none
 */
export function refusedOfPerson({ external_id, email, consent, choices }: Refusals): Refusals | undefined {
  const isOfAddress = consent?.status === "suppressed" && email !== undefined;
  const left: Refusals = {
    external_id,
    numbers: {},
    consent: isOfAddress || consent?.isPending ? undefined : consent,
    choices: Object.fromEntries(Object.entries(choices).filter(([_, choice]) => isOptOut(choice))),
  };
  return external_id === undefined || refusesNothing(left) ? undefined : left;
}

/** The addresses of a person in the rows of a file. */
export interface GivenAddresses {
  email?: string | undefined;
  /** The phone as written. */
  phone?: unknown;
}

/** Adds addresses from other rows to the refusals of a person who is named only by id. */
export function withAddresses(refusals: Refusals, addresses: GivenAddresses | undefined): Refusals {
  const { email = addresses?.email, phone = normalizedAddress("phone", addresses?.phone) } = refusals;
  const phones = phone === undefined ? [] : [phone];
  const numbersOf = (channel: OtherChannel) => {
    const said = refusals.numbers[channel] ?? [];
    return said.length > 0 ? said : phones;
  };
  const numbers = Object.fromEntries(otherChannels.map((channel) => [channel, numbersOf(channel)]));
  return { ...refusals, email, phone, numbers };
}

/** Whether all refusals of a row apply to an address or a number. */
export function isOfAddresses({ email, otherEmails = [], consent, choices, ...others }: Refusals): boolean {
  const held = new Set<string>(refusedNumbers({ ...others, choices }, true).map(({ channel }) => channel));
  const isMailHeld = email !== undefined || otherEmails.length > 0;
  // An address without mail gets no mail of a topic either.
  const isHeld = (channel: string) => held.has(channel) || (consent !== undefined && topicKeyOf(channel) !== undefined);
  return (consent === undefined || (isMailHeld && !consent.isPending)) && Object.keys(choices).every(isHeld);
}

/** The refusals of a row that could be read, but not imported. */
export function refusalsIn(row: ImportedRow): Refusals {
  const { external_id, email, isByAddress, attributes, consent, choices } = row;
  return {
    ...(!isByAddress && { external_id }),
    email,
    otherEmails: row.otherEmails,
    phone: normalizedAddress("phone", attributes.phone),
    numbers: row.numbers,
    consent: isRefusal(consent) ? consent : undefined,
    choices: refusedOf(choices),
  };
}

/**
 * The numbers that a row opts out of channels, whoever their owner is. @param isByAddress the row names no person: then
 * the person's number is among them
 */
export function refusedNumbers({ phone, numbers, choices }: Refusals, isByAddress: boolean) {
  return otherChannels.flatMap((channel) => {
    const choice = choices[channel];
    const held = (numbers[channel] ?? []).filter((number) => isByAddress || number !== phone);
    return choice && isOptOut(choice) ? held.map((number) => ({ channel, number, at: choice.at })) : [];
  });
}

export const refusesNothing = ({ consent, choices }: Refusals): boolean =>
  consent === undefined && Object.keys(choices).length === 0;

const refusedOf = (choices: ImportedChoices): ImportedChoices =>
  Object.fromEntries(Object.entries(choices).filter(([_, choice]) => isRefusal(choice)));

const saysSomething = ({ standard, evidence, topic, ofChannel, signed }: Cell): boolean =>
  signed !== undefined ||
  ofChannel !== undefined ||
  evidence !== undefined ||
  topic !== undefined ||
  standard === "consent_status" ||
  standard === "tags";

function refusedBy(
  columns: Columns,
  sorted: SortedCells,
  reading: RowReading,
  isNamedToo = false,
): Refusals | undefined {
  const { standard, attributes } = sorted;
  const [email] = addressesIn(standard.email ?? "");
  const { numbers } = takeNumbers(sorted, reading);
  const phone = normalizedAddress("phone", attributes.phone);
  const { consent, choices } = statementsOf(columns, sorted, email !== undefined, reading);
  const refusals = {
    external_id: standard.external_id,
    email,
    otherEmails: otherEmails(sorted, email, consent),
    phone,
    numbers,
    consent: isRefusal(consent) ? consent : undefined,
    choices: refusedOf(choices),
  };
  const isOfSomebody =
    (standard.external_id ?? email ?? phone) !== undefined || refusedNumbers(refusals, true).length > 0;
  const isNamed = isNamedToo && standard.external_id !== undefined && (email ?? phone) !== undefined;
  return isOfSomebody && (isNamed || !refusesNothing(refusals)) ? refusals : undefined;
}

/**
 * Possible readings of a row with too many cells, in which one cell was divided, or with too few, in which some are
 * missing: those whose cells fit their columns, each place between two relevant columns once.
 */
function readingsOf({ cells, types }: Columns, row: readonly string[]): (readonly string[])[] {
  const isTold = cells.map((cell, i) => {
    const isTyped = !["text", "answers", "empty", "phone", "same_phone"].includes(types[i] ?? "text");
    const isOfWhom = cell.standard === "email" || cell.standard === "external_id";
    return isTyped || isOfWhom || (saysSomething(cell) && cell.signed?.sign !== "word");
  });
  const places = [cells.length];
  for (const [i, told] of isTold.entries()) if (!told && (i === 0 || isTold[i - 1])) places.push(i);

  const extra = row.length - cells.length;
  const divided = (at: number) => [
    ...row.slice(0, at),
    row.slice(at, at + extra + 1).join(),
    ...row.slice(at + extra + 1),
  ];
  const leftOut = (at: number) => [...row.slice(0, at), ...Array.from({ length: -extra }, () => ""), ...row.slice(at)];
  const readings = places
    .slice(0, MAX_READINGS)
    .map((at) => (extra > 0 ? divided(at) : leftOut(at)).slice(0, cells.length));
  return readings.filter((reading) =>
    reading.every((cell, i) => {
      const value = cell.trim();
      const isAddress = cells[i]?.standard !== "email" || value === "" || readEmail(value).kind === "address";
      return isAddress && fitsType(value, types[i] ?? "text");
    }),
  );
}

/** The statements that are certain in any reading: a text that is neither yes nor no nor a time counts for nothing. */
const onlyClear = (sorted: SortedCells, reading: RowReading): SortedCells => ({
  ...sorted,
  evidence: Object.fromEntries(Object.entries(sorted.evidence).filter(([_, value]) => isClear(value, reading))),
  signed: sorted.signed.filter(({ value }) => isClear(value, reading)),
});
