// Reads a stream of bytes as records of a CSV file (RFC 4180), each with the byte where it ends: reading can continue
// there.
import { Readable } from "node:stream";
import { CsvError, parse } from "csv-parse";
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

/**
 * @param delimiter without it, the stream is the beginning of a file
 * @param encoding without it, the beginning of the file shows it
 * @throws an unreadable error for binary bytes, for what is not in the encoding, or a quote that is never closed.
 */
export async function* readRecords(
  bytes: AsyncIterable<Uint8Array>,
  { delimiter: ofHeader, encoding: ofFile }: { delimiter?: string | undefined; encoding?: Encoding | undefined },
): AsyncGenerator<Record> {
  const raw = await headed(bytes, (start) => start.length >= SHOWN_BYTES);
  const encoding = ofFile ?? shownEncoding(raw.start);
  const text = decoded(raw.whole, encoding);
  // The delimiter is the one that the header uses.
  const isLine = (start: Buffer) => ofHeader !== undefined || start.length >= HEAD_BYTES || start.includes(10);
  const { start, whole } = await headed(text.bytes, isLine);
  const first =
    start
      .subarray(0, HEAD_BYTES)
      .toString()
      .split(/\r?\n|\r/)[0] ?? "";
  const separator = ofHeader === undefined ? SEPARATOR_LINE.exec(first)?.[1] : undefined;
  const delimiter = ofHeader ?? separator ?? delimiterOf(first);
  const parser = parse({
    bom: true,
    delimiter,
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    record_delimiter: ["\r\n", "\n", "\r"],
    max_record_size: MAX_RECORD_BYTES,
  });
  const feed = Readable.from(whole);
  feed.on("error", (error) => parser.destroy(error)).pipe(parser);
  let isHidden = separator !== undefined;
  try {
    for await (const { record, info } of parser as AsyncIterable<{
      record: string[];
      info: { bytes: number; lines: number };
    }>) {
      if (!isHidden) yield { cells: record, end: text.positionOf(info.bytes), line: info.lines, delimiter, encoding };
      isHidden = false;
    }
  } catch (error) {
    throw error instanceof CsvError ? unreadable(`the file is not well-formed CSV: ${withoutValue(error)}`) : error;
  } finally {
    feed.destroy();
  }
}

/** Reads ahead. @returns the bytes until there are enough, and all of them. */
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

/** The reason is stored and logged: it must not quote the file. */
const withoutValue = ({ message }: CsvError): string => message.split(/, value is /, 1)[0] ?? "";

/** The separator that the header uses most, outside quotes. */
function delimiterOf(line: string): string {
  const bare = line.replaceAll(/"[^"]*"/g, "");
  const countOf = (delimiter: string) => bare.split(delimiter).length;
  return DELIMITERS.reduce((best, delimiter) => (countOf(delimiter) > countOf(best) ? delimiter : best));
}
