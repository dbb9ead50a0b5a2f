// CSV text (D-CSV, RFC 4180): a header, quotes, and the delimiter that the header shows.

/** The rows of a file, the header first. */
export function parseCsv(text: string): string[][] {
  const body = text.replace(/^\uFEFF/, "");
  const header = body.split(/\r?\n/, 1)[0] ?? "";
  const delimiter = [",", ";", "\t"].find((candidate) => header.includes(candidate)) ?? ",";
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = "";
  let isQuoted = false;
  for (let at = 0; at < body.length; at++) {
    const char = body[at]!;
    if (isQuoted && char === '"' && body[at + 1] === '"') {
      cell += '"';
      at++;
    } else if (char === '"') isQuoted = !isQuoted;
    else if (!isQuoted && char === delimiter) {
      row.push(cell);
      cell = "";
    } else if (!isQuoted && char === "\n") {
      rows.push([...row, cell.replace(/\r$/, "")]);
      [row, cell] = [[], ""];
    } else cell += char;
  }
  if (cell !== "" || row.length > 0) rows.push([...row, cell]);
  // A line of separators alone is none (docs/decisions/0142-what-a-file-leaves-open.md).
  return rows.filter((cells) => cells.some((one) => one.trim() !== ""));
}

/** A key in snake_case for a column that is no standard field. */
export const attributeKey = (header: string): string =>
  header
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_|_$/g, "");

export type Reader = (value: string) => string | number | boolean;

const decimals = (value: string) => value.split(".")[1]?.length ?? 0;

/** A column is of one type: booleans, or numbers that read back as written or have as many decimals all; else text. */
export function readerOf(column: string[]): Reader {
  const values = column.filter((value) => value !== "");
  if (values.every((value) => /^(true|false|yes|no)$/i.test(value))) return (value) => /^(true|yes)$/i.test(value);
  const areNumbers = values.every((value) => /^-?(0|[1-9]\d{0,14})(\.\d+)?$/.test(value));
  const readBack = values.every((value) => String(Number(value)) === value);
  const isEven = new Set(values.map(decimals)).size === 1;
  return areNumbers && (readBack || isEven) ? Number : (value) => value;
}
