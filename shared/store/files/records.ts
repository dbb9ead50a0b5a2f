// Reads a stream of bytes as records of a CSV file (RFC 4180), each with the byte where it ends: reading can continue
// there.
import { Readable } from "node:stream";
import { CsvError, type Options, parse } from "csv-parse";
import { parse as parseWhole } from "csv-parse/sync";
import { textOf } from "../../rules/import-cells.ts";
import { isTitle } from "../../rules/import-names.ts";
import { decoded, type Encoding, SHOWN_BYTES, shownEncoding, unreadable } from "./encodings.ts";

export interface Record {
  cells: string[];
  /** Bytes from the beginning of the stream to the end of the record. */
  end: number;
  /** Lines to the end of the record. */
  line: number;
  delimiter: string;
  encoding: Encoding;
}

const DELIMITERS = [",", ";", "\t", "|"];
/** A line that tells spreadsheets the delimiter. */
const SEPARATOR_LINE = /^\uFEFF?"?sep=([^\r\n])"?$/i;
const MAX_RECORD_BYTES = 1_048_576;
const HEAD_BYTES = 65_536;
/** The most lines above a header. */
export const MAX_TITLES = 10;

/**
 * Reads records. @param delimiter default: the stream is the beginning of a file, which shows it @param encoding
 * default: the beginning of the file shows it @throws an unreadable error for binary bytes, for bytes outside the
 * encoding, or a quote that is never closed. A quote within a cell, `="0151"` or `17" wide`, is a character like
 * others.
 */
export async function* readRecords(
  bytes: AsyncIterable<Uint8Array>,
  { delimiter: ofHeader, encoding: ofFile }: { delimiter?: string | undefined; encoding?: Encoding | undefined },
): AsyncGenerator<Record> {
  const raw = await headed(bytes, (start) => start.length >= SHOWN_BYTES);
  const encoding = ofFile ?? shownEncoding(raw.start);
  const text = decoded(raw.whole, encoding);
  // The delimiter is the one that the header uses.
  const isHead = (start: Buffer) =>
    ofHeader !== undefined || start.length >= HEAD_BYTES || linesOf(start).length > MAX_TITLES;
  const { start, whole } = await headed(text.bytes, isHead);
  const lines = linesOf(start.subarray(0, HEAD_BYTES)).slice(0, MAX_TITLES);
  const separator = ofHeader === undefined ? SEPARATOR_LINE.exec(lines[0] ?? "")?.[1] : undefined;
  const delimiter = ofHeader ?? separator ?? delimiterOf(lines.find((line) => !isTitle([line])) ?? lines[0] ?? "");
  const parser = parse({
    ...FORM,
    bom: true,
    delimiter,
    info: true,
    raw: true,
    relax_quotes: true,
    skip_empty_lines: true,
    max_record_size: MAX_RECORD_BYTES,
  });
  const feed = Readable.from(whole);
  feed.on("error", (error) => parser.destroy(error)).pipe(parser);
  let isHidden = separator !== undefined;
  try {
    for await (const parsed of parser as AsyncIterable<ParsedRecord>) {
      const rows = isHidden ? [] : rowsIn(parsed, delimiter).filter(({ cells }) => !isBlank(cells));
      for (const { cells, bytes, lines } of rows)
        yield { cells, end: text.positionOf(bytes), line: lines, delimiter, encoding };
      isHidden = false;
    }
  } catch (error) {
    throw error instanceof CsvError ? unreadable(`the file is not well-formed CSV: ${withoutValue(error)}`) : error;
  } finally {
    feed.destroy();
  }
}

/** Whether a line has only separators, as spreadsheets write an emptied row. */
const isBlank = (cells: readonly string[]): boolean => cells.every((cell) => textOf(cell) === "");

/** The mark of UTF-8, before a record within the file. */
const MARK = /^\uFEFF+/;
/** The end of a record, and its free number of cells. */
const FORM = { relax_column_count: true, record_delimiter: ["\r\n", "\n", "\r"] } satisfies Options;

interface ParsedRecord {
  record: string[];
  info: { bytes: number; lines: number };
  raw: string;
}

/** The cells of a row, and the bytes and lines to its end. */
interface Row {
  cells: string[];
  bytes: number;
  lines: number;
}

/** One row, or each of several lines that an unclosed quote has joined. */
function rowsIn({ record, info, raw }: ParsedRecord, delimiter: string): Row[] {
  const whole = { cells: record, ...info };
  // In concatenated files, each begins with its own mark.
  if (MARK.test(raw)) return [{ ...whole, cells: cellsIn(raw.replace(MARK, ""), delimiter)[0] ?? record }];
  if (!record.some((cell) => /[\r\n]/.test(cell)) || isWellFormed(raw, delimiter)) return [whole];
  const rows: Row[] = [];
  let { bytes, lines } = info;
  // The text lacks the last byte of its end; a byte too many would be read again as an empty line.
  const ended = raw.replace(/\r$/, "\r\n");
  for (const line of ended.split(/(?<=\n|\r(?!\n))/).reverse()) {
    const [cells] = cellsIn(line, delimiter);
    if (cells) rows.unshift({ cells, bytes, lines });
    bytes -= Buffer.byteLength(line);
    lines--;
  }
  return rows;
}

function isWellFormed(raw: string, delimiter: string): boolean {
  try {
    parseWhole(raw, { ...FORM, delimiter });
    return true;
  } catch {
    return false;
  }
}

/** The cells of a line by itself. An unclosed quote is a character like others. */
function cellsIn(line: string, delimiter: string): string[][] {
  const options = { ...FORM, delimiter, skip_empty_lines: true };
  try {
    return parseWhole(line, { ...options, relax_quotes: true });
  } catch {
    return parseWhole(line, { ...options, quote: null });
  }
}

const linesOf = (text: Buffer): string[] => text.toString().split(/\r?\n|\r/);

/** Reads ahead. @returns the first bytes, and a stream of all */
async function headed(
  bytes: AsyncIterable<Uint8Array>,
  isEnough: (start: Buffer) => boolean,
): Promise<{ start: Buffer; whole: AsyncIterable<Buffer> }> {
  const source = bytes[Symbol.asyncIterator]();
  let start = Buffer.alloc(0);
  while (!isEnough(start)) {
    const { value, done } = await source.next();
    if (done) break;
    start = Buffer.concat([start, value]);
  }
  async function* whole() {
    if (start.length > 0) yield start;
    for (;;) {
      const { value, done } = await source.next();
      if (done) return;
      yield Buffer.from(value);
    }
  }
  return { start, whole: whole() };
}

/** The reason is stored and logged, so it must not quote the file. */
const withoutValue = ({ message }: CsvError): string => message.split(/, value is /, 1)[0] ?? "";

/** The separator that occurs most often in the header, outside quotes. */
function delimiterOf(line: string): string {
  // `Status (1 = active, 0 = left)`
  const bare = line.replaceAll(/"[^"]*"|[([][^()[\]]*[)\]]/g, "");
  const countOf = (delimiter: string) => bare.split(delimiter).length;
  return DELIMITERS.reduce((best, delimiter) => (countOf(delimiter) > countOf(best) ? delimiter : best));
}
