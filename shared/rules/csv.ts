// Lines of CSV files (RFC 4180) that no spreadsheet takes for formulas, whichever separator its locale has: some split a
// line at semicolons or tabs, and then what follows one of these begins a cell.

/** Full-width signs begin a formula as well, and spreadsheets drop control characters before one. */
const FORMULA = /^[\s\p{C}]*[=+\-@＝＋－＠]/u;
const PARTS = /([,;|\t\r\n])/;
/** Numbers and phone numbers begin so too, and do no harm; also at the end of a list in JSON. */
const NUMBER = /^\s*[+-]?\d[\d ().]*[\]}"]*$/;

/** A cell of which no part would be taken for a formula: an apostrophe stands before what would. */
export const harmless = (cell: string): string =>
  cell
    .split(PARTS)
    .map((part) => (FORMULA.test(part) && !NUMBER.test(part) ? `'${part}` : part))
    .join("");

const quoted = (cell: string): string => (/[",;|\t\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

export const csvLine = (cells: readonly string[]): string => `${cells.map(quoted).join(",")}\r\n`;

/** A value as the cell of an export. */
export function cellOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return harmless(value);
  return typeof value === "object" ? harmless(JSON.stringify(value)) : String(value);
}
