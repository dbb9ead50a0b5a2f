// The order of texts by code units, independent of language: that of the table, and of timestamps.

export function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Sorts by one text of each: `rows.sort(byText(({ created_at }) => created_at))`. */
export const byText =
  <T>(textOf: (item: T) => string) =>
  (a: T, b: T): number =>
    compareTexts(textOf(a), textOf(b));
