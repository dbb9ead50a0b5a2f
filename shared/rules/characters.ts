// The length of a text in characters.

/** Whether a text has at most so many characters. Code points count, as in JSON Schema; `length` counts an emoji twice. */
export const hasAtMost = (text: string, maxLength: number): boolean =>
  text.length <= maxLength || (text.length <= 2 * maxLength && [...text].length <= maxLength);
