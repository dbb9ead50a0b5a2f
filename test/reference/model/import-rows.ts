// The rows of an import: what their columns mean, and why a row is refused (D-CSV, AMB-132, AMB-133).
import { isZone } from "./cron.ts";
import { attributeKey, type Reader } from "./csv.ts";
import { type ConsentStatement, SIGNS, STRENGTH, saidByFields, saidByName, timeOf } from "./import-consents.ts";
import { type Choice, choicesOf, topicColumn } from "./import-topics.ts";
import type { Body } from "./kit.ts";
import type { Import } from "./records/people.ts";
import type { World } from "./world.ts";

const AS_ATTRIBUTES = ["phone", "first_name", "last_name", "timezone", "locale"];

/** Case, spaces and punctuation of a header say nothing. */
export const bare = (header: string) => header.toLowerCase().replace(/[^a-z0-9]/g, "");

/** Names of columns by their meaning: of D-CSV, its two presets, and some of every kind that people use. */
const NAMES: Record<string, string[]> = {
  external_id: ["external id", "customer id", "user id"],
  email: ["email", "email address", "e-mail"],
  phone: ["phone", "phone number", "mobile phone"],
  first_name: ["first name", "fname"],
  last_name: ["last name", "lname"],
  timezone: ["timezone"],
  locale: ["locale", "language"],
  consent_status: ["consent status", "email marketing consent"],
  consent_at: ["consent at", "email marketing consent timestamp"],
  consent_source: ["consent source"],
  tags: ["tags"],
};
export const OF_PRESET: Record<string, Record<string, string>> = {
  csv: {},
  platform_a: { emailsuppressions: "suppressions", source: "consent_source" },
  platform_b: {
    ...{ status: "consent_status", source: "consent_source", confirmtime: "confirm_time", optintime: "optin_time" },
    ...{ unsubtime: "unsub_time", cleantime: "clean_time" },
  },
};
const MEANING = Object.fromEntries(
  Object.entries(NAMES).flatMap(([field, names]) => names.map((name) => [bare(name), field])),
);
export const fieldOf = (source: string, header: string): string | undefined =>
  OF_PRESET[source]![bare(header)] ?? MEANING[bare(header)];

/** A file of numbers alone: each is the id of its person, and what names no channel is of SMS (docs/decisions/0136). */
export function isOfNumbers({ body }: Import, header: string[], rows: string[][]): boolean {
  const fields = header.map((name) => fieldOf(body.source ?? "csv", name));
  const isFilled = (n: number) => rows.length === 0 || rows.some((cells) => (cells[n] ?? "").trim() !== "");
  const saysWho = fields.some((field, n) => (field === "external_id" || field === "email") && isFilled(n));
  return !saysWho && fields.includes("phone");
}

export interface Row {
  fields: Record<string, string>;
  attributes: Body;
  said: ConsentStatement | null;
  /** A row without an address refuses for its number too (AMB-132). */
  isNumberRefused: boolean;
  /** Of a file of numbers: the number, null for one that nobody can read, and what the row agrees to. */
  number?: { key: string | null; agreed: ConsentStatement | null };
  /** A row that names text messages says it of them, not of mail. */
  ofTexts?: ConsentStatement | null;
  choices: Choice[];
}

function isLocale(text: string): boolean {
  try {
    return Intl.getCanonicalLocales(text).length === 1;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

export const NEGATIVE = ["opted_out", "suppressed"];
/** Columns whose names say that they are of mail. */
const OF_MAIL = ["newsletter", "donotemail", "emailmarketingconsent"];

/** A file of rejected rows, which somebody mended and sends again. */
const isReport = ([line, reason]: string[]) => line === "line" && reason === "reason";

/** A row by standard fields, its attributes, and the strongest of what it says of consent. */
export function readRow(
  world: World,
  job: Import,
  { header, readers, whole }: { header: string[]; readers: Reader[]; whole: string[][] },
  cells: string[],
): Row {
  const { body } = job;
  const { source = "csv", time_zone: zone = world.settings.timezone, mapping = "{}" } = body;
  const isWithoutOthers = JSON.parse(mapping)["*"] !== undefined;
  const fields: Record<string, string> = {};
  const attributes: Record<string, Body> = {};
  header.forEach((name, index) => {
    const value = cells[index]!.trim();
    const field = fieldOf(source, name);
    if (topicColumn(world, job, name) || (index < 2 && isReport(header))) return;
    if (field) fields[field] = value;
    else if (value !== "" && !isWithoutOthers) attributes[attributeKey(name)] = readers[index]!(value);
  });
  for (const field of AS_ATTRIBUTES) if (fields[field]) attributes[field] = fields[field];
  if (fields.locale && !isLocale(attributes.locale.replace("_", "-"))) delete attributes.locale;
  else if (fields.locale) attributes.locale = attributes.locale.replace("_", "-");
  if (fields.timezone && !isZone(fields.timezone)) delete attributes.timezone;
  if (fields.tags) attributes.tags = fields.tags.split(/[,;]/).map((tag) => tag.trim());
  const time = timeOf(fields.consent_at, zone);
  // A time of the row that cannot be read proves nothing: that of the file is for rows without one.
  const constant = fields.consent_at ? null : timeOf(body.consent_at, zone);
  const named = header.map(
    (name, n) => SIGNS[bare(name)] && saidByName(SIGNS[bare(name)]!, cells[n]!.trim(), time, constant, zone),
  );
  const ofFields = [saidByFields(source, fields, constant, zone)].flatMap((one) => one ?? []);
  const all = [...ofFields, ...named.flatMap((one) => one || [])];
  const strength = ({ status }: ConsentStatement) => STRENGTH.indexOf(status);
  const strongestOf = (some: ConsentStatement[]): ConsentStatement | null => {
    const strongest = some.reduce<ConsentStatement | null>(
      (held, one) => (held && strength(held) >= strength(one) ? held : one),
      null,
    );
    // One column may say a no, and another one when it was.
    const times = some.flatMap(({ status, at }) => (status === strongest?.status && at !== null ? [at] : []));
    const when = NEGATIVE.includes(strongest?.status ?? "") ? times.at(-1) : times[0];
    return strongest && { ...strongest, at: when ?? null };
  };
  const general = header.flatMap((name, n) => (OF_MAIL.includes(bare(name)) ? [] : named[n] || []));
  const isOfMail = source !== "csv" || header.some((name) => bare(name) === "emailmarketingconsent");
  if (!isOfMail) general.push(...ofFields);
  const isNegative = general.some(({ status }) => status === "opted_out" || status === "suppressed");
  const isNumberRefused = !isEmail(fields.email ?? "") && Boolean(fields.phone) && isNegative;
  const choices = choicesOf(world, job, header, cells, fields.consent_at);
  const row = { fields, attributes, isNumberRefused, choices };
  const isOfTexts = header.some((name, n) => bare(name) === "channel" && cells[n]!.trim() === "SMS");
  if (isOfTexts) return { ...row, said: null, ofTexts: strongestOf(all) };
  if (!isOfNumbers(job, header, whole)) return { ...row, said: strongestOf(all) };
  const ofMail = all.filter((one) => !general.includes(one));
  const agreed = strongestOf(general);
  const number = {
    key: e164(fields.phone ?? "", body.phone_region),
    agreed: agreed?.status === "opted_in" ? agreed : null,
  };
  return { ...row, said: strongestOf(isNegative ? all : ofMail), number };
}

/** Null for what is no number. */
export function e164(text: string, region?: string): string | null {
  const tight = text.replace(/[ ()/-]/g, "");
  if (/^\+[1-9]\d{6,14}$/.test(tight)) return tight;
  return region === "DE" && /^0[1-9]\d{8,10}$/.test(tight) ? `+49${tight.slice(1)}` : null;
}

export const isEmail = (text: string) => /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/.test(text);

/** Why a row with all of its cells is refused, or null. */
export function faultOf(cells: string[], { fields, number }: Row): string | null {
  if (!fields.external_id && !fields.email && !number?.key) return "key";
  if (fields.email && !isEmail(fields.email)) return "email";
  return cells.some((cell) => Buffer.byteLength(cell) > 4096) ? "long" : null;
}
