// Bulk import (IMP, D-CSV, AMB-49, AMB-88): rows of a file become subscribers, members and consents.
import type { Operation } from "./access.ts";
import { read, write } from "./access.ts";
import { consentOfAddress, optOutAddress, suppress } from "./addresses.ts";
import { currentConsent, recordConsent } from "./consents.ts";
import { attributeKey, parseCsv, type Reader, readerOf } from "./csv.ts";
import { ABSENT, ANY, type Body, instant, invalid, isUuid, notFound, Refusal, type Request } from "./kit.ts";
import { addMember } from "./lists.ts";
import { createSubscriber, tellCreated } from "./people.ts";
import { subscriberChanged } from "./segments.ts";
import { at, found, type Import, newId, type Subscriber, type World } from "./world.ts";

const STANDARD = [
  ...["external_id", "email", "phone", "first_name", "last_name", "timezone", "locale"],
  ...["consent_status", "consent_at", "consent_source", "tags"],
];
const AS_ATTRIBUTES = ["phone", "first_name", "last_name", "timezone", "locale"];

/** D-CSV: the headers of the two presets, and the standard field that each stands for. */
const ALIASES: Record<string, Record<string, string>> = {
  csv: Object.fromEntries(STANDARD.map((field) => [field, field])),
  platform_a: {
    ...{ "external id": "external_id", email: "email", "first name": "first_name", "last name": "last_name" },
    ...{ "phone number": "phone", timezone: "timezone", locale: "locale", source: "consent_source" },
    ...{ "email marketing consent": "consent_status", "email marketing consent timestamp": "consent_at" },
    "email suppressions": "suppressions",
  },
  platform_b: {
    ...{ "email address": "email", email: "email", "first name": "first_name", fname: "first_name" },
    ...{ "last name": "last_name", lname: "last_name", "phone number": "phone", phone: "phone", language: "locale" },
    ...{ timezone: "timezone", status: "consent_status", tags: "tags", source: "consent_source" },
    ...{ confirm_time: "confirm_time", optin_time: "optin_time", unsub_time: "unsub_time", clean_time: "clean_time" },
  },
};

const YES = ["opted_in", "subscribed", "true", "yes", "1"];
const NO = ["opted_out", "unsubscribed", "false", "no", "0"];

/** The translation of consents: it never invents an opt-in. Null: nothing is said. */
function consentOf(source: string, row: Record<string, string>): { status: string; at: number | null } | null {
  const status = (row.consent_status ?? "").trim().toLowerCase();
  const time = (text: string | undefined) => instant(text?.trim()) ?? null;
  if (source === "platform_a") {
    if (row.suppressions?.trim()) return { status: "suppressed", at: null };
    const at = time(row.consent_at);
    if (status === "unsubscribed") return { status: "opted_out", at };
    const isYes = status === "subscribed" || status === "subscribe";
    return { status: isYes && at !== null ? "opted_in" : "unknown", at };
  }
  if (source === "platform_b") {
    if (row.clean_time?.trim() || status === "cleaned") return { status: "suppressed", at: time(row.clean_time) };
    if (row.unsub_time?.trim() || status === "unsubscribed") return { status: "opted_out", at: time(row.unsub_time) };
    const at = time(row.confirm_time) ?? time(row.optin_time);
    const isNo = status === "nonsubscribed" || status === "transactional";
    return { status: at !== null && !isNo ? "opted_in" : "unknown", at };
  }
  if (status === "") return null;
  const at = time(row.consent_at);
  if (NO.includes(status)) return { status: "opted_out", at };
  return { status: YES.includes(status) && at !== null ? "opted_in" : "unknown", at };
}

/** A row by standard fields, and its attributes. */
function readRow(
  source: string,
  header: string[],
  cells: string[],
  readers: Reader[],
): { fields: Record<string, string>; attributes: Body } {
  const fields: Record<string, string> = {};
  const attributes: Record<string, Body> = {};
  header.forEach((name, index) => {
    const value = cells[index]!.trim();
    const field = ALIASES[source]![name.trim().toLowerCase()];
    if (field) fields[field] = value;
    else if (value !== "") attributes[attributeKey(name)] = readers[index]!(value);
  });
  for (const field of AS_ATTRIBUTES) if (fields[field]) attributes[field] = fields[field];
  if (fields.tags) attributes.tags = fields.tags.split(/[,;]/).map((tag) => tag.trim());
  return { fields, attributes };
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
  const isUsable = header.some((name) =>
    ["external_id", "email"].includes(ALIASES[source]![name.trim().toLowerCase()] ?? ""),
  );
  if (!isUsable || !found(world.lists, job.list_id)) {
    Object.assign(job, { status: "failed", failed: true });
    return;
  }
  job.total_rows = rows.length;
  const whole = rows.filter((cells) => cells.length === header.length);
  const readers = header.map((_, index) => readerOf(whole.map((cells) => cells[index]!.trim())));
  for (const cells of rows) {
    job.processed_rows++;
    const isWhole = cells.length === header.length;
    const { fields, attributes } = isWhole ? readRow(source, header, cells, readers) : { fields: {}, attributes: {} };
    if (faultOf(header, cells, fields)) job.failed_rows++;
    else take(world, job, source, fields, attributes);
  }
  job.status = "completed";
}

function take(world: World, job: Import, source: string, fields: Record<string, string>, attributes: Body): void {
  const external_id = fields.external_id || fields.email!.toLowerCase();
  const known = world.subscribers.find((subscriber) => subscriber.external_id === external_id);
  const subscriber = known ?? createSubscriber(world, external_id);
  if (fields.email) subscriber.email = fields.email;
  Object.assign(subscriber.attributes, attributes);
  subscriber.updated_at = world.now;
  translate(world, job, subscriber, source, fields);
  if (!known) tellCreated(world, subscriber);
  addMember(world, job.list_id, subscriber.id);
  subscriberChanged(world, subscriber);
}

/** Who opted out or is suppressed here stays so: an import never resubscribes anyone. */
function translate(
  world: World,
  job: Import,
  subscriber: Subscriber,
  source: string,
  fields: Record<string, string>,
): void {
  const consent = consentOf(source, fields);
  if (!consent) return;
  const newest = currentConsent(world, subscriber.id, "email");
  const current = newest?.status;
  if (consent.status === "unknown") subscriber.attributes.imported_consent = fields.consent_status;
  if (consent.status === "suppressed" && subscriber.email) {
    const said = { reason: "imported", source: ANY, suppressed_at: consent.at ?? world.now };
    return void suppress(world, fields.email ?? subscriber.email, said);
  }
  if (consent.status === "opted_out" && !fields.external_id)
    optOutAddress(world, fields.email, consent.at ?? job.created_at);
  // An opt-in that is older than what is known changes nothing.
  const isOld = newest !== undefined && newest.consented_at > (consent.at ?? world.now);
  const isOfAddress = consentOfAddress(world, subscriber, "email") !== undefined;
  const isHeld = consent.status === "opted_in" && (isOld || isOfAddress);
  const isKept = isHeld || ((current === "opted_out" || current === "suppressed") && consent.status !== "suppressed");
  if (isKept || consent.status === "unknown") return;
  const evidence = { ip: null, text: null, import_job_id: job.id };
  const status = consent.status === "suppressed" ? "opted_out" : consent.status;
  recordConsent(world, subscriber, { channel: "email", status, consented_at: consent.at ?? world.now, evidence });
}

/** IMP-5 to IMP-7. The text of the file stands in `body.file`. */
function start(world: World, { body }: Request) {
  const bad = (): never => {
    throw new Refusal(400, { code: "BAD_REQUEST" });
  };
  if (!body.listId || body.file === undefined || !isUuid(body.listId)) bad();
  if (body.source !== undefined && !(body.source in ALIASES)) invalid();
  if (!found(world.lists, body.listId)) notFound();
  const job: Import = {
    ...{ id: newId(world, "import"), list_id: body.listId, status: "pending", created_at: world.now },
    ...{ body: { source: body.source, text: body.file }, processed_rows: 0, total_rows: null, failed_rows: 0 },
    ...{ rejected: [], consent_summary: {}, failed: false },
  };
  world.imports.push(job);
  at(world, world.now, () => process(world, job));
  return { status: 202, body: { import_job_id: job.id, status: "pending" } };
}

/** IMP-1, IMP-8. */
function get(world: World, _: Request, { jobId }: Record<string, string>) {
  const job = found(world.imports, jobId) ?? notFound();
  const { id, status, processed_rows, total_rows, failed_rows, failed } = job;
  const error_message = failed ? ANY : ABSENT;
  const rows = failed ? {} : { processed_rows, failed_rows, ...(total_rows !== null && { total_rows }) };
  return { status: 200, body: { import_job_id: id, status, error_message, ...rows } };
}

export const importOperations: Operation[] = [
  write("POST /api/v1/lists/import", "subscribers:write", start),
  read("GET /api/v1/lists/import/:jobId", get),
];
