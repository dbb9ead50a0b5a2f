// The text of a file as UTF-8, and where in the file a place of that text is: reading continues there.
import { namedError } from "../../kernel/errors.ts";

export const encodings = [
  "utf-8",
  "utf-16le",
  "utf-16be",
  "windows-1252",
  "windows-1250",
  "windows-1251",
  "windows-1254",
  "shift_jis",
] as const;
export type Encoding = (typeof encodings)[number];

const UNREADABLE = "UnreadableFile";
const NOT_UTF8 = "NotUtf8";
export const unreadable = (message: string) => namedError(UNREADABLE, message);
const isNamed = (error: unknown, ...names: string[]): error is Error =>
  error instanceof Error && names.includes(error.name);
/** Whether the file itself is at fault, so that a retry does not help. */
export const isUnreadable = (error: unknown): error is Error => isNamed(error, UNREADABLE, NOT_UTF8);
/** Whether the file may be read in another encoding. */
export const isNotUtf8 = (error: unknown): error is Error => isNamed(error, NOT_UTF8);

/** The characters of windows-1252 that are none of ISO 8859-1, from 0x80 on. */
const FROM_80 = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ";

/** The encoding that a byte order mark names. */
function markedEncoding(start: Uint8Array): Encoding | undefined {
  const [first, second, third] = start;
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  return first === 0xef && second === 0xbb && third === 0xbf ? "utf-8" : undefined;
}

/** How much of a file shows whether it is UTF-16, or legacy text of which kind. */
export const SHOWN_BYTES = 256;

/** UTF-16 that no mark names: its letters of Latin, and the marks between its cells, have each second byte 0. */
function unmarkedEncoding(start: Uint8Array): Encoding | undefined {
  const zeros = [0, 0];
  const shown = start.subarray(0, SHOWN_BYTES);
  for (const [i, byte] of shown.entries()) if (byte === 0) zeros[i % 2]!++;
  const [even = 0, odd = 0] = zeros;
  const enough = shown.length / 8;
  if (even === 0 && odd > enough) return "utf-16le";
  return odd === 0 && even > enough ? "utf-16be" : undefined;
}

/** The encoding that the beginning of a file shows, UTF-8 where nothing speaks against it. */
export const shownEncoding = (start: Uint8Array): Encoding =>
  markedEncoding(start) ?? unmarkedEncoding(start) ?? "utf-8";

/** Letters of Polish, where windows-1252 has signs that stand in no word: within one, and capitals at its beginning. */
const CENTRAL_EUROPEAN =
  /[a-z\xa0-\xff][\xb9\xb3\xbf\xa3\xaf\xa5][a-z\xe0-\xff]|(?<![a-z\xa0-\xff])[\xa3\xaf][a-z]{2}/i;

/** Kana, or a word of three signs, as Japanese spreadsheets write them. In other encodings, these are marks in a row. */
const JAPANESE = /(?:\x82[\x9f-\xf1]|\x83[\x40-\x96]|\x81\x5b){2}|(?:[\x88-\x9f][\x40-\x7e\x80-\xfc]){3}/;
const LONGEST_SIGN = 6;

/** Words of Cyrillic: elsewhere no four letters with marks stand in a row. */
const CYRILLIC = /[\xc0-\xff]{4}/;
/** Where letters of Turkish stand in words of it, in which windows-1252 has þ and ý; and letters that no word of Turkish has. */
const TURKISH = /[a-z\xe7\xf6\xfc\xf0\xfd]\xfe|\xe7\xfd|\xfd[klmnrstyz][a-z]?\xfd|\xdd(?:zni|zin|sim|stan|ptal)/i;
const NOT_TURKISH = /[\xc1\xc6\xcd\xd3\xda\xe1\xe6\xed\xf3\xfa]/;

/** Which encoding a file has that is no Unicode. @param bytes of the file, from its beginning */
export async function legacyEncoding(bytes: AsyncIterable<Uint8Array>): Promise<Encoding> {
  let before = "";
  let isLikeTurkish = false;
  let isOther = false;
  for await (const chunk of bytes) {
    const text = before + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString("latin1");
    if (JAPANESE.test(text)) return "shift_jis";
    if (CYRILLIC.test(text)) return "windows-1251";
    if (CENTRAL_EUROPEAN.test(text)) return "windows-1250";
    isLikeTurkish ||= TURKISH.test(text);
    isOther ||= NOT_TURKISH.test(text);
    before = text.slice(1 - LONGEST_SIGN);
  }
  return isLikeTurkish && !isOther ? "windows-1254" : "windows-1252";
}

export interface Decoded {
  /** In UTF-8, checked. */
  bytes: AsyncIterable<Buffer>;
  /** The byte of the file that belongs to a byte of the text; called with ascending ends of characters. */
  positionOf(end: number): number;
}

/** @throws an unreadable error for what is no text. */
export function decoded(bytes: AsyncIterable<Uint8Array>, encoding: Encoding): Decoded {
  if (encoding === "utf-8") return { bytes: checkedUtf8(bytes), positionOf: (end) => end };
  const width = encoding.startsWith("utf-16") ? 2 : 1;
  // Text that is not passed yet: as much as the parser is ahead.
  const ahead: Buffer[] = [];
  let passed = 0;
  let position = 0;
  let isStart = true;
  async function* text(): AsyncGenerator<Buffer> {
    // That of windows-1252 leaves out the characters from 0x80 on.
    const decoder = encoding === "windows-1252" ? undefined : new TextDecoder(encoding, { ignoreBOM: true });
    for await (const chunk of bytes) {
      let decodedText = decoder ? decoder.decode(chunk, { stream: true }) : fromWindows1252(chunk);
      if (decoder && isStart && decodedText.startsWith("\uFEFF")) {
        position = width;
        decodedText = decodedText.slice(1);
      }
      isStart &&= decodedText === "";
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
      const passing = part.toString();
      // The units of UTF-16, or the characters of a single byte, none of which needs two units.
      position += encoding === "shift_jis" ? bytesOfShiftJis(passing) : passing.length * width;
      passed += part.length;
      if (part.length === first.length) ahead.shift();
      else ahead[0] = first.subarray(part.length);
    }
    return position;
  };
  return { bytes: text(), positionOf };
}

/** Letters of ASCII and half-width kana have one byte, others two. */
const bytesOfShiftJis = (text: string): number =>
  text.length + (text.match(/[\u0081-\uFF60\uFFA0-\uFFFF]/g)?.length ?? 0);

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
