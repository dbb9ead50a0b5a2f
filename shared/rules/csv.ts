// Lines of CSV files (RFC 4180) that no spreadsheet reads as formulas, whatever separator its locale has: some split a
// line at semicolons or tabs, so that a cell begins after any of these. Lists of JSON become lines of CSV to be read.
import { isJsonObject } from "../kernel/objects.ts";

/** Full-width and small signs begin a formula as well, and spreadsheets drop control characters before one. */
const FORMULA = /^[\s\p{C}]*[=+\-@＝＋－＠﹦﹢﹣﹫]/u;
/**
 * A program that splits a line at another separator reads the quotes of a cell as its own: `""=1+1` is `=1+1` there.
 */
const FORMULA_IN_QUOTES = /^[\s\p{C}"]*[=+\-@＝＋－＠﹦﹢﹣﹫]/u;
const PARTS = /([,;|\t\r\n])/;
/** Numbers and phone numbers begin with these signs too, and are harmless; also at the end of a list in JSON. */
const NUMBER = /^[\s"]*[+-]?\d[\d ().]*(?:e[+-]?\d+)?[\]}"]*$/;

/** The mark of a text cell, in our files and those of others: `'=1+1`, `'-Nx7`, `'0151`. */
const TEXT_MARK = /^'(?='*(?:\+?\d[\d\s().+/-]*$|[\s\p{C}]*[=+\-@＝＋－＠﹦﹢﹣﹫]))/u;
/** A cell as it was before it was marked. */
export const withoutMark = (cell: string): string => cell.replace(TEXT_MARK, "");

/** A cell without parts that would be read as a formula: such a part gets an apostrophe before it. */
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

/** No text file contains it: a reader treats the whole file as binary. */
const NUL = "\0";

const quoted = (cell: string): string => (/[",;|\t\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

/** A line of CSV in which no spreadsheet reads a part of a cell as a formula. */
export const csvLine = (cells: readonly string[]): string =>
  `${cells.map((cell) => quoted(harmless(cell.replaceAll(NUL, "")))).join(",")}\r\n`;

export function cellOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

type Row = Record<string, unknown>;

/** JSON or JSON lines, as SES, SendGrid, Postmark and Mailgun return them, as CSV. @returns undefined for other text */
export function csvOfJson(text: string): string | undefined {
  const values = jsonOf(text) ?? linesOf(text);
  const rows = values?.flatMap(rowsIn);
  if (!rows) return undefined;
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return [names, ...rows.map((row) => names.map((name) => cellOf(row[name])))].map(lineOf).join("");
}

/** A line of CSV. It is not protected against formulas, because no spreadsheet opens it. */
const lineOf = (cells: readonly string[]): string =>
  `${cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(",")}\n`;

function jsonOf(text: string): unknown[] | undefined {
  try {
    return [JSON.parse(text)];
  } catch {
    return undefined;
  }
}

function linesOf(text: string): unknown[] | undefined {
  const values = text.split("\n").flatMap((line) => (line.trim() === "" ? [] : [jsonOf(line)]));
  return values.every((value) => value !== undefined) ? values.flat() : undefined;
}

/** The rows may be in a list beside the number of the page: `{"SuppressedDestinationSummaries": [...]}`. */
function rowsIn(value: unknown): Row[] {
  if (typeof value === "string") return [{ address: value }];
  if (Array.isArray(value)) return value.flatMap(rowsIn);
  if (!isJsonObject(value)) return [];
  const list = Object.values(value).find((member) => Array.isArray(member) && member.some(isJsonObject));
  return list === undefined ? [value] : rowsIn(list);
}
