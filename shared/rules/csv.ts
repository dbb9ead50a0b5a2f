// Lines of CSV files (RFC 4180) that a spreadsheet does not take for formulas.

const FORMULA = /^[=+\-@\t\r]/;
/** Numbers and phone numbers begin so too, and do no harm. */
const NUMBER = /^[+-]?[\d ().]+$/;

/** A cell that a spreadsheet would take for a formula, escaped. */
export const harmless = (cell: string): string => (FORMULA.test(cell) ? `'${cell}` : cell);

const quoted = (cell: string): string => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

export const csvLine = (cells: readonly string[]): string => `${cells.map(quoted).join(",")}\r\n`;

/** A value as the cell of an export. */
export function cellOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return NUMBER.test(value) ? value : harmless(value);
  return typeof value === "object" ? harmless(JSON.stringify(value)) : String(value);
}
