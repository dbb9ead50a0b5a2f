// The types of columns: texts, unless the whole column is of booleans or of numbers.
import { isForbidden, isNo, isYes } from "./import-answers.ts";
import { checkJson } from "./json-limits.ts";
import { mailboxProviderOf } from "./mailbox-providers.ts";

/**
 * `local_number` is of numbers as people of a country write them: `1.234,50`, `1,234.50`; `address` of texts of which nine
 * in ten are addresses of mail, `phone` of those of which they are numbers with a plus, and `empty` of none; of a `same_…`
 * column each of several rows has the same one, `same_private` that of a provider of mailboxes, and `one_domain` is of
 * several addresses of one company. `answers` are
 * texts, and `binary` numbers, each of which says yes or no: `ja`, `N`, `0`.
 */
export type ColumnType =
  | "text"
  | "phone"
  | "same_phone"
  | "same_address"
  | "same_private"
  | "one_domain"
  | "empty"
  | "boolean"
  | "answers"
  | "binary"
  | "number"
  | "local_number"
  | "address";

/** Whether every value of a column is a yes or a no. */
export const saysYesOrNo = (type: ColumnType | undefined): boolean =>
  type === "boolean" || type === "answers" || type === "binary";

export type Value = string | number | boolean | null | Value[] | { [key: string]: Value };

/** Booleans of spreadsheets in the known languages, beside English. */
const TRUE = "true yes wahr vrai verdadero vero verdadeiro waar prawda";
const FALSE = "false no falsch faux falso onwaar fałsz";
const BOOLEANS: Record<string, boolean> = Object.fromEntries([
  ...TRUE.split(" ").map((word) => [word, true]),
  ...FALSE.split(" ").map((word) => [word, false]),
]);
const PLAIN_NUMBER = /^-?(0|[1-9]\d{0,14})(\.(\d{1,10}))?$/;
/** `12,50`, `1.234,5`, `1 234`: with three decimals the mark is ambiguous. */
const COMMA_NUMBER = /^-?(?:\d{1,3}(?:([.\u00a0\u202f ’'])\d{3})(?:\1\d{3}){0,3}|0|[1-9]\d{0,14})(?:,(\d{1,2}))?$/;
/** `1.234`, a thousand or a decimal: if commas do not separate cells, they may separate decimals. */
const MAYBE_THOUSANDS = /^-?[1-9]\d{0,2}(?:\.\d{3})+$/;
/** `1,234.50`, and in Switzerland `1'234.50`; with its decimals. */
const POINT_NUMBER = /^-?(?:\d{1,3}(?:([,’'])\d{3})(?:\1\d{3}){0,3}|0|[1-9]\d{0,2})\.(\d{1,2})$/;

/** Whether a text may be a mail address, alone or after a name. */
const ADDRESS = /^[^@]{0,200}[^@\s]@[^@\s]+\.[^@\s]+$/;

const domainOf = (address: string): string =>
  address
    .slice(address.lastIndexOf("@") + 1)
    .replace(/>$/, "")
    .toLowerCase();

/** `+49 151 1234567`. */
const NUMBER_ABROAD = /^\+\d[\d\s().-]{6,20}$/;

interface ColumnValues {
  filled: number;
  first: string | undefined;
  isSame: boolean;
  /** The domain of its first address. */
  domain: string | undefined;
  isOfOneDomain: boolean;
  addresses: number;
  phones: number;
  isBoolean: boolean;
  isOfAnswers: boolean;
  /** Every value has the canonical form of its number. */
  isExact: boolean;
  /** The decimals of all values; undefined if they differ. */
  decimals: number | undefined;
  /** Every value with a point may be thousands, and there is at least one. */
  isDoubtful: boolean | undefined;
  comma: LocalForm;
  point: LocalForm;
}

/** Whether all values have one local form of numbers, and how many decimals. */
interface LocalForm {
  isOf: boolean;
  /** Whether a value proves the form: it has no other reading. */
  isShown: boolean;
  /** Without the marks, every value has the canonical form of its number. */
  isExact: boolean;
  decimals: Set<number>;
}

/** Words of databases, spreadsheets and data frames for no value. `Null` and `Nil` are names. */
export const isMissing = (text: string): boolean =>
  /^(?:NULL|null|N\/A|n\/a|#N\/A|#NV|<NA>|NaN|nan|None|undefined|\\N|-+)$/.test(text);

/** Whether a row has as many cells as the header. Spreadsheets end rows with empty ones. */
export const isWhole = (row: readonly string[], columns: number): boolean =>
  row.length >= columns && row.slice(columns).every((cell) => cell.trim() === "");

/**
 * Checks the rows of a file one after the other. @param delimiter with a comma between cells, none separates decimals
 */
export function columnTypes(delimiter = ","): { see(row: readonly string[]): void; types(): ColumnType[] } {
  const columns: ColumnValues[] = [];
  const see = (cell: string, i: number) => {
    const value = cell.trim();
    columns[i] ??= {
      filled: 0,
      first: undefined,
      isSame: true,
      domain: undefined,
      isOfOneDomain: true,
      addresses: 0,
      phones: 0,
      isBoolean: true,
      isOfAnswers: true,
      isExact: true,
      decimals: undefined,
      isDoubtful: undefined,
      comma: { isOf: delimiter !== ",", isShown: false, isExact: true, decimals: new Set() },
      point: { isOf: true, isShown: false, isExact: true, decimals: new Set() },
    };
    const seen = columns[i];
    if (value === "" || isMissing(value)) return;
    seen.first ??= value;
    seen.isSame &&= seen.first === value;
    seen.isBoolean &&= Object.hasOwn(BOOLEANS, value.toLowerCase());
    seen.isOfAnswers &&= isYes(value) || isNo(value) || isForbidden(value);
    const decimals = PLAIN_NUMBER.exec(value)?.[3]?.length;
    seen.isExact &&= PLAIN_NUMBER.test(value) && String(Number(value)) === value;
    seen.decimals = seen.filled === 0 || seen.decimals === decimals ? decimals : undefined;
    if (delimiter !== "," && value.includes("."))
      seen.isDoubtful = seen.isDoubtful !== false && MAYBE_THOUSANDS.test(value);
    seen.filled++;
    if (ADDRESS.test(value)) {
      const domain = domainOf(value);
      seen.domain ??= domain;
      seen.isOfOneDomain &&= seen.domain === domain;
      seen.addresses++;
    }
    if (NUMBER_ABROAD.test(value)) seen.phones++;
    if (seen.comma.isOf) seeLocal(seen.comma, COMMA_NUMBER.exec(value));
    if (seen.point.isOf) seeLocal(seen.point, POINT_NUMBER.exec(value));
  };
  return { see: (row) => row.forEach(see), types: () => columns.map(typeOf) };
}

function seeLocal(form: LocalForm, found: RegExpExecArray | null): void {
  form.isOf = found !== null;
  if (!found) return;
  const [value] = found;
  const decimals = found.at(-1) ?? "";
  const written = plainNumber(value);
  form.isShown ||= /[,’']/.test(value);
  form.isExact &&= String(Number(written)) === written;
  form.decimals.add(decimals.length);
}

/** As for plain numbers: a version has one decimal more here and there. */
const isOneForm = ({ isOf, isShown, isExact, decimals }: LocalForm): boolean =>
  isOf && isShown && (isExact || decimals.size === 1);

function typeOf({
  filled,
  isSame,
  domain,
  isOfOneDomain,
  addresses,
  phones,
  isBoolean,
  isOfAnswers,
  isExact,
  decimals,
  isDoubtful,
  comma,
  point,
}: ColumnValues): ColumnType {
  if (filled === 0) return "empty";
  const isOne = isSame && filled > 1;
  if (addresses >= filled * 0.9) {
    const isPrivate = mailboxProviderOf(`@${domain}`) !== undefined;
    if (isOne) return isPrivate ? "same_private" : "same_address";
    return isOfOneDomain && filled > 1 && !isPrivate ? "one_domain" : "address";
  }
  if (phones >= filled * 0.9) return isOne ? "same_phone" : "phone";
  if (isBoolean) return "boolean";
  if (!isDoubtful && (isExact || decimals !== undefined)) return isOfAnswers ? "binary" : "number";
  if (isOfAnswers) return "answers";
  return isOneForm(comma) || isOneForm(point) ? "local_number" : "text";
}

export const addressTypes: readonly ColumnType[] = ["address", "same_address", "same_private", "one_domain"];

/** Any text fits. */
const isOpen = (type: ColumnType): boolean =>
  ["text", "answers", "empty", "phone", "same_phone", ...addressTypes].includes(type);

export function fitsType(value: string, type: ColumnType): boolean {
  // If all whole rows say yes, a status in another row may mean anything.
  if (value === "" || isMissing(value) || isOpen(type)) return true;
  if (type === "boolean") return Object.hasOwn(BOOLEANS, value.toLowerCase());
  return type === "number" || type === "binary"
    ? PLAIN_NUMBER.test(value)
    : COMMA_NUMBER.test(value) || POINT_NUMBER.test(value);
}

/** A number without marks between its thousands, and with a decimal point. */
function plainNumber(text: string): string {
  const [whole = "", decimals] = text.split(/[.,](?=\d{1,2}$)/);
  const digits = whole.replaceAll(/[^\d-]/g, "");
  return decimals === undefined ? digits : `${digits}.${decimals}`;
}

/** A cell as the value of an attribute. JSON becomes its value, unless a number in it would lose digits. */
export function cellValue(text: string, type: ColumnType): Value {
  if (type === "boolean") return BOOLEANS[text.toLowerCase()] ?? text;
  if (type === "number" || type === "binary") return PLAIN_NUMBER.test(text) ? Number(text) : text;
  if (type === "local_number") return Number(plainNumber(text));
  const json = jsonIn(text);
  return json !== undefined && keepsDigits(text) ? json : text;
}

const JSON_TEXT = /"(?:[^"\\]|\\.)*"/g;
const JSON_NUMBER = /(\d+)(\.\d+)?(?:[eE][+-]?\d+)?/g;
/** The number of digits that every stored number keeps. */
const EXACT_DIGITS = 15;

/** Whether every number in a valid JSON text is stored as written: ids of other systems may have more digits. */
const keepsDigits = (text: string): boolean =>
  [...text.replaceAll(JSON_TEXT, "").matchAll(JSON_NUMBER)].every(([written, whole = "", decimals = ""]) => {
    const isWhole = written === whole && Number.isSafeInteger(Number(whole));
    return isWhole || `${whole}${decimals.slice(1)}`.replace(/^0+/, "").length <= EXACT_DIGITS;
  });

/** A column of tags: texts, or JSON if it has more than texts. */
export function tagsValue(text: string): Value {
  const json = jsonIn(text);
  if (json === undefined) return tagsOf(text);
  const isPlain = Array.isArray(json) && json.every((tag) => typeof tag !== "object" || tag === null);
  return isPlain && keepsDigits(text) ? tagsOf(text) : cellValue(text, "text");
}

const jsonIn = (text: string): Value | undefined => (/^[[{]/.test(text) ? jsonOf(text) : undefined);

/** An array or object that may be stored. */
export function jsonOf(text: string): Value | undefined {
  try {
    const value: Value = JSON.parse(text);
    return typeof value === "object" && value !== null && checkJson(value) === undefined ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Tags between `,`, `;` or `|`; a quoted tag may contain these. */
export function tagsOf(text: string): string[] {
  const json = text.startsWith("[") ? jsonOf(text) : undefined;
  if (Array.isArray(json)) return json.map((tag) => String(tag).trim()).filter(Boolean);
  const tags = [...text.matchAll(/\s*(?:"((?:[^"]|"")*)"|'([^']*)'(?=\s*(?:[,;|]|$))|([^,;|]*))\s*(?:[,;|]|$)/g)];
  return tags
    .map(([_, double, single, bare]) => (double?.replaceAll('""', '"') ?? single ?? bare ?? "").trim())
    .filter(Boolean);
}
