// How long a text is, as people count.

/** Whether a text has at most so many characters: code points, as JSON Schema counts, where `length` counts an emoji twice. */
export const hasAtMost = (text: string, maxLength: number): boolean =>
  text.length <= maxLength || (text.length <= 2 * maxLength && [...text].length <= maxLength);
