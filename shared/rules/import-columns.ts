// The columns of an import: our own format and the exports of two other platforms (D-CSV).
import { type RowColumn, rowColumn } from "./import-channels.ts";
import {
  bareName,
  columnKey,
  isCountryColumn,
  isPlusless,
  maybeAddress,
  rankOf,
  type Standard,
  usualNames,
} from "./import-names.ts";
import { type SignedName, signedName } from "./import-signs.ts";
import type { ColumnType } from "./import-values.ts";
import { consentChannelOf, topicKeyOf } from "./topics.ts";

export const importSources = ["csv", "platform_a", "platform_b"] as const;
export type ImportSource = (typeof importSources)[number];

/** What the columns of a source mean beside their usual names, in lower case. */
export const presets: Record<ImportSource, Record<string, Standard>> = {
  csv: {},
  platform_a: { source: "consent_source" },
  platform_b: { status: "consent_status", source: "consent_source" },
};

/** Further columns that are evidence of consent. They become attributes only if they are in `KEPT` too. */
export const EVIDENCE: Record<ImportSource, readonly string[]> = {
  csv: [],
  platform_a: ["email suppressions"],
  platform_b: ["unsub_time", "clean_time", "confirm_time", "optin_time", "optin_ip", "confirm_ip"],
};
/** Evidence that becomes an attribute too. */
const KEPT = ["optin_ip", "confirm_ip"];

export const MAX_EXTRA_COLUMNS = 100;
export const MAX_VALUE_BYTES = 4_096;
const MAX_KEY = 128;
const REFUSED_KEYS = ["__proto__", "constructor", "prototype"];

/** What a column may be mapped to: a standard field, `attribute:<key>`, `topic:<key>`, or `ignore`. */
export type ColumnMapping = Record<string, string>;
export const IGNORED = "ignore";
export const ATTRIBUTE = "attribute:";
/** Before the key of a topic: the column holds when the choice was made. */
export const TOPIC_TIME = "topic_at:";

/** The fields that a column may be mapped to. */
// The table has no other names.
export const importFields = Object.keys(usualNames) as Standard[];

const isField = (text: string): text is Standard => importFields.some((field) => field === text);

/** The form in which the names of columns are compared. */
export const columnName = (name: string): string => name.trim().toLowerCase();

/** Why a column cannot be mapped so; undefined if it can. */
export function mappingProblem(target: string): string | undefined {
  if (target === IGNORED || isField(target) || topicKeyOf(target)) return undefined;
  const key = target.startsWith(ATTRIBUTE) ? target.slice(ATTRIBUTE.length) : "";
  if (key.length > 0 && key.length <= MAX_KEY && !REFUSED_KEYS.includes(key)) return undefined;
  return `must be ignore, attribute:<key>, topic:<key>, or one of ${importFields.join(", ")}`;
}

/** The keys of the topics that a mapping names. */
export const mappedTopics = (mapping: ColumnMapping): string[] =>
  Object.values(mapping).flatMap((target) => topicKeyOf(target) ?? []);

export interface Cell {
  standard?: Standard;
  evidence?: string;
  attribute?: string;
  /** The key of the topic whose choice it holds. */
  topic?: string;
  /** The key of the topic of which it holds when the choice was made. */
  topicTime?: string;
  /** What the name says of consent. */
  signed?: SignedName;
  /** The region of phone numbers of the row. */
  isCountry?: boolean;
  /** A phone number of the row, where the column of the phone is empty or cannot be read; the smallest first. */
  phoneRank?: number;
  /** International phone numbers stand there without their plus. */
  isPlusless?: boolean;
  /** It says of which channel the row is, or holds its address there. */
  rowColumn?: RowColumn;
  /** A standard field whose name is about mail. */
  isOfMail?: boolean;
}

/** Why a file, or a row of it, cannot be imported. */
export interface Problem {
  kind: "problem";
  problem: string;
}

export interface Columns {
  kind: "columns";
  source: ImportSource;
  /** What each cell holds. */
  cells: readonly Cell[];
  /** Of the whole column. */
  types: readonly ColumnType[];
  /** Keys in columns `topic:<key>` of which the workspace has no topic; such columns become attributes. */
  unknownTopics: readonly string[];
}

/** What is known of a file beside its header. */
export interface KnownColumns {
  mapping?: ColumnMapping | undefined;
  /** The keys of the topics that the workspace has. */
  topics?: readonly string[] | undefined;
  types?: readonly ColumnType[] | undefined;
}

/** Reads a header. @returns its columns, or the reason why the file cannot be imported */
export function readHeader(
  header: readonly string[],
  source: ImportSource,
  { mapping = {}, topics = [], types = [] }: KnownColumns = {},
): Columns | Problem {
  const given = new Map(Object.entries(mapping).map(([name, target]) => [columnName(name), target]));
  const problem = problemOf(header, given);
  if (problem) return { kind: "problem", problem };
  const taken = new Set([...given.values()].filter((target) => target !== IGNORED));
  const isFree = header.map((name) => !given.has(columnName(name)));
  const fields = usualFields(header, source, { taken, isFree, types });
  const unknownTopics: string[] = [];
  const cells = header.map((name, i): Cell => {
    const wanted = columnName(name);
    const target = given.get(wanted);
    if (target !== undefined) return mappedCell(name, target);
    const ofTopic = topicCell(wanted, topics);
    if (ofTopic && !taken.has(wanted)) {
      taken.add(wanted);
      return ofTopic;
    }
    const unknown = ofTopic ? undefined : topicKeyOf(wanted);
    if (unknown) unknownTopics.push(unknown);
    const standard = fields.get(i);
    return standard ? standardCell(name, standard) : furtherCell(name, source, { taken, header, type: types[i] });
  });
  const named = cells.flatMap(({ standard }) => standard ?? []);
  if (!named.includes("external_id") && !named.includes("email"))
    return { kind: "problem", problem: "the header has neither an external_id nor an email column" };
  const extra = extraProblem(cells);
  return extra ? { kind: "problem", problem: extra } : { kind: "columns", source, cells, types, unknownTopics };
}

/** Why a mapping does not fit a header. */
function problemOf(header: readonly string[], given: ReadonlyMap<string, string>): string | undefined {
  const names = new Set(header.map(columnName));
  const missing = [...given.keys()].find((name) => !names.has(name));
  if (missing !== undefined) return `the mapping names ${missing}, which is no column of the file`;
  const targets = [...given.values()].filter((target) => target !== IGNORED);
  const twice = targets.find((target, i) => targets.indexOf(target) !== i);
  return twice && `two columns are mapped to ${twice}`;
}

/** Why columns cannot become attributes. */
function extraProblem(cells: readonly Cell[]): string | undefined {
  const extra = cells.flatMap(({ attribute }) => attribute ?? []);
  if (extra.length > MAX_EXTRA_COLUMNS)
    return `the header has ${extra.length} extra columns; at most ${MAX_EXTRA_COLUMNS} become attributes`;
  const refused = extra.find((key) => REFUSED_KEYS.includes(key));
  if (refused) return `the header has a column named ${refused}`;
  const twice = extra.find((key, i) => extra.indexOf(key) !== i);
  return twice && `the header has two columns that become ${twice}`;
}

/** The fields that say who a person is, and how to reach it: none of them is a yes or a no. */
export const OF_WHOM: readonly Standard[] = ["external_id", "email", "phone"];
/** A name with a prefix comes after the same name without it, and before less usual ones. */
const BEHIND_A_PREFIX = 0.5;

/** By its index, the field of each column that has the best name for one. */
function usualFields(
  header: readonly string[],
  source: ImportSource,
  { taken, isFree, types }: { taken: ReadonlySet<string>; isFree: readonly boolean[]; types: readonly ColumnType[] },
): Map<number, Standard> {
  const fields = new Map<number, Standard>();
  const keys = header.map((name) => columnKey(bareName(name)));
  const rank = (field: Standard, i: number): number => {
    const name = columnName(header[i] ?? "");
    if (!isFree[i] || fields.has(i) || EVIDENCE[source].includes(name)) return Number.POSITIVE_INFINITY;
    if (types[i] === "boolean" && OF_WHOM.includes(field)) return Number.POSITIVE_INFINITY;
    if (Object.hasOwn(presets[source], name) && presets[source][name] === field) return -1;
    // Customer.io writes its own id beside the one of the sender.
    if (field === "external_id" && keys[i] === "id" && keys.includes("cioid")) return -1;
    const rank = rankOf(field, keys[i] ?? "");
    if (rank === undefined) return Number.POSITIVE_INFINITY;
    return bareName(name) === name ? rank : rank + BEHIND_A_PREFIX;
  };
  for (const field of importFields) {
    if (taken.has(field)) continue;
    const found = header.map((_, i) => rank(field, i));
    const best = Math.min(...found);
    if (best !== Number.POSITIVE_INFINITY) fields.set(found.indexOf(best), field);
  }
  const isNamed = [...taken, ...fields.values()].some((field) => field === "external_id" || field === "email");
  const address = keys.findIndex((key, i) => isFree[i] && maybeAddress(key));
  if (!isNamed && address >= 0) fields.set(address, "email");
  return fields;
}

const standardCell = (name: string, standard: Standard): Cell => ({
  standard,
  ...(standard === "phone" && isPlusless(name) && { isPlusless: true }),
  ...(standard === "consent_status" && /e?mail/.test(columnKey(name)) && { isOfMail: true }),
});

function furtherCell(
  name: string,
  source: ImportSource,
  { taken, header, type }: { taken: ReadonlySet<string>; header: readonly string[]; type: ColumnType | undefined },
): Cell {
  const wanted = columnName(name);
  const evidence = EVIDENCE[source].includes(wanted) ? wanted : undefined;
  // The choice of a topic that there is not is of nothing else.
  const signed = evidence || topicKeyOf(wanted) ? undefined : signedName(name);
  // `Email` with a yes or a no is no address, and no attribute `email`.
  const isWay = signed?.isBare && type === "boolean";
  const attribute = isWay || (evidence && !KEPT.includes(evidence)) ? undefined : snakeCase(name);
  const ofRow = rowColumn(name, header);
  const phoneRank = taken.has("phone") || type === "boolean" ? undefined : rankOf("phone", columnKey(bareName(name)));
  return {
    ...(evidence && { evidence }),
    ...(attribute && { attribute }),
    ...(signed && { signed }),
    ...(phoneRank !== undefined && { phoneRank, ...(isPlusless(name) && { isPlusless: true }) }),
    ...(isCountryColumn(name) && { isCountry: true }),
    ...(ofRow && { rowColumn: ofRow }),
  };
}

/** A name that says no keeps its meaning, whatever the column is mapped to. */
function mappedCell(name: string, target: string): Cell {
  if (target === IGNORED) return {};
  const country = isCountryColumn(name) && { isCountry: true };
  const topic = topicKeyOf(target);
  const signed = signedName(name);
  const isNegative = signed?.sign === "out" || signed?.sign === "suppressed";
  const negative = isNegative && (target === "consent_status" || topic !== undefined) && { signed };
  if (isField(target)) return { ...standardCell(name, target), ...negative };
  return topic ? { topic, ...negative } : { attribute: target.slice(ATTRIBUTE.length), ...country };
}

function topicCell(name: string, topics: readonly string[]): Cell | undefined {
  const topic = topicKeyOf(name);
  if (topic) return topics.includes(topic) ? { topic } : undefined;
  const topicTime = name.startsWith(TOPIC_TIME) ? name.slice(TOPIC_TIME.length) : "";
  return topics.includes(topicTime) ? { topicTime } : undefined;
}

export const snakeCase = (name: string): string =>
  name
    .trim()
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean)
    .join("_")
    .slice(0, MAX_KEY);

/** A phone number without what people write between its digits. */
export const compactPhone = (text: string): string => text.replaceAll(/[\s().-]/g, "");

/** What a column means, for people: a field, `attribute:<key>`, `topic:<key>`, `consent evidence` or `ignore`. */
export function meaningOf({ standard, evidence, attribute, topic, topicTime, signed }: Cell): string {
  if (standard) return standard;
  if (topic) return consentChannelOf(topic);
  if (evidence || topicTime || (signed && (signed.sign !== "word" || !attribute))) return "consent evidence";
  return attribute ? ATTRIBUTE + attribute : IGNORED;
}
