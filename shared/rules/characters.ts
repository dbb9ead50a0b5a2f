// The length of a text in characters, and whether any of them can be seen.

/** Whether a text has at most so many characters. Code points count, as in JSON Schema; `length` counts an emoji twice. */
export const hasAtMost = (text: string, maxLength: number): boolean =>
  text.length <= maxLength || (text.length <= 2 * maxLength && [...text].length <= maxLength);

/** Whether a text has nothing that can be seen: it is empty, or only spaces and invisible characters. */
export const isBlank = (text: string): boolean => /^[\s\p{Cf}]*$/u.test(text);

export const BLANK = "must not be blank";
