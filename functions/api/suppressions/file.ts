// Reads a file of suppressed addresses in the export formats of mail providers: CSV or JSON (AMB-128).
import { Readable } from "node:stream";
import * as v from "valibot";
import { said } from "../../../shared/contract/schemas.ts";
import { badRequest } from "../../../shared/kernel/errors.ts";
import { chunksOf } from "../../../shared/rules/chunks.ts";
import { csvOfJson } from "../../../shared/rules/csv.ts";
import { BETWEEN_ADDRESSES, readEmail } from "../../../shared/rules/import-addresses.ts";
import { isGood, isNo, isNothing, isYes, negativeOf, SOFT, standingOf } from "../../../shared/rules/import-answers.ts";
import { withReasons } from "../../../shared/rules/import-bounces.ts";
import { textOf } from "../../../shared/rules/import-cells.ts";
import {
  columnKey,
  isCountryColumn,
  isLikePhone,
  isTitle,
  namesOwnEmail,
  type PluslessNumbers,
  pluslessOf,
  rankOf,
} from "../../../shared/rules/import-names.ts";
import { type PhoneForm, readPhone } from "../../../shared/rules/import-phones.ts";
import { regionOf } from "../../../shared/rules/import-places.ts";
import { openNumbers } from "../../../shared/rules/import-plusless.ts";
import { DOUBTFUL_NUMBER } from "../../../shared/rules/import-row-numbers.ts";
import { type SignedName, signedName } from "../../../shared/rules/import-signs.ts";
import { readTime } from "../../../shared/rules/import-times.ts";
import type { Store } from "../../../shared/store/context.ts";
import { isUnreadable } from "../../../shared/store/files/encodings.ts";
import { readRecords } from "../../../shared/store/files/records.ts";
import type { NewSuppression } from "../../../shared/store/subscribers/addresses.ts";
import { readAddress, suppress } from "../../../shared/store/subscribers/suppressions.ts";
import type { WorkspaceRecord } from "../../../shared/store/workspaces/workspaces.ts";

/** The limit of rows, and of addresses: a row may have several. */
export const MAX_ROWS = 10_000;
export const MAX_CHARACTERS = 1_000_000;
const MAX_CONCURRENT = 25;
const MAX_REJECTED = 100;
const MAX_NOTE_CHARACTERS = 500;

export const SuppressionsImported = v.object({
  suppressed: said("Addresses that are suppressed from now on", v.number()),
  unchanged: said("Addresses that were suppressed before", v.number()),
  rejected: said(
    "Rows without an address that can be read or with a number that may be of two countries, and rows that say that it is not suppressed",
    v.number(),
  ),
  problems: said(
    `The first ${MAX_REJECTED} of them, by their line in the file`,
    v.array(v.object({ line: v.number(), reason: v.string() })),
  ),
});

const NOTES = [
  "reason",
  "suppression reason",
  "bounce reason",
  "email suppressions",
  "status",
  "type",
  "note",
  "comment",
].map(columnKey);
const NAMES_TIME =
  /(?:suppress|unsub|bounc|block|complain|spam|clean|remov|event|add)[a-z]*(?:at|on|date|time|timestamp)$|^date(?:of)?(?:suppress|unsub|bounc|undeliver)/;
const TIMES = ["created", "created at", "date", "time", "timestamp", "suppressed at", "last update time"].map(
  columnKey,
);

const NO_ADDRESS = "no email address, and no phone number that can be read";

/** Names of address columns in files that hold nothing else, beside the usual names. */
const ADDRESSES = ["address", "recipient"];

interface Columns {
  /** In some columns a number without its plus is an international one. */
  addresses: readonly { at: number; lacksPlus: PluslessNumbers }[];
  note: number;
  time: number;
  country: number;
  /** Columns about consent. Files of all subscribers have rows that suppress nobody. */
  signed: readonly { at: number; signed: SignedName }[];
}

/** How the numbers and times of a file are read. */
interface FileSettings {
  now: number;
  zone: string;
  region: string | undefined;
}

function columnsOf(header: readonly string[]): Columns {
  const keys = header.map(columnKey);
  const isUsual = (key: string) =>
    ADDRESSES.includes(key) || rankOf("email", key) !== undefined || rankOf("phone", key) !== undefined;
  const isKnown = (name: string) => isUsual(columnKey(name)) || namesOwnEmail(name) || isLikePhone(name);
  const addresses = header.flatMap((name, at) => (isKnown(name) ? [{ at, lacksPlus: pluslessOf(name, keys) }] : []));
  const firstOf = (names: readonly string[]) => keys.findIndex((key) => names.includes(key));
  const time = firstOf(TIMES);
  const signed = header.flatMap((name, at) => {
    const signed = isUsual(columnKey(name)) ? undefined : signedName(name, header);
    return signed ? [{ at, signed }] : [];
  });
  return {
    addresses,
    note: firstOf(NOTES),
    time: time < 0 ? keys.findIndex((key) => NAMES_TIME.test(key)) : time,
    country: header.findIndex(isCountryColumn),
    signed,
  };
}

/**
 * Suppresses the addresses of a file. @throws 400 without an address column, with too many rows, or if it is no CSV or
 * JSON
 */
export async function importSuppressions(
  store: Store,
  text: string,
  workspace: WorkspaceRecord | undefined,
): Promise<v.InferOutput<typeof SuppressionsImported>> {
  const { timezone: zone = "UTC", region } = workspace ?? {};
  const csv = BEGINS_AS_JSON.test(text) ? csvOfJson(text) : text;
  if (csv === undefined) throw badRequest("The file begins as JSON and cannot be read as JSON.");
  const { found, problems } = await readFile(csv, { now: store.clock.now(), zone, region: region ?? undefined });
  let suppressed = 0;
  for (const batch of chunksOf([...found.values()], MAX_CONCURRENT)) {
    const outcomes = await Promise.all(batch.map((suppression) => suppress(store, suppression)));
    suppressed += outcomes.filter(({ isNew }) => isNew).length;
  }
  const rejected = problems.length;
  return { suppressed, unchanged: found.size - suppressed, rejected, problems: problems.slice(0, MAX_REJECTED) };
}

/** The addresses of a file, without duplicates. */
async function readFile(csv: string, reading: FileSettings) {
  const found = new Map<string, NewSuppression>();
  const problems: { line: number; reason: string }[] = [];
  const { columns, rows } = await readRows(csv, reading);
  for (const { cells, line } of rows) {
    if (isSpared(cells, columns, reading)) {
      problems.push({ line, reason: "says that nothing is suppressed" });
      continue;
    }

    const { addresses, isDoubtful } = rowOf(cells, columns, reading);
    if (isDoubtful) problems.push({ line, reason: DOUBTFUL_NUMBER });
    else if (addresses.length === 0) problems.push({ line, reason: NO_ADDRESS });
    for (const suppression of addresses) found.set(suppression.address, suppression);
    if (found.size > MAX_ROWS) throw badRequest(`The file has more than ${MAX_ROWS} addresses.`);
  }
  return { found, problems };
}

/** The rows below the header, and what they show together about the numbers in each column. */
async function readRows(csv: string, reading: FileSettings) {
  const rows: { cells: readonly string[]; line: number }[] = [];
  let header: readonly string[] = [];
  let columns: Columns | undefined;
  try {
    for await (const { cells, line } of readRecords(Readable.from([Buffer.from(csv)]), {})) {
      const first = columns ? undefined : beginning(cells, reading);
      if (first && first.kind !== "title") columns = first.columns;
      if (first?.kind === "header") header = cells;
      if (!columns || first?.kind === "header") continue;

      rows.push({ cells, line });
      if (rows.length > MAX_ROWS) throw badRequest(`The file has more than ${MAX_ROWS} rows.`);
    }
  } catch (error) {
    throw isUnreadable(error) ? badRequest(`The file cannot be read: ${error.message}.`) : error;
  }
  if (!columns || columns.addresses.length === 0)
    throw badRequest("The file has no column of addresses such as email or phone.");

  const numbers = openNumbers(header.length > 0 ? header : (rows[0]?.cells ?? []).map(() => ""), reading);
  for (const { cells } of rows) numbers.see(cells);
  const shown = numbers.shown();
  const addresses = columns.addresses.map(({ at, lacksPlus }) => ({
    at,
    lacksPlus: lacksPlus === "all" ? lacksPlus : (shown[at] ?? lacksPlus),
  }));
  return { columns: { ...columns, addresses }, rows };
}

const IS_DAY = /^\d{4}-\d{2}-\d{2}(?:[T ]|$)/;

/** The meaning of the first line: a list of addresses may have no header, and a title may come before it. */
function beginning(
  cells: readonly string[],
  reading: FileSettings,
): { kind: "header" | "row" | "title"; columns: Columns } {
  const columns = columnsOf(cells);
  if (columns.addresses.length > 0) return { kind: "header", columns };
  const addresses = cells.map((_, at) => ({ at, lacksPlus: "none" as const }));
  const note = cells.findIndex((cell) => negativeOf(textOf(cell)) !== undefined);
  const time = cells.findIndex((cell) => IS_DAY.test(textOf(cell)));
  const whole = { addresses, note, time, country: -1, signed: [] };
  const { addresses: found, isDoubtful } = rowOf(cells, whole, reading);
  if (found.length > 0 || isDoubtful) return { kind: "row", columns: whole };
  return { kind: isTitle(cells) ? "title" : "header", columns };
}

/** Words of a status or an event that does not suppress. Other words leave it open. */
const GOES_ON =
  /^(?:active|aktiv|actif|activo|attivo|ativo|actief|aktywny|subscribed|confirmed|new|sent|processed|delivered|opened?|click(?:ed)?|deferr(?:ed|al)|accepted)$/;

/** Whether a row says that its address is not suppressed, or only bounced softly, and nothing to the contrary. */
function isSpared(cells: readonly string[], { signed }: Columns, { zone }: FileSettings): boolean {
  const filled = signed.map(({ at, signed }) => ({ signed, value: textOf(cells[at] ?? "") }));
  const remarks = withReasons(
    filled.filter(({ value }) => value !== ""),
    { zone },
  );
  const said = remarks.flatMap(({ signed: { sign }, value }) => {
    const key = columnKey(value);
    if (SOFT.test(key)) return [true];
    if (sign === "status" && standingOf(value)) return [false];
    if (sign === "status") return GOES_ON.test(key) ? [true] : [];
    if (sign === "out" || sign === "suppressed") return [isNo(value) || isNothing(value) || isGood(value)];
    return sign === "in" && (isYes(value) || negativeOf(value)) ? [negativeOf(value) === undefined] : [];
  });
  return said.length > 0 && said.every(Boolean);
}

/** The addresses that a row suppresses, and whether a number beside them may be of two countries. */
function rowOf(
  cells: readonly string[],
  columns: Columns,
  { now, zone, region }: FileSettings,
): { addresses: NewSuppression[]; isDoubtful: boolean } {
  const textAt = (i: number) => textOf(cells[i] ?? "");
  const at = readTime(textAt(columns.time), { zone });
  const note = textAt(columns.note).slice(0, MAX_NOTE_CHARACTERS) || undefined;
  const country = textAt(columns.country);
  const ofRow = country === "" ? { region } : { region: regionOf(country), isRegionSaid: true };
  const read = columns.addresses.map(({ at: column, lacksPlus }) =>
    addressesIn(textAt(column), { ...ofRow, lacksPlus }),
  );
  const said = {
    reason: "imported",
    source: "file",
    note,
    at: Math.min(at ?? now, now),
    isDated: at !== undefined,
  } as const;
  const addresses = read.flatMap((row) => row.addresses.map((address): NewSuppression => ({ ...address, ...said })));
  return { addresses, isDoubtful: read.some((row) => row.isDoubtful) };
}

/** The addresses in a cell. A mail address may follow a display name. */
export function addressesIn(
  cell: string,
  form: PhoneForm,
): { addresses: Pick<NewSuppression, "kind" | "address">[]; isDoubtful?: boolean } {
  const whole = readEmail(cell);
  const phone = whole.kind === "address" || cell === "" ? undefined : readPhone(cell, form);
  if (phone && phone.kind !== "unreadable")
    return { addresses: [readAddress(phone.phone)].flatMap((address) => address ?? []) };
  const addresses = cell.split(BETWEEN_ADDRESSES).flatMap((part) => {
    const read = readEmail(part);
    return (read.kind === "address" ? readAddress(read.email) : undefined) ?? [];
  });
  return { addresses, isDoubtful: phone?.isDoubtful ?? false };
}

const BEGINS_AS_JSON = /^\s*(?:\{\s*"|\[\s*[{"])/;
