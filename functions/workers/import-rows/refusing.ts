// Refusals in rejected rows: of this batch, and of earlier ones about persons who did not exist yet (AMB-132).
import type { Columns } from "../../../shared/rules/import-columns.ts";
import {
  type GivenAddresses,
  mayRefuse,
  type Refusals,
  refusalsOf,
  withAddresses,
} from "../../../shared/rules/import-refusals.ts";
import { readRow } from "../../../shared/rules/import-rows.ts";
import type { Record } from "../../../shared/store/files/records.ts";
import {
  type AwaitedPerson,
  awaitedPersons,
  recordRefusals,
} from "../../../shared/store/subscribers/import-refusals.ts";
import type { ImportedFrom } from "../../../shared/store/subscribers/imported-consents.ts";
import { type ImportJob, readingOf } from "../../../shared/store/subscribers/imports.ts";
import type { WorkerContext } from "./context.ts";
import type { GoodRow, Person } from "./persons.ts";
import type { Tally } from "./tally.ts";

/** A row that is rejected, but has a refusal or an address of a person. */
export interface RefusedRow {
  record: Record;
  problem: string;
  refusals: Refusals;
}

interface ReadBatch {
  good: GoodRow[];
  refused: RefusedRow[];
}

/**
 * Reads the rows of a batch.
 * @param isNamedToo whether addresses of rejected rows count: the plan may have no room for their person
 */
export function readBatch(
  job: ImportJob,
  columns: Columns,
  { batch, isNamedToo }: { batch: readonly Record[]; isNamedToo: boolean },
  tally: Tally,
): ReadBatch {
  const reading = readingOf(job);
  const read: ReadBatch = { good: [], refused: [] };
  for (const record of batch) {
    const row = readRow(columns, record.cells, reading);
    const refusals = row.kind === "row" ? undefined : refusalsOf(columns, record.cells, reading, isNamedToo);
    if (row.kind === "row") read.good.push({ row: row.row, record });
    else if (refusals) read.refused.push({ record, problem: row.problem, refusals });
    else tally.reject(record, row.problem);
  }
  return read;
}

/** The addresses of a person, from the rows of a batch. */
export const givenBy = ({ profile: { email, attributes } }: Person): GivenAddresses => ({
  email,
  phone: attributes.phone,
});

/** Finds the addresses of a person by external id. */
export type FindAddresses = (external_id: string | undefined) => GivenAddresses | undefined;

/** The addresses in the rejected rows of a batch, else in earlier ones. */
export function givenIn(refused: readonly RefusedRow[], before: FindAddresses): FindAddresses {
  const given = new Map<string, GivenAddresses>();
  const either = (one: GivenAddresses | undefined, other: GivenAddresses | undefined) => ({
    email: one?.email ?? other?.email,
    phone: one?.phone ?? other?.phone,
  });
  for (const { refusals } of refused) {
    const { external_id } = refusals;
    if (external_id !== undefined) given.set(external_id, either(refusals, given.get(external_id)));
  }
  return (name) => (name === undefined ? undefined : either(given.get(name), before(name)));
}

export const fromRow = (job: ImportJob, { line }: Record, asks: ReadonlySet<string>): ImportedFrom => ({
  job: job.id,
  created_at: job.created_at,
  line: job.line + line,
  asks,
});

interface RowRefusals {
  from: ImportedFrom;
  refusals: Refusals;
}

/** Refusals that are recorded before the rows of a batch are taken. */
export interface BatchRefusals {
  refusing: readonly RowRefusals[];
  /** Mail addresses that get no mail from now on, in normalized form. */
  heldMails: readonly string[];
  given: FindAddresses;
  /** Whether a row of the file may refuse something. */
  mayRefuse: boolean;
}

interface RefusedOptions {
  job: ImportJob;
  columns: Columns;
  asks: ReadonlySet<string>;
  refused: readonly RefusedRow[];
  /** Whether a row of an earlier batch was rejected: its refusal may concern a person of a later one. */
  isAfterRejected: boolean;
  persons: readonly Person[];
  isKnown: (external_id: string) => boolean;
}

/** Records the refusals in the rejected rows of a batch, and those that waited for its persons. */
export async function recordRefused(
  { store, secrets }: WorkerContext,
  { job, columns, asks, refused, isAfterRejected, persons, isKnown }: RefusedOptions,
  tally: Tally,
): Promise<BatchRefusals> {
  const root = await secrets.root();
  const names = [
    ...persons.map(({ profile }) => profile.external_id),
    ...refused.flatMap(({ refusals }) => refusals.external_id ?? []),
  ];
  const isAwaited = isAfterRejected && mayRefuse(columns);
  const awaited = isAwaited
    ? await awaitedPersons(store, root, job.id, [...new Set(names)])
    : new Map<string, AwaitedPerson>();
  const given = givenIn(refused, (name) => awaited.get(name ?? "")?.given);
  // A rejected row may name a person that another row of the batch creates.
  const newcomers = persons.filter(({ profile }) => !isKnown(profile.external_id));
  const ofNewcomers = new Map(newcomers.map((person) => [person.profile.external_id, givenBy(person)]));
  const addressed = (refusals: Refusals) => withAddresses(refusals, ofNewcomers.get(refusals.external_id ?? ""));

  const heldMails: string[] = [];
  const refusing: RowRefusals[] = [];
  const record = async (from: ImportedFrom, refusals: Refusals) => {
    refusing.push({ from, refusals });
    const { kept, held } = await recordRefusals(store, root, from, refusals, given(refusals.external_id));
    heldMails.push(...held);
    return kept;
  };
  for (const { refusing: waiting } of awaited.values())
    for (const { line, refusals } of waiting)
      await record({ job: job.id, created_at: job.created_at, line, asks }, addressed(refusals));
  for (const { record: row, problem, refusals } of refused)
    tally.reject(row, problem, await record(fromRow(job, row, asks), addressed(refusals)));
  return { refusing, heldMails, given, mayRefuse: mayRefuse(columns) };
}
