// Bulk import (IMP, D-CSV, AMB-49, AMB-88, AMB-131 to AMB-133): rows of a file become subscribers, members and consents.
import { type Operation, ok, read, write } from "./access.ts";
import { isSameAddress, optOutAddress } from "./addresses.ts";
import { note } from "./annotations.ts";
import { limitOf, listing } from "./checks.ts";
import { addressChanged, currentConsent, recordConsent } from "./consents.ts";
import { isZone } from "./cron.ts";
import { parseCsv, readerOf } from "./csv.ts";
import { agreeByNumber, refuseNumber, translate } from "./import-outcomes.ts";
import { keepRefusal, readingsOf, refuses } from "./import-refusals.ts";
import { e164, faultOf, fieldOf, isOfNumbers, OF_PRESET, type Row, readRow } from "./import-rows.ts";
import { takeChoice, topicColumn, unknownTopics } from "./import-topics.ts";
import {
  ABSENT,
  ANY,
  type Body,
  conflict,
  DAY,
  invalid,
  iso,
  isUuid,
  notFound,
  Refusal,
  type Request,
  sorted,
  Unordered,
  Unpromised,
} from "./kit.ts";
import { addUnasked, isMember } from "./lists.ts";
import { createSubscriber, tellCreated } from "./people.ts";
import type { Import, Subscriber } from "./records/people.ts";
import { subscriberChanged } from "./segments.ts";
import { at, createWorld, existing, found, newId, type World } from "./world.ts";

/** AMB-133: E.164, by the region of the job; what cannot be read stays as it is. */
function readPhone(job: Import, attributes: Body): void {
  const text: string | undefined = attributes.phone;
  if (text === undefined) return;
  const read = e164(text, job.body.phone_region);
  const ofNumber = read === text ? "kept" : "converted";
  const kind = read === null ? "unreadable" : ofNumber;
  job.phone_summary[kind]!++;
  if (read !== null) attributes.phone = read;
}

/** AMB-88: of at most 100 further columns that hold something, unless the others are left out. */
function hasTooMany(world: World, job: Import, header: string[], rows: string[][]): boolean {
  const mapping = JSON.parse(job.body.mapping ?? "{}");
  const isFurther = (name: string, n: number) =>
    fieldOf(job.body.source ?? "csv", name) === undefined &&
    topicColumn(world, job, name) === undefined &&
    (rows.length === 0 || rows.some((cells) => (cells[n] ?? "").trim() !== ""));
  return mapping["*"] === undefined && header.filter(isFurther).length > 100;
}

/** So many rows are taken at once, and so much time passes between them. */
const [BATCH_ROWS, BATCH_MS] = [100, 100];

/** IMP-2 to IMP-4, IMP-13, AMB-49, AMB-107. */
function process(world: World, job: Import): void {
  const rows = take(isRehearsal(job) ? apart(world) : world, job);
  if (rows === undefined) return;
  const batches = Math.ceil(rows / BATCH_ROWS);
  at(world, world.now + BATCH_MS * Math.max(batches - 1, 0), () => {
    job.status = "completed";
    if (!isRehearsal(job)) note(world, "import_completed", job.id);
  });
}

const isRehearsal = ({ body }: Import): boolean => body.dry_run === "true";

/** F13: a dry run does all of it to people and lists of its own. */
function apart(world: World): World {
  const { settings, plan, subscribers, consents, addresses, devices, lists, memberships, topics } = world;
  // A clone of symbols is none: this is a copy, whatever its order.
  const people = sorted({ subscribers, consents, addresses, devices, lists, memberships, topics });
  return { ...createWorld(world.now, world.bucket), ...people, settings, plan, made: { ...world.made } };
}

/** @returns how many rows the file has; undefined: none is taken */
function take(world: World, job: Import): number | undefined {
  const { source = "csv", text } = job.body;
  const [header = [], ...rows] = parseCsv(text);
  const isNamed = header.some((name) => ["external_id", "email"].includes(fieldOf(source, name) ?? ""));
  const isUsable = isNamed || isOfNumbers(job, header, []);
  if (!isUsable || hasTooMany(world, job, header, rows) || !found(world.lists, job.list_id)) {
    Object.assign(job, { status: "failed", failed: true });
    return undefined;
  }
  job.total_rows = rows.length;
  job.unknown_topics = unknownTopics(world, job, header);
  const whole = rows.filter((cells) => cells.length === header.length);
  const readers = header.map((_, index) => readerOf(whole.map((cells) => cells[index]!.trim())));
  const read = (cells: string[]) => readRow(world, job, { header, readers, whole }, cells);
  const isFaulty = (cells: string[]) => cells.length !== header.length || faultOf(cells, read(cells)) !== null;
  job.processed_rows = rows.length;
  const lines = linesOf(text);
  const places = rows.flatMap((cells, n) => (isFaulty(cells) ? [] : [n]));
  const good = places.map((n) => read(rows[n]!));
  const batchOf = new Map(good.map((row, n) => [row, Math.floor(places[n]! / BATCH_ROWS)]));
  // Who is new is there before what rejected rows refuse is kept, and is told of as the rows of its first batch say.
  const made = new Set<string>();
  for (const row of good) {
    if (world.subscribers.some(({ external_id }) => external_id === nameOf(row))) continue;
    made.add(nameOf(row));
    const own = ofSamePerson(good, row);
    const first = own.filter((one) => batchOf.get(one) === batchOf.get(row));
    const subscriber = createSubscriber(world, nameOf(row));
    give(world, job, subscriber, first);
    tellCreated(world, subscriber);
    give(world, job, subscriber, own.slice(first.length));
  }
  for (const [n, cells] of rows.entries()) {
    if (!isFaulty(cells)) continue;
    job.rejected.push(lines[n]!);
    const refusal = readingsOf(job, header, whole, cells)
      .map(read)
      .find((row) => refuses(job, row));
    if (refusal) keepRefusal(world, job, refusal);
  }
  const taken = new Map<Subscriber, boolean>();
  for (const row of good) {
    const own = ofSamePerson(good, row);
    const isMade = made.has(nameOf(row)) || own[0] !== row;
    const { subscriber, isProven } = takeRow(world, job, row, { own, isMade });
    subscriber.updated_at = world.now + BATCH_MS * batchOf.get(row)!;
    taken.set(subscriber, isProven || taken.get(subscriber) === true);
  }
  for (const [subscriber, isProven] of taken) {
    join(world, job, subscriber, isProven);
    const isQuiet = job.body.start_journeys === "false";
    if (isQuiet) subscriber.quiet_at = subscriber.updated_at;
    subscriberChanged(world, subscriber, isQuiet ? "imported" : "all");
  }
  job.created = made.size;
  return rows.length;
}

/** Of each row its line in the file; no cell of a program has two. */
const linesOf = (text: string): number[] =>
  text
    .split(/\r?\n/)
    .flatMap((line, n) => (/^[\s,;"]*$/.test(line) ? [] : [n + 1]))
    .slice(1);

const nameOf = ({ fields, number }: Row): string => fields.external_id || fields.email?.toLowerCase() || number!.key!;

/** Rows of one person are one profile, in which the later value counts; each says of consent what it says (D-CSV). */
function give(world: World, job: Import, subscriber: Subscriber, own: Row[]): void {
  const before = subscriber.email;
  for (const { fields, attributes } of own) {
    if (fields.email) subscriber.email = fields.email;
    readPhone(job, attributes);
    Object.assign(subscriber.attributes, attributes);
  }
  subscriber.updated_at = world.now;
  addressChanged(world, subscriber, before);
}

const ofSamePerson = (rows: Row[], row: Row): Row[] => rows.filter((other) => nameOf(other) === nameOf(row));

/**
 * @param of.own the rows of its person
 * @param of.isMade its profile is as they leave it
 */
function takeRow(
  world: World,
  job: Import,
  row: Row,
  { own, isMade }: { own: Row[]; isMade: boolean },
): { subscriber: Subscriber; isProven: boolean } {
  const { fields, said, isNumberRefused, number, choices } = row;
  const subscriber = world.subscribers.find(({ external_id }) => external_id === nameOf(row))!;
  if (!isMade) give(world, job, subscriber, own);
  const named = own.slice(0, own.indexOf(row) + 1).findLast(({ fields: { email } }) => email)?.fields.email;
  const isLeft = own.some(({ fields: { email } }) => email) && !isSameAddress(named, subscriber.email);
  const outcome = said ? translate(world, job, subscriber, fields, said, { named, isLeft }) : null;
  if (outcome) job.consent_summary[outcome]!++;
  if (isNumberRefused) refuseNumber(world, job, subscriber, said);
  if (isNumberRefused && number)
    optOutAddress(world, number.key, Math.min(said?.at ?? job.created_at, job.created_at), "sms");
  const agreed = number?.agreed ?? row.ofTexts;
  if (agreed?.status === "opted_in") agreeByNumber(world, job, subscriber, fields, agreed);
  for (const choice of choices) takeChoice(world, job, subscriber, choice);
  // The proof is of the address of the row (docs/decisions/0101-the-confirmed-opt-in.md).
  return { subscriber, isProven: outcome === "opted_in" && Boolean(fields.email) && !isLeft };
}

/** A list that asks takes people who have proven a consent and still agree. Which of the others it asks is left open. */
function join(world: World, { id, list_id }: Import, subscriber: Subscriber, isProven: boolean): void {
  if (isMember(world, list_id, subscriber.id)) return;
  const asks = found(world.lists, list_id)!.double_opt_in;
  const agrees = currentConsent(world, subscriber.id, "email")?.status === "opted_in";
  if (asks && !(isProven && agrees)) throw new Unpromised("who of a file is asked to confirm");
  const channel = `list:${list_id}`;
  if (asks && currentConsent(world, subscriber.id, channel)?.status !== "opted_in") {
    const said = { channel, status: "opted_in", consented_at: world.now, source: ANY, import_job_id: id };
    recordConsent(world, subscriber, said);
  }
  const unasked = { channel, status: "unknown", consented_at: world.now, source: ANY, import_job_id: id };
  addUnasked(world, list_id, subscriber, unasked);
}

const SUMMARY = ["opted_in", "opted_out", "unknown", "unchanged", "suppressed", "yes_without_time", "future"];

/** IMP-5 to IMP-7. The text of the file stands in `body.file`. */
function start(world: World, { body }: Request) {
  const bad = (): never => {
    throw new Refusal(400, { code: "BAD_REQUEST" });
  };
  if (!body.listId || body.file === undefined || !isUuid(body.listId)) bad();
  if (body.source !== undefined && !(body.source in OF_PRESET)) invalid();
  if (!["true", "false", undefined].includes(body.dry_run)) invalid("dry_run");
  if (body.time_zone !== undefined && !isZone(body.time_zone)) invalid("time_zone");
  if (!found(world.lists, body.listId)) notFound();
  const job: Import = {
    ...{ id: newId(world, "import"), list_id: body.listId, status: "pending", created_at: world.now },
    ...{ body: { ...body, text: body.file }, processed_rows: 0, total_rows: null, rejected: [] },
    consent_summary: Object.fromEntries(SUMMARY.map((name) => [name, 0])),
    ...{ phone_summary: { kept: 0, converted: 0, unreadable: 0 }, failed: false, created: 0, suppresses: [] },
    ...{ topic_summary: {}, unknown_topics: [] },
  };
  world.imports.push(job);
  at(world, world.now, () => process(world, job));
  const dry_run = isRehearsal(job) || ABSENT;
  return { status: 202, body: { import_job_id: job.id, status: "pending", dry_run } };
}

/** So long a job can be read. */
const KEPT = 30 * DAY;

const isKept =
  ({ now }: World) =>
  ({ created_at }: Import) =>
    now < created_at + KEPT;

/** IMP-1, IMP-8. */
function record(world: World, job: Import): Body {
  const { id, status, processed_rows, total_rows, rejected, failed } = job;
  const error_message = failed ? ANY : ABSENT;
  const { consent_summary, phone_summary, topic_summary } = job;
  const unknown_topics = new Unordered(job.unknown_topics);
  const counted = {
    processed_rows,
    failed_rows: rejected.length,
    pending_rows: 0,
    consent_summary,
    phone_summary,
    topic_summary,
    unknown_topics,
    new_subscribers: isRehearsal(job) ? job.created : ABSENT,
  };
  const rows = failed ? {} : { ...counted, ...(total_rows !== null && { total_rows }) };
  const list = { id: job.list_id, name: found(world.lists, job.list_id)?.name ?? null };
  const about = { list, created_at: iso(job.created_at), dry_run: isRehearsal(job) };
  return { import_job_id: id, status, error_message, ...about, ...rows };
}

const SHOWN_REJECTED = 20;

/** IMP-3: with the lines of its first rejected rows, which go with the people they name. */
function get(world: World, _: Request, { jobId }: Record<string, string>) {
  const job = world.imports.filter(isKept(world)).find(({ id }) => id === jobId) ?? notFound();
  const shown = job.rejected.slice(0, SHOWN_REJECTED).map((line) => ({ line }));
  const isErased = (world.made.sub ?? 0) > world.subscribers.length;
  return ok({ ...record(world, job), ...(!job.failed && { rejected_sample: isErased ? ANY : shown }) });
}

/** What is over is not canceled. Programs have no file that is longer under way than their command. */
function cancel(world: World, _: Request, { jobId }: Record<string, string>) {
  existing(world.imports.filter(isKept(world)), jobId);
  return conflict();
}

export const importOperations: Operation[] = [
  write("POST /api/v1/lists/import", "subscribers:write", start),
  write("POST /api/v1/lists/import/:jobId/cancel", "subscribers:write", cancel),
  read("GET /api/v1/lists/import", (world, request) =>
    listing(
      "items",
      new Unordered(world.imports.filter(isKept(world)).map((job) => record(world, job))),
      limitOf(request, 20, 100),
    ),
  ),
  read("GET /api/v1/lists/import/:jobId", get),
];
