// Bulk import (IMP, D-CSV, AMB-49, AMB-88, AMB-131 to AMB-133): rows of a file become subscribers, members and consents.
import type { Operation } from "./access.ts";
import { read, write } from "./access.ts";
import { consentOfAddress, optOutAddress, suppress } from "./addresses.ts";
import { addressChanged, currentConsent, recordConsent } from "./consents.ts";
import { isZone } from "./cron.ts";
import { attributeKey, parseCsv, type Reader, readerOf } from "./csv.ts";
import { type Said, SIGNS, STRENGTH, saidByFields, saidByName, timeOf } from "./import-consents.ts";
import { type Choice, choicesOf, takeChoice, topicColumn, unknownTopics } from "./import-topics.ts";
import {
  ABSENT,
  ANY,
  type Body,
  DAY,
  invalid,
  isUuid,
  MINUTE,
  notFound,
  Refusal,
  type Request,
  Unordered,
  Unpromised,
} from "./kit.ts";
import { addMember } from "./lists.ts";
import { createSubscriber, tellCreated } from "./people.ts";
import type { Import, Subscriber } from "./records/people.ts";
import { subscriberChanged } from "./segments.ts";
import { at, existing, found, newId, type World } from "./world.ts";

const AS_ATTRIBUTES = ["phone", "first_name", "last_name", "timezone", "locale"];

/** Case, spaces and punctuation of a header say nothing. */
const bare = (header: string) => header.toLowerCase().replace(/[^a-z0-9]/g, "");

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
const OF_PRESET: Record<string, Record<string, string>> = {
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
const fieldOf = (source: string, header: string): string | undefined =>
  OF_PRESET[source]![bare(header)] ?? MEANING[bare(header)];

interface Row {
  fields: Record<string, string>;
  attributes: Body;
  said: Said | null;
  /** A row without an address refuses for its number too (AMB-132). */
  isNumberRefused: boolean;
  choices: Choice[];
}

/** Columns whose names say that they are of mail. */
const OF_MAIL = ["newsletter", "donotemail", "emailmarketingconsent"];

/** A row by standard fields, its attributes, and the strongest of what it says of consent. */
function readRow(world: World, job: Import, header: string[], cells: string[], readers: Reader[]): Row {
  const { body } = job;
  const { source = "csv", time_zone: zone = world.settings.timezone } = body;
  const fields: Record<string, string> = {};
  const attributes: Record<string, Body> = {};
  const constant = timeOf(body.consent_at, zone);
  header.forEach((name, index) => {
    const value = cells[index]!.trim();
    const field = fieldOf(source, name);
    if (topicColumn(world, job, name)) return;
    if (field) fields[field] = value;
    else if (value !== "") attributes[attributeKey(name)] = readers[index]!(value);
  });
  for (const field of AS_ATTRIBUTES) if (fields[field]) attributes[field] = fields[field];
  if (fields.tags) attributes.tags = fields.tags.split(/[,;]/).map((tag) => tag.trim());
  const time = timeOf(fields.consent_at, zone);
  const named = header.map(
    (name, n) => SIGNS[bare(name)] && saidByName(SIGNS[bare(name)]!, cells[n]!.trim(), time, constant, zone),
  );
  const all = [saidByFields(source, fields, constant, zone), ...named].flatMap((one) => one ?? []);
  const strength = ({ status }: Said) => STRENGTH.indexOf(status);
  const said = all.reduce<Said | null>((held, one) => (held && strength(held) >= strength(one) ? held : one), null);
  const general = header.flatMap((name, n) => (OF_MAIL.includes(bare(name)) ? [] : named[n] || []));
  const isOfMail = source !== "csv" || header.some((name) => bare(name) === "emailmarketingconsent");
  if (!isOfMail) general.push(...[saidByFields(source, fields, constant, zone)].flatMap((one) => one ?? []));
  const isNegative = general.some(({ status }) => status === "opted_out" || status === "suppressed");
  const isNumberRefused = !fields.email && Boolean(fields.phone) && isNegative;
  const choices = choicesOf(world, job, header, cells, time ?? constant);
  return { fields, attributes, said, isNumberRefused, choices };
}

/** AMB-133: E.164, by the region of the job; what cannot be read stays as it is. */
function readPhone(job: Import, attributes: Body): void {
  const text: string | undefined = attributes.phone;
  if (text === undefined) return;
  const tight = text.replace(/[ ()/-]/g, "");
  const isNational = job.body.phone_region === "DE" && /^0[1-9]\d{8,10}$/.test(tight);
  const read = /^\+[1-9]\d{6,14}$/.test(tight) ? tight : isNational ? `+49${tight.slice(1)}` : undefined;
  const kind = read === undefined ? "unreadable" : read === text ? "kept" : "converted";
  job.phone_summary[kind]!++;
  if (read !== undefined) attributes.phone = read;
}

const isEmail = (text: string) => /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/.test(text);

/** Why a row is refused, or null. */
function faultOf(header: string[], cells: string[], fields: Record<string, string>): string | null {
  if (cells.length !== header.length) return "cells";
  if (!fields.external_id && !fields.email) return "key";
  if (fields.email && !isEmail(fields.email)) return "email";
  return cells.some((cell) => Buffer.byteLength(cell) > 4096) ? "long" : null;
}

/** IMP-2 to IMP-4, IMP-13, AMB-49, AMB-107. */
function process(world: World, job: Import): void {
  const { source = "csv", text } = job.body;
  const [header = [], ...rows] = parseCsv(text);
  const isUsable = header.some((name) => ["external_id", "email"].includes(fieldOf(source, name) ?? ""));
  if (!isUsable || !found(world.lists, job.list_id)) {
    Object.assign(job, { status: "failed", failed: true });
    return;
  }
  job.total_rows = rows.length;
  job.unknown_topics = unknownTopics(world, job, header);
  const whole = rows.filter((cells) => cells.length === header.length);
  const readers = header.map((_, index) => readerOf(whole.map((cells) => cells[index]!.trim())));
  for (const cells of rows) {
    job.processed_rows++;
    const isWhole = cells.length === header.length;
    const row = isWhole
      ? readRow(world, job, header, cells, readers)
      : { fields: {}, attributes: {}, said: null, isNumberRefused: false, choices: [] };
    if (faultOf(header, cells, row.fields)) job.failed_rows++;
    else take(world, job, row);
  }
  job.status = "completed";
}

function take(world: World, job: Import, { fields, attributes, said, isNumberRefused, choices }: Row): void {
  const external_id = fields.external_id || fields.email!.toLowerCase();
  const known = world.subscribers.find((subscriber) => subscriber.external_id === external_id);
  const subscriber = known ?? createSubscriber(world, external_id);
  const before = subscriber.email;
  if (fields.email) subscriber.email = fields.email;
  readPhone(job, attributes);
  Object.assign(subscriber.attributes, attributes);
  subscriber.updated_at = world.now;
  addressChanged(world, subscriber, before);
  const outcome = said ? translate(world, job, subscriber, fields, said) : null;
  if (outcome) job.consent_summary[outcome]!++;
  if (isNumberRefused && currentConsent(world, subscriber.id, "sms")?.status !== "opted_out") {
    const consented_at = said?.at ? Math.min(said.at, job.created_at) : job.created_at;
    const evidence = { ip: null, text: null, import_job_id: job.id };
    recordConsent(world, subscriber, { channel: "sms", status: "opted_out", consented_at, source: ANY, evidence });
  }
  for (const choice of choices) takeChoice(world, job, subscriber, choice);
  if (!known) tellCreated(world, subscriber);
  // The proof is of the address of the row (docs/decisions/0101-the-confirmed-opt-in.md).
  join(world, job, subscriber, outcome === "opted_in" && Boolean(fields.email));
  subscriberChanged(world, subscriber);
}

/** Whether another row of the file is of the same person. */
const isAgain = (job: Import, { external_id, email }: Body): boolean =>
  parseCsv(job.body.text).filter((cells) => cells.includes(external_id || email)).length > 1;

/** A list that asks takes who has proven a consent. Whom of the others it asks is not said. */
function join(world: World, { list_id }: Import, subscriber: Subscriber, isProven: boolean): void {
  const isMember = world.memberships.some(({ of, subscriber_id }) => of === list_id && subscriber_id === subscriber.id);
  if (isMember) return;
  if (found(world.lists, list_id)!.double_opt_in && !isProven)
    throw new Unpromised("who of a file is asked to confirm");
  addMember(world, list_id, subscriber.id);
}

/**
 * Who opted out or is suppressed here stays so: an import never resubscribes anyone. AMB-131: a time that is ahead proves
 * nothing, and an opt-out counts from the job on.
 * @returns what it did, as the job counts it
 */
function translate(world: World, job: Import, subscriber: Subscriber, fields: Body, said: Said): string {
  const isAhead = said.at !== null && said.at > job.created_at + 5 * MINUTE;
  const time = isAhead ? job.created_at : said.at;
  const isFuture = isAhead && said.status === "opted_in";
  const status = isFuture || said.status === "yes_without_time" ? "unknown" : said.status;
  if (said.status === "yes_without_time") job.consent_summary.yes_without_time!++;
  if (isFuture) job.consent_summary.future!++;
  if (status === "unknown") {
    if (said.kept) subscriber.attributes.imported_consent = said.kept;
    return "unknown";
  }
  const newest = currentConsent(world, subscriber.id, "email");
  if (status === "suppressed" && subscriber.email) {
    if (!fields.email && isAgain(job, fields)) throw new Unpromised("which address of several rows has bounced");
    const isSuppressed = consentOfAddress(world, subscriber, "email")?.status === "suppressed";
    const imported = { reason: "imported", source: ANY, suppressed_at: time ?? world.now };
    const row = suppress(world, fields.email || subscriber.email, imported);
    if (row && !isSuppressed) job.suppresses.push(row.key);
    return row && job.suppresses.includes(row.key) ? "suppressed" : "unchanged";
  }
  if (status === "opted_out" && !fields.external_id) optOutAddress(world, fields.email, time ?? job.created_at);
  // An opt-in that is older than what is known changes nothing.
  const isOld = newest !== undefined && newest.consented_at > (time ?? world.now);
  const isOfAddress = consentOfAddress(world, subscriber, "email") !== undefined;
  const isHeld = status === "opted_in" && (isOld || isOfAddress);
  if (isHeld || newest?.status === "opted_out") return "unchanged";
  const evidence = { ip: null, text: null, import_job_id: job.id };
  const own = status === "suppressed" ? "opted_out" : status;
  const source = fields.consent_source || job.body.consent_source || ANY;
  recordConsent(world, subscriber, {
    channel: "email",
    status: own,
    consented_at: time ?? world.now,
    source,
    evidence,
  });
  return own;
}

const SUMMARY = ["opted_in", "opted_out", "unknown", "unchanged", "suppressed", "yes_without_time", "future"];

/** IMP-5 to IMP-7. The text of the file stands in `body.file`. */
function start(world: World, { body }: Request) {
  const bad = (): never => {
    throw new Refusal(400, { code: "BAD_REQUEST" });
  };
  if (!body.listId || body.file === undefined || !isUuid(body.listId)) bad();
  if (body.source !== undefined && !(body.source in OF_PRESET)) invalid();
  if (body.time_zone !== undefined && !isZone(body.time_zone)) invalid("time_zone");
  if (!found(world.lists, body.listId)) notFound();
  const job: Import = {
    ...{ id: newId(world, "import"), list_id: body.listId, status: "pending", created_at: world.now },
    ...{ body: { ...body, text: body.file }, processed_rows: 0, total_rows: null, failed_rows: 0 },
    consent_summary: Object.fromEntries(SUMMARY.map((name) => [name, 0])),
    ...{ phone_summary: { kept: 0, converted: 0, unreadable: 0 }, failed: false, suppresses: [] },
    ...{ topic_summary: {}, unknown_topics: [] },
  };
  world.imports.push(job);
  at(world, world.now, () => process(world, job));
  return { status: 202, body: { import_job_id: job.id, status: "pending" } };
}

/** So long a job can be read. */
const KEPT = 30 * DAY;

/** IMP-1, IMP-8. */
function get(world: World, _: Request, { jobId }: Record<string, string>) {
  const job = existing(world.imports, jobId);
  if (world.now >= job.created_at + KEPT) notFound();
  const { id, status, processed_rows, total_rows, failed_rows, failed } = job;
  const error_message = failed ? ANY : ABSENT;
  const { consent_summary, phone_summary, topic_summary } = job;
  const unknown_topics = new Unordered(job.unknown_topics);
  const counted = { processed_rows, failed_rows, consent_summary, phone_summary, topic_summary, unknown_topics };
  const rows = failed ? {} : { ...counted, ...(total_rows !== null && { total_rows }) };
  return { status: 200, body: { import_job_id: id, status, error_message, ...rows } };
}

export const importOperations: Operation[] = [
  write("POST /api/v1/lists/import", "subscribers:write", start),
  read("GET /api/v1/lists/import/:jobId", get),
];
