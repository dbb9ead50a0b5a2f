// The text of a file as UTF-8, and the positions in the file that belong to positions in that text, so that reading can
// continue there.
import { namedError } from "../../kernel/errors.ts";

export const encodings = [
  "utf-8",
  "utf-16le",
  "utf-16be",
  "windows-1252",
  "windows-1250",
  "windows-1251",
  "windows-1254",
  "windows-1253",
  "windows-1255",
  "windows-1256",
  "windows-1257",
  "windows-1258",
  "windows-874",
  "iso-8859-2",
  "iso-8859-15",
  "koi8-r",
  "macintosh",
  "shift_jis",
  "euc-jp",
  "gbk",
  "gb18030",
  "big5",
  "euc-kr",
] as const;
export type Encoding = (typeof encodings)[number];

/** An encoding by one of its labels, `latin1`; for an unknown label the text itself. */
export function encodingOf(label: string): string {
  try {
    return new TextDecoder(label).encoding;
  } catch (error) {
    if (error instanceof RangeError) return label;
    throw error;
  }
}

const UNREADABLE = "UnreadableFile";
const NOT_UTF8 = "NotUtf8";
export const unreadable = (message: string) => namedError(UNREADABLE, message);
const isNamed = (error: unknown, ...names: string[]): error is Error =>
  error instanceof Error && names.includes(error.name);
/** Whether the file itself is at fault, so that a retry does not help. */
export const isUnreadable = (error: unknown): error is Error => isNamed(error, UNREADABLE, NOT_UTF8);
/** Whether the file may be read in another encoding. */
export const isNotUtf8 = (error: unknown): error is Error => isNamed(error, NOT_UTF8);

/** The characters of windows-1252 that are not in ISO 8859-1, from 0x80 on. */
const FROM_80 = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ";

/** The encoding of a byte order mark. */
function markedEncoding(start: Uint8Array): Encoding | undefined {
  const [first, second, third] = start;
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  return first === 0xef && second === 0xbb && third === 0xbf ? "utf-8" : undefined;
}

/** How many bytes of a file show whether it is UTF-16. */
export const SHOWN_BYTES = 256;

/** UTF-16 without a byte order mark: in Latin letters and separators every second byte is 0. */
function unmarkedEncoding(start: Uint8Array): Encoding | undefined {
  const zeros = [0, 0];
  const shown = start.subarray(0, SHOWN_BYTES);
  for (const [i, byte] of shown.entries()) if (byte === 0) zeros[i % 2]!++;
  const [even = 0, odd = 0] = zeros;
  const enough = shown.length / 8;
  if (even === 0 && odd > enough) return "utf-16le";
  return odd === 0 && even > enough ? "utf-16be" : undefined;
}

/** The encoding that the beginning of a file shows, by default UTF-8. */
export const shownEncoding = (start: Uint8Array): Encoding =>
  markedEncoding(start) ?? unmarkedEncoding(start) ?? "utf-8";

interface DecodedBytes {
  /** The bytes in UTF-8, checked. */
  bytes: AsyncIterable<Buffer>;
  /** The byte of the file that belongs to a byte of the text; called with ascending ends of characters. */
  positionOf(end: number): number;
}

/** Decodes a file. @throws an unreadable error for anything but text */
export function decoded(bytes: AsyncIterable<Uint8Array>, encoding: Encoding): DecodedBytes {
  if (encoding === "utf-8") return { bytes: checkedUtf8(bytes), positionOf: (end) => end };
  const isWide = encoding.startsWith("utf-16");
  const ofPairs = OF_PAIRS.has(encoding);
  // Text not passed yet, as much as the parser is ahead.
  const ahead: Buffer[] = [];
  // The positions after line ends in it. A character has one byte or several, a line end always one.
  const lines: number[] = [];
  let fileBytes = 0;
  let passed = 0;
  let position = 0;
  let isStart = true;
  async function* text(): AsyncGenerator<Buffer> {
    // The decoder of windows-1252 leaves out the characters from 0x80 on.
    const decoder = encoding === "windows-1252" ? undefined : new TextDecoder(encoding, { ignoreBOM: true });
    for await (const chunk of bytes) {
      if (!isWide) lines.push(...endsOfLines(chunk, fileBytes));
      fileBytes += chunk.length;
      let decodedText = decoder ? decoder.decode(chunk, { stream: true }) : fromWindows1252(chunk);
      if (decoder && isStart && decodedText.startsWith("\uFEFF")) {
        position = UNIT;
        decodedText = decodedText.slice(1);
      }
      isStart &&= decodedText === "";
      if (ofPairs && NO_SIGN.test(decodedText))
        throw unreadable(`the file has signs that are none of ${encoding}: save it as UTF-8`);
      const utf8 = check(Buffer.from(decodedText));
      if (utf8.length === 0) continue;
      ahead.push(utf8);
      yield utf8;
    }
  }
  const positionOf = (end: number): number => {
    while (passed < end) {
      const first = ahead[0];
      if (!first) return position;
      const part = first.subarray(0, end - passed);
      if (isWide) position += part.toString().length * UNIT;
      passed += part.length;
      if (part.length === first.length) ahead.shift();
      else ahead[0] = first.subarray(part.length);
      const ended = isWide ? [] : lines.splice(0, endsOfLines(part, 0).length);
      // The last line may have no end.
      if (!isWide) position = ahead.length === 0 ? fileBytes : (ended.at(-1) ?? position);
    }
    return position;
  };
  return { bytes: text(), positionOf };
}

/**
 * Encodings whose characters have two bytes or more: text read in the wrong encoding, or cut within a character, is
 * nonsense.
 */
const OF_PAIRS: ReadonlySet<Encoding> = new Set(["shift_jis", "euc-jp", "gbk", "gb18030", "big5", "euc-kr"]);
/** Results of decoders for invalid bytes: that of euc-kr leaves the bytes that only Windows has. */
const NO_SIGN = /[\u0080-\u009f\uFFFD]/;

/** Bytes of a unit of UTF-16. */
const UNIT = 2;
const [LINE_FEED, RETURN] = [0x0a, 0x0d];

/** The positions of the bytes after line ends. @param from where the text begins */
function endsOfLines(text: Uint8Array, from: number): number[] {
  const ends: number[] = [];
  for (const [i, byte] of text.entries()) if (byte === LINE_FEED || byte === RETURN) ends.push(from + i + 1);
  return ends;
}

const fromWindows1252 = (chunk: Uint8Array): string =>
  Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    .toString("latin1")
    .replaceAll(/[\x80-\x9f]/g, (letter) => FROM_80[letter.charCodeAt(0) - 0x80] ?? letter);

async function* checkedUtf8(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const decode = (chunk?: Uint8Array) => {
    try {
      decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      throw namedError(NOT_UTF8, "the file is not UTF-8 text");
    }
  };
  for await (const chunk of bytes) {
    decode(chunk);
    yield check(Buffer.from(chunk));
  }
  decode();
}

function check(chunk: Buffer): Buffer {
  if (chunk.includes(0)) throw unreadable("the file holds bytes that are no text");
  return chunk;
}
