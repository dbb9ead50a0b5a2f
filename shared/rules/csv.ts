// Lines of CSV files (RFC 4180) that no spreadsheet takes for formulas, whichever separator its locale has: some split a
// line at semicolons or tabs, and then what follows one of these begins a cell.

/** Full-width and small signs begin a formula as well, and spreadsheets drop control characters before one. */
const FORMULA = /^[\s\p{C}]*[=+\-@＝＋－＠﹦﹢﹣﹫]/u;
/** Who splits a line at another sign than the comma reads quotes of a cell as its own: `""=1+1` is `=1+1` there. */
const FORMULA_IN_QUOTES = /^[\s\p{C}"]*[=+\-@＝＋－＠﹦﹢﹣﹫]/u;
const PARTS = /([,;|\t\r\n])/;
/** Numbers and phone numbers begin so too, and do no harm; also at the end of a list in JSON. */
const NUMBER = /^[\s"]*[+-]?\d[\d ().]*(?:e[+-]?\d+)?[\]}"]*$/;

/** What marks a cell as a text, in files of ours and of others: `'=1+1`, `'-Nx7`, `'0151`. */
const TEXT_MARK = /^'(?='*(?:\+?\d[\d\s().+/-]*$|[\s\p{C}]*[=+\-@＝＋－＠﹦﹢﹣﹫]))/u;
/** A cell as it was before it was marked. */
export const withoutMark = (cell: string): string => cell.replace(TEXT_MARK, "");

/** A cell of which no part would be taken for a formula: an apostrophe stands before what would. */
const harmless = (cell: string): string => {
  const parts = cell.split(PARTS);
  return parts
    .map((part, i) => {
      const before = parts[i - 1] ?? ",";
      const form = before === "," ? FORMULA : FORMULA_IN_QUOTES;
      const wouldBeRead = i === 0 && TEXT_MARK.test(part);
      return wouldBeRead || (form.test(part) && !NUMBER.test(part)) ? `'${part}` : part;
    })
    .join("");
};

/** No file of text holds it: a reader takes the whole file for something else. */
const NUL = "\0";

const quoted = (cell: string): string => (/[",;|\t\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

/** Whatever a cell holds, no spreadsheet takes a part of it for a formula. */
export const csvLine = (cells: readonly string[]): string =>
  `${cells.map((cell) => quoted(harmless(cell.replaceAll(NUL, "")))).join(",")}\r\n`;

/** A value as the cell of an export. */
export function cellOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
