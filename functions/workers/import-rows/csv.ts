// The rejected rows as a CSV file: the columns of the original, and why each row was not imported (F13).
import { csvLine, harmless } from "../../../shared/rules/csv.ts";
import type { Rejected } from "../../../shared/store/subscribers/import-items.ts";

export function csvOf(header: readonly string[], rejected: readonly Rejected[]): string {
  const lines = rejected.map(({ line, reason, cells }) => [String(line), reason, ...cells.map(harmless)]);
  return [["line", "reason", ...header.map(harmless)], ...lines].map(csvLine).join("");
}
