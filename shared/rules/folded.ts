// Texts without case and marks, as people type what they look for: `muller` is Müller.

const LETTERS: Readonly<Record<string, string>> = { ł: "l", ß: "ss", ø: "o", æ: "ae", œ: "oe", đ: "d" };

/** In lower case, without marks, and with letters that have none written by plain ones. */
export const folded = (text: string): string =>
  text
    .toLowerCase()
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[łßøæœđ]/g, (letter) => LETTERS[letter] ?? letter);
