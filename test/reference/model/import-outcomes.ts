// What a row of an import does to the consents of its person.
import { addressOf, consentOfAddress, optOutAddress, suppress } from "./addresses.ts";
import { asks, currentConsent, recordConsent } from "./consents.ts";
import { parseCsv } from "./csv.ts";
import type { ConsentStatement } from "./import-consents.ts";
import { ANY, type Body, MINUTE, Unpromised } from "./kit.ts";
import type { Import, Subscriber } from "./records/people.ts";
import { at, type World } from "./world.ts";

/** Whether another row of the file is of the same person. */
const isAgain = (job: Import, { external_id, email }: Body): boolean =>
  parseCsv(job.body.text).filter((cells) => cells.includes(external_id || email)).length > 1;

/**
 * Who opted out or is suppressed here stays so: an import never resubscribes anyone. AMB-131: a time that is ahead proves
 * nothing, and an opt-out counts from the job on.
 * @param of.named the address that this row or one before it gives its person
 * @param of.isLeft the file gives its person another one
 * @returns what it did, as the job counts it
 */
export function translate(
  world: World,
  job: Import,
  subscriber: Subscriber,
  fields: Body,
  said: ConsentStatement,
  { named = fields.email, isLeft = false }: { named?: string | undefined; isLeft?: boolean } = {},
): string {
  const isAhead = said.at !== null && said.at > job.created_at + 5 * MINUTE;
  const time = said.at && Math.min(said.at, job.created_at);
  const isFuture = isAhead && said.status === "opted_in";
  const status = isFuture || said.status === "yes_without_time" ? "unknown" : said.status;
  if (said.status === "yes_without_time") job.consent_summary.yes_without_time!++;
  if (isFuture) job.consent_summary.future!++;
  if (status === "unknown") {
    if (said.kept) subscriber.attributes.imported_consent = said.kept;
    return "unknown";
  }
  const newest = currentConsent(world, subscriber.id, "email");
  if (status === "suppressed" && !fields.email && isAgain(job, fields))
    throw new Unpromised("which address of several rows has bounced");
  const address = named || subscriber.email;
  if (status === "suppressed" && address) {
    const before = addressOf(world, address);
    const reason = before?.reason;
    // The same file again says what is known.
    const isSame = before?.reason === "imported" && before.suppressed_at === time;
    const imported = { reason: "imported", source: ANY, suppressed_at: time ?? world.now };
    const row = suppress(world, address, imported, said.at);
    if (row && row.reason !== reason) job.suppresses.push(row.key);
    return row && (isSame || job.suppresses.includes(row.key)) ? "suppressed" : "unchanged";
  }
  if (status === "opted_out" && fields.email && (!fields.external_id || isLeft))
    optOutAddress(world, fields.email, time ?? job.created_at);
  // An opt-in that is older than what is known changes nothing.
  const isOld = newest !== undefined && newest.consented_at > (time ?? world.now);
  const isOfAddress = consentOfAddress(world, { ...subscriber, email: address }, "email") !== undefined;
  const isHeld = status === "opted_in" && (isOld || isOfAddress);
  if (isHeld || newest?.status === "opted_out") return "unchanged";
  // A proof is of the address of its row: the owner of another one is asked, unless who it is had agreed before.
  const isAsked = status === "opted_in" && isLeft && newest?.status !== status && asks(world, "email");
  const agreed = isAsked ? "pending" : status;
  // The same file again changes nothing.
  if (status === "opted_in" && newest?.status === agreed && newest.consented_at === time) return status;
  const own = status === "suppressed" ? "opted_out" : agreed;
  const source = fields.consent_source || job.body.consent_source || ANY;
  const consent = { channel: "email", status: own, consented_at: time ?? world.now, source, import_job_id: job.id };
  const row = recordConsent(world, subscriber, consent, !isLeft);
  if (isAsked) at(world, world.now, () => world.askOwner(subscriber, row));
  return isAsked ? status : own;
}

/** What a row without an address of mail refuses for its number too. */
export function refuseNumber(world: World, job: Import, subscriber: Subscriber, said: ConsentStatement | null): void {
  if (currentConsent(world, subscriber.id, "sms")?.status === "opted_out") return;
  const consented_at = said?.at ? Math.min(said.at, job.created_at) : job.created_at;
  const refusal = { channel: "sms", status: "opted_out", consented_at, source: ANY, import_job_id: job.id };
  recordConsent(world, subscriber, refusal);
}

/** Only by a time, later than what is known; no import reverts an opt-out, of the person or of the number. */
export function agreeByNumber(
  world: World,
  job: Import,
  subscriber: Subscriber,
  fields: Body,
  { at }: ConsentStatement,
): void {
  const known = currentConsent(world, subscriber.id, "sms");
  const isAhead = at === null || at > job.created_at + 5 * MINUTE;
  const isHeld = known?.status === "opted_out" || consentOfAddress(world, subscriber, "sms", undefined) !== undefined;
  if (isAhead || isHeld || (known && known.consented_at >= at)) return;
  const consented_at = Math.min(at, job.created_at);
  const source = fields.consent_source || job.body.consent_source || ANY;
  const said = { channel: "sms", status: "opted_in", consented_at, source, import_job_id: job.id };
  recordConsent(world, subscriber, said);
}
