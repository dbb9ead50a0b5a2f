// Lines of CSV files (RFC 4180) that no spreadsheet takes for formulas, whichever separator its locale has: some split a
// line at semicolons or tabs, and then what follows one of these begins a cell.

/** Full-width signs begin a formula as well, and spreadsheets drop control characters before one. */
const FORMULA = /^[\s\p{C}]*[=+\-@＝＋－＠]/u;
const PARTS = /([,;|\t\r\n])/;
/** Numbers and phone numbers begin so too, and do no harm; also at the end of a list in JSON. */
const NUMBER = /^\s*[+-]?\d[\d ().]*(?:e[+-]?\d+)?[\]}"]*$/;

/** A cell of which no part would be taken for a formula: an apostrophe stands before what would. */
const harmless = (cell: string): string =>
  cell
    .split(PARTS)
    .map((part) => (FORMULA.test(part) && !NUMBER.test(part) ? `'${part}` : part))
    .join("");

const quoted = (cell: string): string => (/[",;|\t\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

/** Whatever a cell holds, no spreadsheet takes a part of it for a formula. */
export const csvLine = (cells: readonly string[]): string =>
  `${cells.map((cell) => quoted(harmless(cell))).join(",")}\r\n`;

/** A value as the cell of an export. */
export function cellOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
