// Texts without case and marks, as people type a search: `muller` finds Müller.

const LETTERS: Readonly<Record<string, string>> = { ł: "l", ß: "ss", ø: "o", æ: "ae", œ: "oe", đ: "d" };

/** The text in lower case, without marks, and with plain letters for special ones. */
export const folded = (text: string): string =>
  text
    .toLowerCase()
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[łßøæœđ]/g, (letter) => LETTERS[letter] ?? letter);

/** The zeros of the decimal digits of other scripts: Arabic, Persian, Devanagari, Bengali, Thai, and full width. */
const ZEROS = [0x660, 0x6f0, 0x966, 0x9e6, 0xe50, 0xff10];

/** The text with the digits of other scripts as `0` to `9`. */
export const plainDigits = (text: string): string =>
  text.replaceAll(/\p{Nd}/gu, (digit) => {
    const code = digit.codePointAt(0) ?? 0;
    const zero = ZEROS.find((start) => code >= start && code < start + 10);
    return zero === undefined ? digit : String(code - zero);
  });

const SPELLED: Readonly<Record<string, string>> = { ä: "ae", ö: "oe", ü: "ue", å: "aa", ø: "oe" };

/** The spelling of a name without special keys: `mueller` for Müller. */
export const spelledOut = (text: string): string =>
  folded(
    text
      .toLowerCase()
      .normalize("NFC")
      .replaceAll(/[äöüåø]/g, (letter) => SPELLED[letter] ?? letter),
  );

/** Other spellings of the beginning of a name, in lower case or folded: `muller` for `mueller`, and the reverse. */
export const otherSpellings = (text: string): string[] =>
  [...new Set([spelledOut(text), text.replaceAll(/([aou])e/g, "$1")])].filter((spelling) => spelling !== text);

export const isSpelledLike = (name: string, beginning: string): boolean =>
  folded(name).startsWith(folded(beginning)) || spelledOut(name).startsWith(spelledOut(beginning));
