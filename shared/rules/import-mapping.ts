// The mapping of columns by the caller of an import.
import { type Standard, usualNames } from "./import-names.ts";
import { topicKeyOf } from "./topics.ts";

const MAX_KEY = 128;
export const REFUSED_KEYS = ["__proto__", "constructor", "prototype"];

/** The targets of a column: a standard field, `attribute:<key>`, `topic:<key>`, or `ignore`. */
export type ColumnMapping = Record<string, string>;
export const IGNORED = "ignore";
export const ATTRIBUTE = "attribute:";
/** In place of a column name: every unnamed column that would become an attribute. */
export const OTHERS = "*";
/** Before the key of a topic: the column has the time of its choice. */
export const TOPIC_TIME = "topic_at:";

/** Before a channel other than mail: the column has its consent, or the time of that, as our exports write it. */
export const STATUS_OF = "consent_status:";
export const TIME_OF = "consent_at:";
/** The channels beside mail with consents in files. */
export const otherChannels = ["sms", "chat_app"] as const;
export type OtherChannel = (typeof otherChannels)[number];

/** The topic whose choice, or its time, is in a column of this name. */
export function topicColumn(
  name: string,
  topics: readonly string[],
): { topic: string } | { topicTime: string } | undefined {
  const topic = topicKeyOf(name);
  if (topic) return topics.includes(topic) ? { topic } : undefined;
  const topicTime = name.startsWith(TOPIC_TIME) ? name.slice(TOPIC_TIME.length) : "";
  return topics.includes(topicTime) ? { topicTime } : undefined;
}

/** The channel whose consent, or its time, is in a column of this name. */
export function channelColumn(name: string): { channel: OtherChannel; isTime: boolean } | undefined {
  const channel = otherChannels.find(
    (otherChannel) => name === STATUS_OF + otherChannel || name === TIME_OF + otherChannel,
  );
  return channel && { channel, isTime: name.startsWith(TIME_OF) };
}

/** The fields that a column may be mapped to. */
// The table has no other names.
export const importFields = Object.keys(usualNames) as Standard[];

export const isField = (text: string): text is Standard => importFields.some((field) => field === text);

/** The form in which column names are compared. */
export const columnName = (name: string): string => name.trim().toLowerCase();

/** Why a column cannot have this target; undefined if it can. */
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

/** More than fields, topics, 100 attributes and the names in a mapping; further columns can only be left out. */
const MAX_COLUMNS = 1_000;
/** The header is stored with the job, and read whenever the job is. */
const MAX_HEADER_BYTES = 65_536;

/** Why a header is too large to be read: finding the meaning of a column compares it with all others. */
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
    // The lower-case form of İ has a dot that nobody writes.
    .replaceAll("i\u0307", "i")
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .filter(Boolean)
    .join("_")
    .slice(0, MAX_KEY);
