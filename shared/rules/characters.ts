// The characters of a text: their number, whether any is visible, and their form in HTML.

/**
 * Whether a text has at most this many characters. Code points count, as in JSON Schema; `length` counts an emoji
 * twice.
 */
export const hasAtMost = (text: string, maxLength: number): boolean =>
  text.length <= maxLength || (text.length <= 2 * maxLength && [...text].length <= maxLength);

/** Whether a text has no visible characters: it is empty, or only spaces and invisible characters. */
export const isBlank = (text: string): boolean => /^[\s\p{Cf}]*$/u.test(text);

/** Between joining letters and after an emoji, these characters change the look; elsewhere they are invisible. */
const SHAPES = "\\u200c\\u200d\\ufe00-\\ufe0f\\u{e0020}-\\u{e007f}\\u{e0100}-\\u{e01ef}";
const UNSEEN = new RegExp(`(?![${SHAPES}])\\p{DI}`, "gu");
const UNSEEN_SHAPES = new RegExp(
  `(?<=^|[\\s\\p{ASCII}\\p{sc=Latn}\\p{sc=Grek}\\p{sc=Cyrl}])(?!\\ufe0f\\u20e3)[${SHAPES}]+|[\\u200c\\u200d]+$`,
  "gu",
);

/** A name in the normal form of its look: names that look alike are one text. */
export const asSeen = (name: string): string =>
  name
    .replaceAll(UNSEEN, "")
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim()
    .replaceAll(UNSEEN_SHAPES, "")
    .trim()
    .normalize("NFC");

export const BLANK = "must not be blank";

/** Text escaped for HTML, also in the value of an attribute. */
export const escapeHtml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
