// The columns of an import: our own format and the exports of two other platforms (D-CSV).
import { isEmailAddress, isLocale, isPhoneNumber } from "./contacts.ts";
import { consentTranslators, type ImportedChoices, type ImportedConsent, readChoices } from "./import-consents.ts";
import { isTimeZone } from "./time-zones.ts";
import { topicKeyOf } from "./topics.ts";

export const importSources = ["csv", "platform_a", "platform_b"] as const;
export type ImportSource = (typeof importSources)[number];

export interface ImportedRow {
  external_id: string;
  email?: string | undefined;
  attributes: Record<string, string | number | boolean | string[]>;
  consent?: ImportedConsent | undefined;
  /** By the keys of topics: those that the row says something of. */
  choices: ImportedChoices;
}

export type Standard =
  | "external_id"
  | "email"
  | "phone"
  | "first_name"
  | "last_name"
  | "timezone"
  | "locale"
  | "consent_status"
  | "consent_at"
  | "consent_source"
  | "tags";

/** The columns that each source knows, in lower case, and what they mean. */
export const columnMeanings: Record<ImportSource, Record<string, Standard>> = {
  csv: {
    external_id: "external_id",
    email: "email",
    phone: "phone",
    first_name: "first_name",
    last_name: "last_name",
    timezone: "timezone",
    locale: "locale",
    consent_status: "consent_status",
    consent_at: "consent_at",
    consent_source: "consent_source",
    tags: "tags",
  },
  platform_a: {
    "external id": "external_id",
    email: "email",
    "phone number": "phone",
    "first name": "first_name",
    "last name": "last_name",
    timezone: "timezone",
    locale: "locale",
    "email marketing consent": "consent_status",
    "email marketing consent timestamp": "consent_at",
    source: "consent_source",
  },
  platform_b: {
    "email address": "email",
    email: "email",
    "phone number": "phone",
    phone: "phone",
    "first name": "first_name",
    fname: "first_name",
    "last name": "last_name",
    lname: "last_name",
    timezone: "timezone",
    language: "locale",
    status: "consent_status",
    source: "consent_source",
    tags: "tags",
  },
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
export const importFields: readonly Standard[] = Object.values(columnMeanings.csv);

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
}

export interface Columns {
  source: ImportSource;
  /** What each cell holds. */
  cells: readonly Cell[];
  /** Keys in columns `topic:<key>` of which the workspace has no topic; such columns become attributes. */
  unknownTopics: readonly string[];
}

/**
 * Reads a header.
 * @param topics the keys of the topics that the workspace has
 * @returns its columns, or the reason why the file cannot be imported
 */
export function readHeader(
  header: readonly string[],
  source: ImportSource,
  mapping: ColumnMapping = {},
  topics: readonly string[] = [],
): Columns | { problem: string } {
  const found = columnMeanings[source];
  const given = new Map(Object.entries(mapping).map(([name, target]) => [columnName(name), target]));
  const names = new Set(header.map(columnName));
  const missing = [...given.keys()].find((name) => !names.has(name));
  if (missing !== undefined) return { problem: `the mapping names ${missing}, which is no column of the file` };
  const targets = [...given.values()].filter((target) => target !== IGNORED);
  const mappedTwice = targets.find((target, i) => targets.indexOf(target) !== i);
  if (mappedTwice) return { problem: `two columns are mapped to ${mappedTwice}` };
  const taken = new Set<string>(targets);
  const unknownTopics: string[] = [];
  const cells = header.map((name): Cell => {
    const wanted = columnName(name);
    const target = given.get(wanted);
    if (target !== undefined) return mappedCell(target);
    const ofTopic = topicCell(wanted, topics);
    if (ofTopic && !taken.has(wanted)) {
      taken.add(wanted);
      return ofTopic;
    }
    const unknown = ofTopic ? undefined : topicKeyOf(wanted);
    if (unknown) unknownTopics.push(unknown);
    const standard = Object.hasOwn(found, wanted) ? found[wanted] : undefined;
    if (standard && !taken.has(standard)) {
      taken.add(standard);
      return { standard };
    }
    const evidence = EVIDENCE[source].includes(wanted) ? wanted : undefined;
    const attribute = evidence && !KEPT.includes(evidence) ? undefined : snakeCase(name);
    return { ...(evidence && { evidence }), ...(attribute && { attribute }) };
  });
  if (!taken.has("external_id") && !taken.has("email"))
    return { problem: "the header has neither an external_id nor an email column" };
  const extra = cells.flatMap(({ attribute }) => attribute ?? []);
  if (extra.length > MAX_EXTRA_COLUMNS)
    return { problem: `the header has ${extra.length} extra columns; at most ${MAX_EXTRA_COLUMNS} become attributes` };
  const refused = extra.find((key) => REFUSED_KEYS.includes(key));
  if (refused) return { problem: `the header has a column named ${refused}` };
  const twice = extra.find((key, i) => extra.indexOf(key) !== i);
  if (twice) return { problem: `the header has two columns that become ${twice}` };
  return { source, cells, unknownTopics };
}

function mappedCell(target: string): Cell {
  if (target === IGNORED) return {};
  if (isField(target)) return { standard: target };
  const topic = topicKeyOf(target);
  return topic ? { topic } : { attribute: target.slice(ATTRIBUTE.length) };
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

/** Reads a row. @returns its subscriber, or the reason why it is rejected (IMP-9 to IMP-12). */
export function readRow({ source, cells }: Columns, row: readonly string[]): ImportedRow | { problem: string } {
  if (row.length !== cells.length) return { problem: `has ${row.length} cells, the header ${cells.length}` };
  const standard: Partial<Record<Standard, string>> = {};
  const evidence: Record<string, string> = {};
  const attributes: ImportedRow["attributes"] = {};
  const said: Record<string, string> = {};
  const times: Record<string, string> = {};
  for (const [i, { standard: field, evidence: sign, attribute, topic, topicTime }] of cells.entries()) {
    const value = row[i]?.trim() ?? "";
    if (Buffer.byteLength(value) > MAX_VALUE_BYTES)
      return { problem: `has a value of more than ${MAX_VALUE_BYTES} bytes` };
    if (value === "") continue;
    if (field) standard[field] = value;
    if (sign) evidence[sign] = value;
    if (attribute) attributes[attribute] = typed(value);
    if (topic) said[topic] = value;
    if (topicTime) times[topicTime] = value;
  }
  const { email } = standard;
  if (email !== undefined && !isEmailAddress(email)) return { problem: "has a bad email address" };
  const external_id = standard.external_id ?? email?.toLowerCase();
  if (external_id === undefined) return { problem: "has neither an external_id nor an email" };
  if (external_id.length > 512) return { problem: "has an external_id of more than 512 characters" };
  const { first_name, last_name, phone, timezone, locale, tags } = standard;
  if (first_name) attributes.first_name = first_name;
  if (last_name) attributes.last_name = last_name;
  // An invalid phone number, time zone or locale is left out; the row is imported without it.
  if (phone && isPhoneNumber(compactPhone(phone))) attributes.phone = compactPhone(phone);
  if (timezone && isTimeZone(timezone)) attributes.timezone = timezone;
  if (locale && isLocale(locale.replace("_", "-"))) attributes.locale = locale.replace("_", "-");
  if (tags) attributes.tags = listOf(tags);
  const consent = consentTranslators[source](standard, evidence);
  if (consent?.said !== undefined) attributes.imported_consent = consent.said;
  const choices = readChoices(said, times, standard);
  return { external_id, ...(email !== undefined && { email }), attributes, consent, choices };
}

const PLAIN_NUMBER = /^-?(0|[1-9]\d{0,14})(\.\d{1,10})?$/;

/** `true`, `false` and plain numbers are converted; a number with a leading zero stays a text (AMB-88). */
function typed(value: string): string | number | boolean {
  if (value === "true" || value === "false") return value === "true";
  return PLAIN_NUMBER.test(value) ? Number(value) : value;
}

/** A phone number without what people write between its digits. */
export const compactPhone = (text: string): string => text.replaceAll(/[\s().-]/g, "");
const listOf = (text: string) =>
  text
    .split(/[,;|]/)
    .map((tag) => tag.trim().replaceAll(/^"|"$/g, ""))
    .filter(Boolean);
