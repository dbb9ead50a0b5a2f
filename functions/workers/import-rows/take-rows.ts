// Imports a batch of rows as subscribers, members and consents. Rejected rows are counted with their reasons.
import { ApiError } from "../../../shared/kernel/errors.ts";
import { normalizedAddress } from "../../../shared/rules/addresses.ts";
import { chunksOf } from "../../../shared/rules/chunks.ts";
import type { Columns } from "../../../shared/rules/import-columns.ts";
import { type OtherChannel, otherChannels } from "../../../shared/rules/import-mapping.ts";
import { type Refusals, refusalsIn, refusalsOf, refusesNothing } from "../../../shared/rules/import-refusals.ts";
import { readRow } from "../../../shared/rules/import-rows.ts";
import type { Record } from "../../../shared/store/files/records.ts";
import { idKeys } from "../../../shared/store/item.ts";
import { enterWithPack } from "../../../shared/store/lists/imported-members.ts";
import { joinList } from "../../../shared/store/lists/joining.ts";
import { addMembers } from "../../../shared/store/lists/lists.ts";
import { heldAddresses, heldNumber, heldNumbers } from "../../../shared/store/subscribers/addresses.ts";
import {
  createWithPack,
  type ImportPackRef,
  openPack,
  sealPack,
} from "../../../shared/store/subscribers/import-packs.ts";
import { recordOfContacts, recordRefusals } from "../../../shared/store/subscribers/import-refusals.ts";
import {
  type ImportedFrom,
  recordImportedChoices,
  recordImportedConsent,
} from "../../../shared/store/subscribers/imported-consents.ts";
import { type ImportJob, readingOf } from "../../../shared/store/subscribers/imports.ts";
import { Profile, type ProfileRow } from "../../../shared/store/subscribers/items.ts";
import {
  attributesOf,
  ErasedSince,
  type LivingProfile,
  living,
  profileOfExternalId,
  subscriberId,
  upsertSubscriber,
} from "../../../shared/store/subscribers/subscribers.ts";
import type { WorkerContext } from "./context.ts";
import { type GoodRow, type Known, type Person, type PersonRow, personsOf } from "./persons.ts";
import { type Rehearsal, rehearse } from "./rehearse.ts";
import { KEPT, openTally, type Taken, type Tally } from "./tally.ts";

/** Upserts that run at once. */
const MAX_CONCURRENT = 25;

/** How the rows of a file are taken. */
export interface FileReading {
  columns: Columns;
  /** What is agreed to only once the owner of the address confirms: `email`, `topic:news`. */
  asks: ReadonlySet<string>;
  /** What the rows so far would do, where nothing is written. */
  rehearsal: Rehearsal;
}

/** Imports the rows of a batch; a dry run only counts what they would do. @param room the most subscribers to create */
export async function takeRows(
  context: WorkerContext,
  job: ImportJob,
  { columns, asks, rehearsal }: FileReading,
  { batch, room }: { batch: readonly Record[]; room: number },
): Promise<Taken> {
  const tally = openTally(job);
  const { good: rows, refused } = readBatch(job, columns, batch, tally.reject);
  if (job.dry_run) {
    const refusing = refused.map(({ refusals }) => refusals);
    await rehearse(context, { created_at: job.created_at, asks }, rehearsal, { rows, refusing, room }, tally);
    return tally.taken;
  }
  const root = await context.secrets.root();
  const heldMails: string[] = [];
  for (const { record, refusals } of refused) {
    const held = await recordRefusals(context.store, root, fromRow(job, record, asks), refusals);
    if (held !== undefined) heldMails.push(held);
  }
  await importEach(context, { job, asks, room, heldMails }, tally, rows);
  return tally.taken;
}

async function importEach(
  context: WorkerContext,
  {
    job,
    asks,
    room,
    heldMails,
  }: { job: ImportJob; asks: ReadonlySet<string>; room: number; heldMails: readonly string[] },
  { taken, reject, countRow, countChoices }: Tally,
  good: readonly GoodRow[],
): Promise<void> {
  const { store, secrets } = context;
  const root = await secrets.root();
  const names = [...new Set(good.map(({ row }) => row.external_id))];
  const ids = names.map((name) => subscriberId(root, store.tenant, name, 0));
  const pack = await openPack(store, job, ids);
  const profiles = await store.getAll(Profile, idKeys(ids));
  const knownOf = await addressesOf(context, names, profiles);
  const persons = personsOf(good, job.start_journeys === false, knownOf);
  const { allowed, created } = await createNew(context, pack, { persons, ids, profiles }, room);
  taken.created = allowed.size;
  const agreeing = persons.flatMap(({ rows }) => rows.filter(({ row }) => row.consent?.status === "opted_in"));
  const emails = agreeing.flatMap(({ email }) => email ?? []);
  // What was written just now may not be read yet.
  const held = new Set([...heldMails, ...(await heldAddresses(store, emails))]);
  const numberOf = numbersOf(persons, knownOf);
  const numbers = await heldNumbers(store, [...new Set(numberOf.values())]);

  const members: string[] = [];
  const proven = new Set<string>();
  const takeRow = async (
    id: string,
    number: string | undefined,
    { email, heldBefore, isOfAddress, isLeft, ...good }: PersonRow,
  ) => {
    const { consent, choices, isByAddress } = good.row;
    const from = { ...fromRow(job, good.record, asks), isLeft };
    countRow(good);
    if (consent) {
      const address = { email, isByAddress: isOfAddress, held, isHeldBefore: heldBefore.has("email") };
      taken.consents[await recordImportedConsent(store, id, from, consent, address)]++;
    }
    const isHeld = (channel: OtherChannel) =>
      heldBefore.has(channel) || (number !== undefined && numbers.has(heldNumber(channel, number)));
    const heldChannels = new Set<string>(otherChannels.filter(isHeld));
    countChoices(await recordImportedChoices(store, id, from, choices, heldChannels));
    await recordOfContacts(store, from, refusalsIn(good.row), isByAddress);
  };
  const importOne = async ({ profile, rows }: Person) => {
    const left = [...rows];
    try {
      const cap = { mayCreate: allowed.has(profile.external_id), saidAt: job.created_at };
      const id = created.get(profile.external_id) ?? (await upsertSubscriber(store, root, profile, cap)).id;
      members.push(id);
      if (rows.some(({ row, isLeft }) => row.consent?.status === "opted_in" && !isLeft)) proven.add(id);
      for (const row of rows) {
        await takeRow(id, numberOf.get(profile.external_id), row);
        left.shift();
      }
    } catch (error) {
      if (error instanceof ErasedSince) return leaveOut(context, { job, asks, reject }, error.profile, left);
      if (!(error instanceof ApiError)) throw error;
      const reason = error.code === "QUOTA_EXCEEDED" ? "quota" : error.message;
      for (const { row, email, record } of left) {
        const refusals = { ...refusalsIn(row), email };
        if (!refusesNothing(refusals)) await recordRefusals(store, root, fromRow(job, record, asks), refusals);
        reject(record, refusesNothing(refusals) ? reason : reason + KEPT);
      }
    }
  };
  for (const some of chunksOf(persons, MAX_CONCURRENT)) await Promise.all(some.map(importOne));
  const entered: string[] = [];
  const inPack = new Set(ids);
  const add = async (some: readonly string[]) => {
    const known = some.filter((id) => inPack.has(id));
    entered.push(...(await enterWithPack(store, pack, known)));
    const added = { added: entered.length, already_member: known.length - entered.length, not_found: [] };
    // Where somebody with the external id was erased before, the id is another one.
    const others = some.filter((id) => !inPack.has(id));
    return others.length > 0 ? addMembers(store, job.list, others) : added;
  };
  await joinList(store, job.list, members, { source: "import", import_job_id: job.id, proven, isRepeat: true, add });
  await sealPack(store, pack, { created: [...created.values()], entered });
}

const ERASED = "names somebody who was erased after the import began";

/** What the file says of somebody who was erased since is kept nowhere, but for what it refuses for the address. */
async function leaveOut(
  { store, secrets }: WorkerContext,
  { job, asks, reject }: { job: ImportJob; asks: ReadonlySet<string>; reject: Tally["reject"] },
  erased: ProfileRow,
  rows: readonly PersonRow[],
): Promise<void> {
  for (const { row, record } of rows) {
    const refusals = refusalsOfAddress(refusalsIn(row), erased);
    if (!refusesNothing(refusals))
      await recordRefusals(store, await secrets.root(), fromRow(job, record, asks), refusals);
    reject({ ...record, cells: [] }, ERASED);
  }
}

/** As far as the address is one of the erased profile: the erasure takes its text out of the row. */
function refusalsOfAddress({ email, phone, consent, choices }: Refusals, erased: ProfileRow): Refusals {
  const isOwn = (kind: "email" | "phone", text: string | undefined, own: unknown) =>
    text !== undefined && normalizedAddress(kind, text) === normalizedAddress(kind, own);
  const isMail = isOwn("email", email, erased.email);
  const isNumber = isOwn("phone", phone, attributesOf(erased).phone);
  return {
    ...(isMail && { email, consent }),
    ...(isNumber && { phone }),
    choices: isNumber ? choices : {},
  };
}

const fromRow = (job: ImportJob, { line }: Record, asks: ReadonlySet<string>): ImportedFrom => ({
  job: job.id,
  created_at: job.created_at,
  line: job.line + line,
  asks,
});

interface ReadBatch {
  good: GoodRow[];
  /** What rows refuse that cannot be read. */
  refused: { record: Record; refusals: Refusals }[];
}

function readBatch(
  job: ImportJob,
  columns: Columns,
  batch: readonly Record[],
  reject: (record: Record, reason: string) => void,
): ReadBatch {
  const reading = readingOf(job);
  const read: ReadBatch = { good: [], refused: [] };
  for (const record of batch) {
    const row = readRow(columns, record.cells, reading);
    if (row.kind === "row") {
      read.good.push({ row: row.row, record });
      continue;
    }
    const refusals = refusalsOf(columns, record.cells, reading);
    if (refusals) read.refused.push({ record, refusals });
    reject(record, refusals ? row.problem + KEPT : row.problem);
  }
  return read;
}

/** Of those who were there, the addresses by their external ids. Who was erased may have come again. */
async function addressesOf(
  { store, secrets }: WorkerContext,
  names: readonly string[],
  profiles: readonly (ProfileRow | undefined)[],
): Promise<(external_id: string) => Known | undefined> {
  const root = await secrets.root();
  const people = new Map<string, LivingProfile>();
  for (const [i, name] of names.entries()) {
    const first = profiles[i];
    const known = living(first) ?? (first && (await profileOfExternalId(store, root, name)));
    if (known) people.set(name, known);
  }
  return (name) => {
    const known = people.get(name);
    return known && { email: known.email, phone: attributesOf(known).phone };
  };
}

/** By the external id, the number of each person of whom a row agrees to a channel that sends to it. */
function numbersOf(
  persons: readonly Person[],
  knownOf: (external_id: string) => Known | undefined,
): ReadonlyMap<string, string> {
  const agrees = ({ rows }: Person) =>
    rows.some(({ row }) => otherChannels.some((channel) => row.choices[channel]?.status === "opted_in"));
  const found = persons.filter(agrees).flatMap(({ profile: { external_id, attributes } }) => {
    const number = normalizedAddress("phone", attributes.phone ?? knownOf(external_id)?.phone);
    return number === undefined ? [] : [[external_id, number] as const];
  });
  return new Map(found);
}

interface NewOnes {
  /** The external ids that may become new subscribers: all if there is room for all, else the first new ones. */
  allowed: ReadonlySet<string>;
  /** The ids of those that were created, by their external ids. */
  created: ReadonlyMap<string, string>;
}

/** Creates the subscribers that are not known yet. What was erased or is created meanwhile is left out. */
async function createNew(
  { store }: WorkerContext,
  pack: ImportPackRef,
  {
    persons,
    ids,
    profiles,
  }: { persons: readonly Person[]; ids: readonly string[]; profiles: readonly (ProfileRow | undefined)[] },
  room: number,
): Promise<NewOnes> {
  const inputs = persons.map(({ profile }) => profile);
  const fresh =
    inputs.length <= room ? inputs : inputs.filter((_, i) => !living(profiles[i])).slice(0, Math.max(0, room));
  const allowed = new Set(fresh.map(({ external_id }) => external_id));
  const unknown = inputs.flatMap((input, i) =>
    profiles[i] || !allowed.has(input.external_id) ? [] : [{ id: ids[i]!, input }],
  );
  const created = await createWithPack(store, pack, unknown);
  return { allowed, created: new Map(created.map(({ id, input }) => [input.external_id, id])) };
}
