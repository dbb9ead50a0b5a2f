// Texts without case and marks, as people type what they look for: `muller` is Müller.

const LETTERS: Readonly<Record<string, string>> = { ł: "l", ß: "ss", ø: "o", æ: "ae", œ: "oe", đ: "d" };

/** In lower case, without marks, and with letters that have none written by plain ones. */
export const folded = (text: string): string =>
  text
    .toLowerCase()
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[łßøæœđ]/g, (letter) => LETTERS[letter] ?? letter);

const SPELLED: Readonly<Record<string, string>> = { ä: "ae", ö: "oe", ü: "ue", å: "aa", ø: "oe" };

/** As people spell a name who have no keys for its marks: `mueller` is Müller too. */
export const spelledOut = (text: string): string =>
  folded(
    text
      .toLowerCase()
      .normalize("NFC")
      .replaceAll(/[äöüåø]/g, (letter) => SPELLED[letter] ?? letter),
  );

/** The beginnings of names, in lower case or folded, that may be spelled like this: `muller` for `mueller`, and the reverse. */
export const otherSpellings = (text: string): string[] =>
  [...new Set([spelledOut(text), text.replaceAll(/([aou])e/g, "$1")])].filter((spelling) => spelling !== text);

export const isSpelledLike = (name: string, beginning: string): boolean =>
  folded(name).startsWith(folded(beginning)) || spelledOut(name).startsWith(spelledOut(beginning));
