// Tables in plain text.

/** A number with three digits, or whole. */
export const short = (n: number): string => (n >= 100 ? String(Math.round(n)) : String(Number(n.toPrecision(3))));

/** Rows below a heading, in aligned columns: numbers to the right, except the columns with these headings. */
export function columnsOf(rows: readonly (readonly string[])[], left: readonly string[]): string {
  const [heading = []] = rows;
  const widths = heading.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) =>
          left.includes(heading[column]!) ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!),
        )
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
