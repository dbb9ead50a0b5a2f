// Rows of imports in tests of their rules.
import type { RowReading } from "../../shared/rules/import-cells.ts";
import { type KnownColumns, readHeader } from "../../shared/rules/import-columns.ts";
import { readRow } from "../../shared/rules/import-rows.ts";
import type { ImportSource } from "../../shared/rules/import-sources.ts";
import { columnTypes } from "../../shared/rules/import-values.ts";

export const READING: RowReading = { createdAt: Date.parse("2026-06-01T12:00:00Z"), zone: "UTC" };

/** The columns of a header. @throws if it cannot be imported. */
export function columnsOf(header: readonly string[], source: ImportSource = "csv", known: KnownColumns = {}) {
  const read = readHeader(header, source, known);
  if (read.kind === "problem") throw new Error(read.problem);
  return read;
}

/** A row given by its columns, the only one of its file. @throws if it is rejected. */
export function rowOf(
  cells: Record<string, string>,
  {
    source = "csv",
    reading = {},
    ...known
  }: KnownColumns & { source?: ImportSource; reading?: Partial<RowReading> } = {},
) {
  const seen = columnTypes();
  seen.see(Object.values(cells));
  const columns = columnsOf(Object.keys(cells), source, { types: seen.types(), ...known });
  const read = readRow(columns, Object.values(cells), { ...READING, ...reading });
  if (read.kind === "problem") throw new Error(read.problem);
  return read.row;
}
