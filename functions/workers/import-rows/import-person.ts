// Stores one person of a batch, and the consents in each of its rows. Invalid rows are rejected with their reason, and
// their refusals are kept.
import { ApiError } from "../../../shared/kernel/errors.ts";
import { normalizedAddress } from "../../../shared/rules/addresses.ts";
import { type OtherChannel, otherChannels } from "../../../shared/rules/import-mapping.ts";
import { type Refusals, refusalsIn, refusesNothing, withAddresses } from "../../../shared/rules/import-refusals.ts";
import { listChannelOf } from "../../../shared/rules/list-consents.ts";
import { heldNumber } from "../../../shared/store/subscribers/addresses.ts";
import { recordOfContacts, recordRefusals } from "../../../shared/store/subscribers/import-refusals.ts";
import { recordImportedChoices, recordImportedConsent } from "../../../shared/store/subscribers/imported-consents.ts";
import type { ImportJob } from "../../../shared/store/subscribers/imports.ts";
import type { ProfileRow } from "../../../shared/store/subscribers/items.ts";
import { attributesOf, ErasedSince, upsertSubscriber } from "../../../shared/store/subscribers/subscribers.ts";
import type { WorkerContext } from "./context.ts";
import type { Person, PersonRow } from "./persons.ts";
import { type BatchRefusals, fromRow, givenBy } from "./refusing.ts";
import type { Tally } from "./tally.ts";

export interface NewSubscribers {
  /** External ids that may become new subscribers: as many new ones as there is room for. */
  allowed: ReadonlySet<string>;
  /** The ids of those that were created, by their external ids. */
  created: ReadonlyMap<string, string>;
}

/** The persons of a batch are taken one by one, with the knowledge about all of them. */
export interface Batch extends NewSubscribers {
  context: WorkerContext;
  job: ImportJob;
  asks: ReadonlySet<string>;
  tally: Tally;
  /** Addresses that are suppressed or opted out. */
  heldMails: ReadonlySet<string>;
  /** The number of each person that agrees to a channel that sends to it, by external id. */
  numberOf: ReadonlyMap<string, string>;
  /** Numbers that are suppressed or opted out, by channel and number. */
  heldNumbers: ReadonlySet<string>;
  refused: BatchRefusals;
}

export const agreesToMail = ({ row }: PersonRow): boolean => row.consent?.status === "opted_in";

/**
 * Whether a row says that its person agreed to mail at their present address. A list with double opt-in then asks no
 * confirmation.
 */
const provesConsent = (rows: readonly PersonRow[]): boolean => rows.some((row) => agreesToMail(row) && !row.isLeft);

/**
 * Whether the rows of a person make it a member. A list with double opt-in needs an earlier confirmation, or a proof of
 * consent that holds.
 */
export function joinsList(
  { list, asks }: { list: string; asks: ReadonlySet<string> },
  { consents, email }: { consents: Partial<ProfileRow>; email?: string | undefined },
  rows: readonly PersonRow[],
): boolean {
  const channel = listChannelOf(list);
  if (!asks.has(channel) || consents[`c:${channel}`] === "opted_in") return true;
  return provesConsent(rows) && consents["c:email"] === "opted_in" && normalizedAddress("email", email) !== undefined;
}

export interface Member {
  id: string;
  /** A row says that the person agreed to mail at their present address. */
  isProven: boolean;
  /** How many rows of the batch name it. */
  rows: number;
}

/** Stores a person and the consents of its rows. @returns undefined if there is no such subscriber */
export async function importPerson(batch: Batch, { profile, rows }: Person): Promise<Member | undefined> {
  const { context, job, allowed, created } = batch;
  const { store, secrets } = context;
  const left = [...rows];
  let member: Member | undefined;
  try {
    const cap = { mayCreate: allowed.has(profile.external_id), saidAt: job.created_at };
    const isProven = provesConsent(rows);
    const packed = created.get(profile.external_id);
    const id = packed ?? (await upsertSubscriber(store, await secrets.root(), profile, cap)).id;
    if (packed === undefined && cap.mayCreate) await refuseOf(batch, profile.external_id);
    member = { id, isProven, rows: rows.length };
    for (const row of rows) {
      await takeRow(batch, id, row);
      left.shift();
    }
  } catch (error) {
    await rejectRows(batch, { profile, rows: left }, error);
  }
  return member;
}

/** A person who was erased before, or is too large for a pack, did not exist when the refusal was recorded. */
async function refuseOf({ context, refused }: Batch, external_id: string): Promise<void> {
  const root = await context.secrets.root();
  for (const { from, refusals } of refused.refusing)
    if (refusals.external_id === external_id) await recordRefusals(context.store, root, from, refusals);
}

async function takeRow(batch: Batch, id: string, row: PersonRow): Promise<void> {
  const { context, job, asks, tally, heldMails, numberOf, heldNumbers } = batch;
  const { store } = context;
  const { email, heldBefore, isOfAddress, isLeft, record } = row;
  const { external_id, consent, choices, isByAddress } = row.row;
  const from = { ...fromRow(job, record, asks), isLeft };
  tally.countRow(row);
  if (consent) {
    const address = { email, isByAddress: isOfAddress, held: heldMails, isHeldBefore: heldBefore.has("email") };
    const outcome = await recordImportedConsent(store, id, from, consent, address);
    tally.taken.consents[outcome]++;
  }
  const number = numberOf.get(external_id);
  const isHeld = (channel: OtherChannel) =>
    heldBefore.has(channel) || (number !== undefined && heldNumbers.has(heldNumber(channel, number)));
  const heldChannels = new Set<string>(otherChannels.filter(isHeld));
  const outcomes = await recordImportedChoices(store, id, from, choices, heldChannels);
  tally.countChoices(outcomes);
  await recordOfContacts(store, from, refusalsIn(row.row), isByAddress);
}

/** Rejects the invalid rows of a person, and keeps their refusals. @throws an error that is not a refusal */
async function rejectRows(batch: Batch, person: Person, error: unknown): Promise<void> {
  const { context, job, asks, tally, refused } = batch;
  const { rows } = person;
  const { store, secrets } = context;
  if (error instanceof ErasedSince) return leaveOut(batch, error.profile, rows);
  if (!(error instanceof ApiError)) throw error;
  const reason = error.code === "QUOTA_EXCEEDED" ? "quota" : error.message;
  const root = await secrets.root();
  for (const { row, email, record } of rows) {
    const refusals = withAddresses({ ...refusalsIn(row), email }, givenBy(person));
    // A row of a later batch may refuse something, and identify the person only by external id.
    const recorded = refused.mayRefuse
      ? await recordRefusals(store, root, fromRow(job, record, asks), refusals, refused.given(refusals.external_id))
      : undefined;
    tally.reject(record, reason, recorded?.kept);
  }
}

const ERASED = "names somebody who was erased after the import began";

/** Leaves out a person who was erased since. Only the file's refusals for the address are kept. */
async function leaveOut(
  { context, job, asks, tally }: Batch,
  erased: ProfileRow,
  rows: readonly PersonRow[],
): Promise<void> {
  const { store, secrets } = context;
  for (const { row, record } of rows) {
    const refusals = refusalsOfAddress(refusalsIn(row), erased);
    if (!refusesNothing(refusals))
      await recordRefusals(store, await secrets.root(), fromRow(job, record, asks), refusals);
    tally.reject({ ...record, cells: [] }, ERASED);
  }
}

/** The refusals for the address of an erased profile. The erasure removes their text from the row. */
function refusalsOfAddress({ email, phone, numbers, consent, choices }: Refusals, erased: ProfileRow): Refusals {
  const isOwn = (kind: "email" | "phone", text: string | undefined, current: unknown) =>
    text !== undefined && normalizedAddress(kind, text) === normalizedAddress(kind, current);
  const isMail = isOwn("email", email, erased.email);
  const isNumber = isOwn("phone", phone, attributesOf(erased).phone);
  return {
    ...(isMail && { email, consent }),
    ...(isNumber && { phone }),
    numbers: Object.fromEntries(
      otherChannels.map((channel) => [
        channel,
        (numbers[channel] ?? []).filter((number) => isNumber && number === phone),
      ]),
    ),
    choices: isNumber ? choices : {},
  };
}
