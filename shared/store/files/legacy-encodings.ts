// The encoding of a file that is not Unicode, guessed by its words. If they show none, there is no guess (AMB-133).
import { isKnownName } from "../../rules/import-signs.ts";
import { type Encoding, unreadable } from "./encodings.ts";

/**
 * Polish letters, for which windows-1252 has signs that occur in no word: inside a word, at the end of names such as Paweł,
 * and capitals at its beginning.
 */
const CENTRAL_EUROPEAN =
  /[a-z\xa0-\xff][\xb9\xb3\xbf\xa3\xaf\xa5][a-z\xe0-\xff]|[a-z]{2}[ae]\xb3(?![a-z\d\xc0-\xff])|(?<![a-z\xa0-\xff])[\xa3\xaf][a-z]{2}/i;
/**
 * Kana, or a word of three characters, as Japanese spreadsheets write them. In other encodings, these would be several
 * marks in a row.
 */
const JAPANESE = /(?:\x82[\x9f-\xf1]|\x83[\x40-\x96]|\x81\x5b){2}|(?:[\x88-\x9f][\x40-\x7e\x80-\xfc]){3}/;
/** Several Cyrillic letters in a row: in other languages, few words have three letters with marks. */
const CYRILLIC = /[\xc0-\xff\xa8\xaa\xaf\xb2\xb3\xb8\xba\xbf]{3}/;
/** Turkish letters inside words, for which windows-1252 has þ and ý; and letters that no Turkish word has. */
const TURKISH = /[a-z\xe7\xf6\xfc\xf0\xfd]\xfe|\xe7\xfd|\xfd[klmnrstyz][a-z]?\xfd|\xdd(?:zni|zin|sim|stan|ptal)/i;
const NOT_TURKISH = /[\xc1\xc6\xcd\xd3\xda\xe1\xe6\xed\xf3\xfa]/;
const LONGEST_SIGN = 6;

/** The encodings that column names show: the bytes of these may also be words in others. */
const BY_NAMES = ["gbk", "big5", "euc-kr", "euc-jp", "shift_jis", "koi8-r", "windows-1251"] as const;
const HEAD_BYTES = 4_096;

const onlyAscii = (text: string): string => text.replaceAll(/[^ -~]/g, "");

/** The encoding in which most column names are known. */
function encodingByNames(head: string): Encoding | undefined {
  const bytes = Buffer.from(head, "latin1");
  const known = BY_NAMES.map((encoding) => {
    const cells = new TextDecoder(encoding).decode(bytes).split(/[,;\t|\r\n"]/);
    // A name that is known without its special characters is known in any encoding.
    return cells.filter((cell) => isKnownName(cell) && !isKnownName(onlyAscii(cell))).length;
  });
  const most = Math.max(...known);
  return most === 0 ? undefined : BY_NAMES[known.indexOf(most)];
}

/** A word with bytes beyond ASCII. */
const WORD = /(?<![a-z])[a-z]*[\x80-\xff][a-z\x80-\xff]*/gi;
const MAX_WORDS = 1_000;
/** Characters inside a word. */
const WITHIN = /[’‘´`·–—ªº\u00a0\u00adß]/g;
const AROUND = /^[^\p{L}]+|(?<!\P{L})[^\p{L}]+$/gu;
/** No word has a small letter before a capital with a mark, nor two capitals before a small letter. */
const MIXED = /\p{Ll}(?![A-Z])\p{Lu}|\p{Lu}{2}\p{Ll}/u;
const VOWELS = /[аеёиоуыэюяіїєў]/gi;
/** The share of vowels in Cyrillic words; Greek and Hebrew words read as Cyrillic have fewer. */
const MIN_VOWELS = 0.28;
const OF_CYRILLIC = /^\p{Script=Cyrillic}+$/u;
/** A word of three letters has at least one without a mark. */
const OF_LATIN = /^(?=.{0,2}$|.*[a-z])\p{Script=Latin}+$/iu;

/** Whether most words are words in an encoding. */
function areWords(words: readonly string[], encoding: Encoding): boolean {
  const letters = encoding === "windows-1251" ? OF_CYRILLIC : OF_LATIN;
  const decoder = new TextDecoder(encoding);
  const read = words
    .map((word) => decoder.decode(Buffer.from(word, "latin1")).replaceAll(AROUND, "").replaceAll(WITHIN, ""))
    .filter((word) => word !== "");
  const odd = read.filter((word) => !letters.test(word) || MIXED.test(word)).length;
  if (odd > 0 && odd * 2 >= read.length) return false;
  const text = read.join("");
  return encoding !== "windows-1251" || (text.match(VOWELS)?.length ?? 0) >= MIN_VOWELS * text.length;
}

/**
 * Finds the encoding. @param bytes of the file, from its beginning @throws an unreadable error if the words show none
 */
export async function legacyEncoding(bytes: AsyncIterable<Uint8Array>): Promise<Encoding> {
  let before = "";
  let head = "";
  const words: string[] = [];
  const seen = { japanese: false, cyrillic: false, central: false, turkish: false, other: false };
  for await (const chunk of bytes) {
    const decoded = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString("latin1");
    const text = before + decoded;
    if (head.length < HEAD_BYTES) head = `${head}${decoded}`.slice(0, HEAD_BYTES);
    if (words.length < MAX_WORDS) words.push(...(decoded.match(WORD) ?? []).slice(0, MAX_WORDS));
    seen.japanese ||= JAPANESE.test(text);
    seen.cyrillic ||= CYRILLIC.test(text);
    seen.central ||= CENTRAL_EUROPEAN.test(text);
    seen.turkish ||= TURKISH.test(text);
    seen.other ||= NOT_TURKISH.test(text);
    before = text.slice(1 - LONGEST_SIGN);
  }
  const named = encodingByNames(head);
  if (named) return named;
  if (seen.japanese) return "shift_jis";
  const likely: Encoding[] = [
    ...(seen.cyrillic ? (["windows-1251"] as const) : []),
    ...(seen.central ? (["windows-1250"] as const) : []),
    ...(seen.turkish && !seen.other ? (["windows-1254"] as const) : []),
    "windows-1252",
  ];
  const found = likely.find((encoding) => areWords(words, encoding));
  if (!found) throw unreadable("the file is not UTF-8 text, and nothing shows its encoding: name it as `encoding`");
  return found;
}
