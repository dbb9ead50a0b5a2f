// Reads a file of suppressed addresses, as providers of mail export them (AMB-128).
import * as v from "valibot";
import { ApiError } from "../../../shared/kernel/errors.ts";
import { chunksOf } from "../../../shared/rules/chunks.ts";
import { readEmail } from "../../../shared/rules/import-addresses.ts";
import { columnKey, rankOf } from "../../../shared/rules/import-names.ts";
import { readTime } from "../../../shared/rules/import-times.ts";
import type { Store } from "../../../shared/store/context.ts";
import { isUnreadable } from "../../../shared/store/files/encodings.ts";
import { readRecords } from "../../../shared/store/files/records.ts";
import type { Suppressing } from "../../../shared/store/subscribers/addresses.ts";
import { readAddress, suppress } from "../../../shared/store/subscribers/suppressions.ts";

export const MAX_ROWS = 10_000;
export const MAX_CHARACTERS = 1_000_000;
const MAX_CONCURRENT = 25;
const MAX_REJECTED = 100;
const MAX_NOTE_CHARACTERS = 500;

export const SuppressionsImported = v.object({
  suppressed: v.pipe(v.number(), v.description("Addresses that are suppressed from now on")),
  unchanged: v.pipe(v.number(), v.description("Addresses that were suppressed before")),
  rejected: v.pipe(v.number(), v.description("Rows without an address that can be read")),
  problems: v.pipe(
    v.array(v.object({ line: v.number(), reason: v.string() })),
    v.description(`The first ${MAX_REJECTED} of them, by their line in the file`),
  ),
});

const NOTES = ["reason", "suppression reason", "bounce reason", "status", "type", "note", "comment"].map(columnKey);
const TIMES = ["created", "created at", "date", "time", "timestamp", "suppressed at", "last update time"].map(
  columnKey,
);

/** Beside the usual names, those of files that hold nothing else. */
const ADDRESSES = ["address", "recipient"];

interface Columns {
  addresses: readonly number[];
  note: number;
  time: number;
}

function columnsOf(header: readonly string[]): Columns {
  const keys = header.map(columnKey);
  const addresses = keys.flatMap((key, i) =>
    ADDRESSES.includes(key) || rankOf("email", key) !== undefined || rankOf("phone", key) !== undefined ? [i] : [],
  );
  const firstOf = (names: readonly string[]) => keys.findIndex((key) => names.includes(key));
  return { addresses, note: firstOf(NOTES), time: firstOf(TIMES) };
}

/** @throws 400 for a file without a column of addresses, with too many rows, or that is no CSV */
export async function importSuppressions(
  store: Store,
  csv: string,
): Promise<v.InferOutput<typeof SuppressionsImported>> {
  const { found, problems } = await read(csv, store.clock.now());
  let suppressed = 0;
  for (const some of chunksOf([...found.values()], MAX_CONCURRENT)) {
    const outcomes = await Promise.all(some.map((one) => suppress(store, one)));
    suppressed += outcomes.filter(({ isNew }) => isNew).length;
  }
  const rejected = problems.length;
  return { suppressed, unchanged: found.size - suppressed, rejected, problems: problems.slice(0, MAX_REJECTED) };
}

/** The addresses of a file, each once. */
async function read(csv: string, now: number) {
  const found = new Map<string, Suppressing>();
  const problems: { line: number; reason: string }[] = [];
  let columns: Columns | undefined;
  let rows = 0;
  try {
    for await (const { cells, line } of readRecords(bytesOf(csv), {})) {
      if (!columns) {
        columns = columnsOf(cells);
        // A list of addresses may have no header.
        if (columns.addresses.length > 0 || !cells.some((cell) => addressIn(cell))) continue;
        columns = { addresses: cells.map((_, i) => i), note: -1, time: -1 };
      }
      if (++rows > MAX_ROWS) throw refused(`The file has more than ${MAX_ROWS} rows.`);
      const row = rowOf(cells, columns, now);
      if (row) found.set(row.address, row);
      else problems.push({ line, reason: "no e-mail address, and no phone number in E.164 form" });
    }
  } catch (error) {
    throw isUnreadable(error) ? refused(`The file cannot be read: ${error.message}.`) : error;
  }
  if (!columns || columns.addresses.length === 0)
    throw refused("The file has no column of addresses such as email or phone.");
  return { found, problems };
}

function rowOf(cells: readonly string[], { addresses, note, time }: Columns, now: number): Suppressing | undefined {
  const address = addresses.map((i) => addressIn(cells[i] ?? "")).find((one) => one !== undefined);
  if (!address) return undefined;
  const at = readTime(cells[time] ?? "", { zone: "UTC" });
  const said = cells[note]?.trim().slice(0, MAX_NOTE_CHARACTERS);
  return { ...address, reason: "imported", source: "file", note: said || undefined, at: Math.min(at ?? now, now) };
}

/** An address of mail may stand as people write it, with a name before it. */
function addressIn(cell: string) {
  const read = readEmail(cell.trim());
  return readAddress(read.kind === "address" ? read.email : cell);
}

const refused = (message: string) => new ApiError("BAD_REQUEST", message);

async function* bytesOf(csv: string): AsyncGenerator<Buffer> {
  yield Buffer.from(csv);
}
