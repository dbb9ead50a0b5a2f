// An attribute as it is shown and edited: what is not touched stays what it is, also a text that looks like a number.
import type { JsonValue } from "../../sdk/src/types.gen.ts";

/** A text as it is, unless it would be read as another value: everything else as JSON. */
export const attributeText = (value: unknown): string =>
  typeof value === "string" && attributeValue(value) === value ? value : JSON.stringify(value);

/** The value that was meant: JSON where it is JSON, else the text itself. */
export function attributeValue(text: string): JsonValue {
  if (!/^(-?\d|true$|false$|null$|[[{"])/.test(text)) return text;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}
