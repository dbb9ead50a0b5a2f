// What the caller of an import says that its columns mean.
import { type Standard, usualNames } from "./import-names.ts";
import { topicKeyOf } from "./topics.ts";

const MAX_KEY = 128;
export const REFUSED_KEYS = ["__proto__", "constructor", "prototype"];

/** What a column may be mapped to: a standard field, `attribute:<key>`, `topic:<key>`, or `ignore`. */
export type ColumnMapping = Record<string, string>;
export const IGNORED = "ignore";
export const ATTRIBUTE = "attribute:";
/** In place of the name of a column: every one that would become an attribute and is not named. */
export const OTHERS = "*";
/** Before the key of a topic: the column holds when the choice was made. */
export const TOPIC_TIME = "topic_at:";

/** Before another channel than mail: the column holds what was said of it, or when, as our exports write it. */
export const STATUS_OF = "consent_status:";
export const TIME_OF = "consent_at:";
/** The channels beside mail of which files hold consents. */
export const otherChannels = ["sms", "chat_app"] as const;
export type OtherChannel = (typeof otherChannels)[number];

/** The fields that a column may be mapped to. */
// The table has no other names.
export const importFields = Object.keys(usualNames) as Standard[];

export const isField = (text: string): text is Standard => importFields.some((field) => field === text);

/** The form in which the names of columns are compared. */
export const columnName = (name: string): string => name.trim().toLowerCase();

/** Why a column cannot be mapped so; undefined if it can. */
export function mappingProblem(target: string): string | undefined {
  if (target === IGNORED || isField(target) || topicKeyOf(target)) return undefined;
  const key = target.startsWith(ATTRIBUTE) ? target.slice(ATTRIBUTE.length) : "";
  if (key.length > 0 && key.length <= MAX_KEY && !REFUSED_KEYS.includes(key)) return undefined;
  return `must be ignore, attribute:<key>, topic:<key>, or one of ${importFields.join(", ")}`;
}

export const mappedTopics = (mapping: ColumnMapping): string[] =>
  Object.values(mapping).flatMap((target) => topicKeyOf(target) ?? []);

export const givenTargets = (mapping: ColumnMapping): ReadonlyMap<string, string> =>
  new Map(Object.entries(mapping).map(([name, target]) => [columnName(name), target]));

/** More than fields, topics, 100 attributes and what a mapping names; the others can only be left out. */
const MAX_COLUMNS = 1_000;
/** It is stored with the job, and read whenever the job is. */
const MAX_HEADER_BYTES = 65_536;

/** Why a header is none that can be read: what its columns mean is found by comparing each with all others. */
export function excessOf(header: readonly string[]): string | undefined {
  if (header.length > MAX_COLUMNS) return `the header has ${header.length} columns; at most ${MAX_COLUMNS} are read`;
  const bytes = Buffer.byteLength(JSON.stringify(header));
  return bytes > MAX_HEADER_BYTES
    ? `the header has ${bytes} bytes as JSON; at most ${MAX_HEADER_BYTES} are read`
    : undefined;
}

/** Why a mapping does not fit a header. */
export function misfitOf(header: readonly string[], mapping: ColumnMapping = {}): string | undefined {
  const mapped = givenTargets(mapping);
  const names = new Set(header.map(columnName));
  const missing = [...mapped.keys()].find((name) => name !== OTHERS && !names.has(name));
  if (missing !== undefined) return `the mapping names ${missing}, which is no column of the file`;
  const targets = [...mapped.values()].filter((target) => target !== IGNORED);
  const twice = targets.find((target, i) => targets.indexOf(target) !== i);
  return twice && `two columns are mapped to ${twice}`;
}

/** The name of a column as the key of an attribute. */
export const snakeCase = (name: string): string =>
  name
    .trim()
    .toLowerCase()
    // The small form of İ has a dot that nobody writes.
    .replaceAll("i\u0307", "i")
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .filter(Boolean)
    .join("_")
    .slice(0, MAX_KEY);
