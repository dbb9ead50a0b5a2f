// What the cells of a column are: texts, unless the whole column is of booleans or of numbers.
import { checkJson } from "./json-limits.ts";

export type ColumnType = "text" | "boolean" | "number";

export type Value = string | number | boolean | null | Value[] | { [key: string]: Value };

const BOOLEANS: Record<string, boolean> = { true: true, yes: true, false: false, no: false };
const PLAIN_NUMBER = /^-?(0|[1-9]\d{0,14})(\.(\d{1,10}))?$/;

interface Seen {
  isFilled: boolean;
  isBoolean: boolean;
  /** Every value is written as the number would be. */
  isExact: boolean;
  /** The decimals of all values; undefined where they differ. */
  decimals: number | undefined;
}

/** Whether a row has the cells of a header. Spreadsheets end rows with empty ones. */
export const isWhole = (row: readonly string[], columns: number): boolean =>
  row.length >= columns && row.slice(columns).every((cell) => cell.trim() === "");

/** Looks at the rows of a file, one after the other. */
export function columnTypes(): { see(row: readonly string[]): void; types(): ColumnType[] } {
  const columns: Seen[] = [];
  const see = (cell: string, i: number) => {
    const value = cell.trim();
    columns[i] ??= { isFilled: false, isBoolean: true, isExact: true, decimals: undefined };
    const seen = columns[i];
    if (value === "") return;
    seen.isBoolean &&= Object.hasOwn(BOOLEANS, value.toLowerCase());
    const decimals = PLAIN_NUMBER.exec(value)?.[3]?.length;
    seen.isExact &&= PLAIN_NUMBER.test(value) && String(Number(value)) === value;
    seen.decimals = !seen.isFilled || seen.decimals === decimals ? decimals : undefined;
    seen.isFilled = true;
  };
  return { see: (row) => row.forEach(see), types: () => columns.map(typeOf) };
}

function typeOf({ isFilled, isBoolean, isExact, decimals }: Seen): ColumnType {
  if (!isFilled) return "text";
  if (isBoolean) return "boolean";
  return isExact || decimals !== undefined ? "number" : "text";
}

/** A cell as the value of an attribute. A cell of JSON becomes what it says. */
export function cellValue(text: string, type: ColumnType): Value {
  if (type === "boolean") return BOOLEANS[text.toLowerCase()] ?? text;
  if (type === "number") return PLAIN_NUMBER.test(text) ? Number(text) : text;
  return /^[[{]/.test(text) ? (jsonOf(text) ?? text) : text;
}

/** An array or object that may be stored. */
export function jsonOf(text: string): Value | undefined {
  try {
    const value: Value = JSON.parse(text);
    return typeof value === "object" && value !== null && checkJson(value) === undefined ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Tags between `,`, `;` or `|`; a quoted one may hold those. */
export function tagsOf(text: string): string[] {
  const json = text.startsWith("[") ? jsonOf(text) : undefined;
  if (Array.isArray(json)) return json.map((tag) => String(tag).trim()).filter(Boolean);
  const tags = [...text.matchAll(/\s*(?:"((?:[^"]|"")*)"|'([^']*)'(?=\s*(?:[,;|]|$))|([^,;|]*))\s*(?:[,;|]|$)/g)];
  return tags
    .map(([_, double, single, bare]) => (double?.replaceAll('""', '"') ?? single ?? bare ?? "").trim())
    .filter(Boolean);
}
