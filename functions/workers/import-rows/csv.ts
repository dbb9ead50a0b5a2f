// The rejected rows as a CSV file: the columns of the original, and why each row was not imported (F13).
import type { Rejected } from "../../../shared/store/subscribers/import-items.ts";

/** A cell that begins so is a formula to spreadsheets: it is escaped. */
const FORMULA = /^[=+\-@\t\r]/;

export function csvOf(header: readonly string[], rejected: readonly Rejected[]): string {
  const lines = rejected.map(({ line, reason, cells }) => [String(line), reason, ...cells.map(harmless)]);
  return [["line", "reason", ...header.map(harmless)], ...lines]
    .map((cells) => `${cells.map(quoted).join(",")}\r\n`)
    .join("");
}

const harmless = (cell: string) => (FORMULA.test(cell) ? `'${cell}` : cell);
const quoted = (cell: string) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
