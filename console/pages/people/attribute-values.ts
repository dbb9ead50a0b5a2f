// Attributes of a subscriber: JSON text in the API, rows of text in the console.

/** As it is shown and edited: texts as they are, everything else as JSON. */
export const attributeText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

/** The value that was meant: JSON where it is JSON, else the text itself. */
export function attributeValue(text: string): unknown {
  if (!/^(-?\d|true$|false$|null$|[[{"])/.test(text)) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
