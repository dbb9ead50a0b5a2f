// Texts as people look for them.

/** A text without case and marks: `muller` finds Müller, `grosse` Große. */
export const folded = (text: string): string =>
  text.normalize("NFKD").replaceAll(/\p{M}/gu, "").replaceAll("ß", "ss").toLowerCase();
