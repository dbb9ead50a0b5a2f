// Reads a stream of bytes as records of a CSV file (RFC 4180), each with the byte where it ends: reading can continue
// there.
import { Readable } from "node:stream";
import { CsvError, parse } from "csv-parse";

export interface Record {
  cells: string[];
  /** Bytes from the beginning of the stream to the end of the record. */
  end: number;
  /** Lines to the end of the record. */
  line: number;
  delimiter: string;
}

const DELIMITERS = [",", ";", "\t"];
const MAX_RECORD_BYTES = 1_048_576;
const HEAD_BYTES = 65_536;

const UNREADABLE = "UnreadableFile";
const unreadable = (message: string) => Object.assign(new Error(message), { name: UNREADABLE });
/** Whether the file itself is at fault, so that a retry does not help. */
export const isUnreadable = (error: unknown): error is Error => error instanceof Error && error.name === UNREADABLE;

/** @throws an unreadable error for binary bytes, an encoding other than UTF-8, or a quote that is never closed. */
export async function* readRecords(
  bytes: AsyncIterable<Uint8Array>,
  { delimiter: found }: { delimiter?: string },
): AsyncGenerator<Record> {
  const source = bytes[Symbol.asyncIterator]();
  const head: Buffer[] = [];
  let size = 0;
  // The delimiter is the one that the header uses.
  while (found === undefined && size < HEAD_BYTES && !head.some((chunk) => chunk.includes(10))) {
    const { value, done } = await source.next();
    if (done) break;
    head.push(Buffer.from(value));
    size += value.length;
  }
  const start = Buffer.concat(head);
  const delimiter = found ?? delimiterOf(start.subarray(0, HEAD_BYTES).toString().split(/\r?\n/)[0] ?? "");
  const decoder = new TextDecoder("utf-8", { fatal: true });
  async function* checked() {
    if (start.length > 0) yield check(start, decoder);
    for (;;) {
      const { value, done } = await source.next();
      if (done) return;
      yield check(Buffer.from(value), decoder);
    }
  }
  const parser = parse({
    bom: true,
    delimiter,
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    record_delimiter: ["\r\n", "\n", "\r"],
    max_record_size: MAX_RECORD_BYTES,
  });
  const feed = Readable.from(checked());
  feed.on("error", (error) => parser.destroy(error)).pipe(parser);
  try {
    for await (const { record, info } of parser as AsyncIterable<{
      record: string[];
      info: { bytes: number; lines: number };
    }>)
      yield { cells: record, end: info.bytes, line: info.lines, delimiter };
  } catch (error) {
    throw error instanceof CsvError ? unreadable(`the file is not well-formed CSV: ${withoutValue(error)}`) : error;
  } finally {
    feed.destroy();
  }
}

/** The reason is stored and logged: it must not quote the file. */
const withoutValue = ({ message }: CsvError): string => message.split(/, value is /, 1)[0] ?? "";

function check(chunk: Buffer, decoder: InstanceType<typeof TextDecoder>): Buffer {
  try {
    decoder.decode(chunk, { stream: true });
  } catch {
    throw unreadable("the file is not UTF-8 text");
  }
  if (chunk.includes(0)) throw unreadable("the file holds bytes that are no text");
  return chunk;
}

/** The separator that the header uses most, outside quotes. */
function delimiterOf(line: string): string {
  const bare = line.replaceAll(/"[^"]*"/g, "");
  const countOf = (delimiter: string) => bare.split(delimiter).length;
  return DELIMITERS.reduce((best, delimiter) => (countOf(delimiter) > countOf(best) ? delimiter : best));
}
