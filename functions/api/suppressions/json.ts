// Suppressed addresses in JSON, as the command line of SES and the interfaces of SendGrid, Postmark and Mailgun answer them.
import { cellOf } from "../../../shared/rules/csv.ts";

const BEGINS_AS_JSON = /^\s*(?:\{\s*"|\[\s*[{"])/;

type Row = Record<string, unknown>;

/** JSON, or lines of it, as a file below its names. @returns undefined for a text that is none */
export function csvOfJson(text: string): string | undefined {
  const values = jsonOf(text) ?? linesOf(text);
  const rows = values?.flatMap(rowsIn);
  if (!rows) return undefined;
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return [names, ...rows.map((row) => names.map((name) => cellOf(row[name])))].map(lineOf).join("");
}

/** As they are, since no spreadsheet opens it. */
const lineOf = (cells: readonly string[]): string =>
  `${cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(",")}\n`;

export const beginsAsJson = (text: string): boolean => BEGINS_AS_JSON.test(text);

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

/** The rows may stand in a list beside the number of the page: `{"SuppressedDestinationSummaries": [...]}`. */
function rowsIn(value: unknown): Row[] {
  if (typeof value === "string") return [{ address: value }];
  if (Array.isArray(value)) return value.flatMap(rowsIn);
  if (!isObject(value)) return [];
  const list = Object.values(value).find((one) => Array.isArray(one) && one.some(isObject));
  return list === undefined ? [value] : rowsIn(list);
}

const isObject = (value: unknown): value is Row => typeof value === "object" && value !== null && !Array.isArray(value);
