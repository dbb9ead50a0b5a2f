// The characters of a text: how many there are, whether any of them can be seen, and how they stand in HTML.

/** Whether a text has at most so many characters. Code points count, as in JSON Schema; `length` counts an emoji twice. */
export const hasAtMost = (text: string, maxLength: number): boolean =>
  text.length <= maxLength || (text.length <= 2 * maxLength && [...text].length <= maxLength);

/** Whether a text has nothing that can be seen: it is empty, or only spaces and invisible characters. */
export const isBlank = (text: string): boolean => /^[\s\p{Cf}]*$/u.test(text);

export const BLANK = "must not be blank";

/** Text as it stands in HTML, also in the value of an attribute. */
export const escapeHtml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
