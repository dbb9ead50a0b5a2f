// Imports a batch of rows as subscribers, members and consents. Rejected rows are counted with their reasons.
import { normalizedAddress } from "../../../shared/rules/addresses.ts";
import { chunksOf } from "../../../shared/rules/chunks.ts";
import type { Columns } from "../../../shared/rules/import-columns.ts";
import { otherChannels } from "../../../shared/rules/import-mapping.ts";
import { mayRefuse } from "../../../shared/rules/import-refusals.ts";
import type { Record } from "../../../shared/store/files/records.ts";
import { idKeys } from "../../../shared/store/item.ts";
import { enterWithPack } from "../../../shared/store/lists/imported-members.ts";
import { joinList } from "../../../shared/store/lists/joining.ts";
import { addMembers } from "../../../shared/store/lists/lists.ts";
import { heldAddresses, heldNumbers } from "../../../shared/store/subscribers/addresses.ts";
import {
  createWithPack,
  type ImportPackRef,
  openPack,
  sealPack,
} from "../../../shared/store/subscribers/import-packs.ts";
import type { ImportJob } from "../../../shared/store/subscribers/imports.ts";
import { Profile, type ProfileRow } from "../../../shared/store/subscribers/items.ts";
import {
  attributesOf,
  findByExternalId,
  getProfiles,
  living,
  subscriberId,
} from "../../../shared/store/subscribers/subscribers.ts";
import type { WorkerContext } from "./context.ts";
import { agreesToMail, type Batch, importPerson, type Member, type NewSubscribers } from "./import-person.ts";
import { type GoodRow, type Person, type PersonAddresses, personsOf, suppressedAddresses } from "./persons.ts";
import { type RefusedRow, readBatch, recordRefused } from "./refusing.ts";
import type { Rehearsal } from "./rehearsal.ts";
import { rehearse } from "./rehearse.ts";
import { type BatchTally, openTally, type Tally } from "./tally.ts";

/** Upserts that run at once. */
const MAX_CONCURRENT = 25;

/** The settings for reading the rows of a file. */
export interface FileReading {
  columns: Columns;
  /** Opt-ins that count only after the owner of the address confirms: `email`, `topic:news`, the list. */
  asks: ReadonlySet<string>;
  /** The effects of the rows so far, in a dry run. */
  rehearsal: Rehearsal;
}

/** The rows that are taken together. */
interface Rows {
  batch: readonly Record[];
  /** The most subscribers to create. */
  room: number;
  /** Whether a row of an earlier batch was rejected: its refusal may concern a person of a later one. */
  isAfterRejected: boolean;
}

/** Imports the rows of a batch; a dry run only counts what they would do. */
export async function takeRows(
  context: WorkerContext,
  job: ImportJob,
  { columns, asks, rehearsal }: FileReading,
  { batch, room, isAfterRejected }: Rows,
): Promise<BatchTally> {
  const tally = openTally(job);
  const { good: rows, refused } = readBatch(
    job,
    columns,
    { batch, isNamedToo: room < (job.total ?? Number.POSITIVE_INFINITY) },
    tally,
  );
  const from = { list: job.list, created_at: job.created_at, asks };
  const isAnyRefused = mayRefuse(columns);
  if (job.dry_run) await rehearse(context, from, rehearsal, { rows, refused, room, mayRefuse: isAnyRefused }, tally);
  else await importEach(context, { job, columns, asks, room, refused, isAfterRejected }, tally, rows);
  tally.taken.rejected.sort((a, b) => a.line - b.line);
  return tally.taken;
}

interface BatchOptions {
  job: ImportJob;
  columns: Columns;
  asks: ReadonlySet<string>;
  /** The most subscribers to create. */
  room: number;
  refused: readonly RefusedRow[];
  isAfterRejected: boolean;
}

async function importEach(
  context: WorkerContext,
  { job, columns, asks, room, refused, isAfterRejected }: BatchOptions,
  tally: Tally,
  good: readonly GoodRow[],
): Promise<void> {
  const { store, secrets } = context;
  const root = await secrets.root();
  const names = [...new Set(good.map(({ row }) => row.external_id))];
  const ids = names.map((name) => subscriberId(root, store.tenant, name, 0));
  const pack = await openPack(store, job, ids);
  const profiles = await store.getAll(Profile, idKeys(ids));
  const addressesOf = await addressReader(context, names, profiles);
  const persons = personsOf(good, job.start_journeys === false, addressesOf);
  const isKnown = (name: string) => addressesOf(name) !== undefined;
  const { allowed, created } = await createNew(context, pack, { persons, ids, profiles, isKnown }, room);
  tally.taken.created = allowed.size;

  const before = await recordRefused(
    context,
    { job, columns, asks, refused, isAfterRejected, persons, isKnown },
    tally,
  );
  const emails = persons.flatMap(({ profile, rows }) => {
    const address = profile.email ?? addressesOf(profile.external_id)?.email;
    return rows.filter(agreesToMail).flatMap(({ email = address }) => email ?? []);
  });
  const numberOf = numbersOf(persons, addressesOf);
  const batch: Batch = {
    context,
    job,
    asks,
    tally,
    allowed,
    created,
    // A read may not see the write of a moment ago.
    heldMails: new Set([...before.heldMails, ...(await heldAddresses(store, emails))]),
    numberOf,
    heldNumbers: await heldNumbers(store, [...new Set(numberOf.values())]),
    refused: before,
  };
  const members: Member[] = [];
  for (const turn of turnsOf(persons, addressesOf)) {
    const imported = await Promise.all(turn.map((person) => importPerson(batch, person)));
    members.push(...imported.filter((member) => member !== undefined));
  }
  const entered = await addToList(context, job, pack, { members, inPack: new Set(ids), profiles }, tally);
  await sealPack(store, pack, { created: [...created.values()], entered });
}

/**
 * Groups persons who are taken at once. Of several persons who suppress one address, each is taken alone, after the
 * others: the first of them suppresses it, as in a rehearsal.
 */
function turnsOf(
  persons: readonly Person[],
  addressesOf: (external_id: string) => PersonAddresses | undefined,
): (readonly Person[])[] {
  const suppressedBy = new Map(
    persons.map((person) => [person, suppressedAddresses(person, addressesOf(person.profile.external_id))]),
  );
  const times = new Map<string, number>();
  for (const address of [...suppressedBy.values()].flat()) times.set(address, (times.get(address) ?? 0) + 1);
  const isRival = (person: Person) => suppressedBy.get(person)?.some((address) => (times.get(address) ?? 0) > 1);
  const alone = persons.filter(isRival).map((person) => [person]);
  const others = persons.filter((person) => !isRival(person));
  return [...chunksOf(others, MAX_CONCURRENT), ...alone];
}

interface AddedToList {
  members: readonly Member[];
  inPack: ReadonlySet<string>;
  /** The profiles before the batch. */
  profiles: readonly (ProfileRow | undefined)[];
}

/** Adds members to the list. @returns the new members of the pack */
async function addToList(
  { store }: WorkerContext,
  job: ImportJob,
  pack: ImportPackRef,
  { members, inPack, profiles }: AddedToList,
  tally: Tally,
): Promise<string[]> {
  const entered: string[] = [];
  const add = async (ids: readonly string[]) => {
    const packed = ids.filter((id) => inPack.has(id));
    entered.push(...(await enterWithPack(store, pack, packed)));
    const added = { added: entered.length, already_member: packed.length - entered.length, not_found: [] };
    // An external id that was erased before has another subscriber id.
    const others = ids.filter((id) => !inPack.has(id));
    return others.length > 0 ? addMembers(store, job.list, others) : added;
  };
  const proven = new Set(members.flatMap(({ id, isProven }) => (isProven ? [id] : [])));
  const ids = members.map(({ id }) => id);
  const read = async (ids: readonly string[]) => {
    const others = ids.filter((id) => !inPack.has(id));
    const found = [...profiles.map(living), ...(await getProfiles(store, others))];
    const byId = new Map(found.flatMap((profile) => (profile ? [[profile.id, profile]] : [])));
    return ids.map((id) => byId.get(id));
  };
  const joining = { source: "import", import_job_id: job.id, proven, isRepeat: true, add, read };
  const pending = new Set((await joinList(store, job.list, ids, joining)).pending);
  for (const { id, rows } of members) if (pending.has(id)) tally.taken.pending += rows;
  return entered;
}

/** Reads the addresses of existing persons, by external id. An erased one may exist again. */
async function addressReader(
  { store, secrets }: WorkerContext,
  names: readonly string[],
  profiles: readonly (ProfileRow | undefined)[],
): Promise<(external_id: string) => PersonAddresses | undefined> {
  const root = await secrets.root();
  const found = new Map<string, PersonAddresses>();
  for (const [i, name] of names.entries()) {
    const first = profiles[i];
    const profile = living(first) ?? (first && (await findByExternalId(store, root, name)));
    if (profile) found.set(name, { email: profile.email, phone: attributesOf(profile).phone });
  }
  return (name) => found.get(name);
}

/** The number of each person whose row agrees to a channel that sends to it, by external id. */
function numbersOf(
  persons: readonly Person[],
  addressesOf: (external_id: string) => PersonAddresses | undefined,
): ReadonlyMap<string, string> {
  const agrees = ({ rows }: Person) =>
    rows.some(({ row }) => otherChannels.some((channel) => row.choices[channel]?.status === "opted_in"));
  const found = persons.filter(agrees).flatMap(({ profile: { external_id, attributes } }) => {
    const number = normalizedAddress("phone", attributes.phone ?? addressesOf(external_id)?.phone);
    return number === undefined ? [] : [[external_id, number] as const];
  });
  return new Map(found);
}

/** Creates the unknown subscribers, except those that are erased or created in the meantime. */
async function createNew(
  { store }: WorkerContext,
  pack: ImportPackRef,
  {
    persons,
    ids,
    profiles,
    isKnown,
  }: {
    persons: readonly Person[];
    ids: readonly string[];
    profiles: readonly (ProfileRow | undefined)[];
    isKnown: (external_id: string) => boolean;
  },
  room: number,
): Promise<NewSubscribers> {
  const inputs = persons.map(({ profile }) => profile);
  const fresh = inputs.filter(({ external_id }) => !isKnown(external_id)).slice(0, Math.max(0, room));
  const allowed = new Set(fresh.map(({ external_id }) => external_id));
  const unknown = inputs.flatMap((input, i) =>
    profiles[i] || !allowed.has(input.external_id) ? [] : [{ id: ids[i]!, input }],
  );
  const created = await createWithPack(store, pack, unknown);
  return { allowed, created: new Map(created.map(({ id, input }) => [input.external_id, id])) };
}
