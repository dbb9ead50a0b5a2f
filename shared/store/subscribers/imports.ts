// Import jobs (IMP): how far a file was read, and which of its rows were rejected.
import { WORKER_TIMEOUT_SECONDS } from "../../contract/messages.ts";
import { DAY, MINUTE, SECOND, timestamp, ttl } from "../../kernel/clock.ts";
import { conflict, requireFound } from "../../kernel/errors.ts";
import type { RowReading } from "../../rules/import-cells.ts";
import { columnsOfHeader, readHeader } from "../../rules/import-columns.ts";
import { type ColumnMapping, columnName } from "../../rules/import-mapping.ts";
import { importMoves } from "../../rules/import-states.ts";
import { meaningOf, suggestionFor } from "../../rules/import-suggestions.ts";
import { topicKeyOf } from "../../rules/topics.ts";
import { absent, all, any, atMost, is, oneOf } from "../conditions.ts";
import type { Store, StoreReader } from "../context.ts";
import { annotationWrite } from "../insights/annotations.ts";
import { type ChangeOf, changeItem, type NewRowOf, putItem, type RowOf } from "../item.ts";
import { fromJson, toJson } from "../json-text.ts";
import { move, moveWrite } from "../lifecycle.ts";
import { type ChangeResult, onConditionFailed, transacted, whereItHolds } from "../refusals.ts";
import type { Timers } from "../timers.ts";
import type { Choices } from "./import-counts.ts";
import {
  type ConsentSummary,
  ImportItem,
  ImportSample,
  type PhoneSummary,
  type RejectedRow,
  RejectedRows,
} from "./import-items.ts";
import { keptBytes, keptCells, MAX_KEPT_BYTES } from "./import-problems.ts";

export type ImportJob = RowOf<typeof ImportItem>;
type ImportChange = NonNullable<ChangeOf<typeof ImportItem>["set"]>;

export const readingOf = (job: ImportJob): RowReading => ({
  createdAt: Date.parse(job.created_at),
  zone: job.time_zone ?? "UTC",
  order: job.date_order,
  phoneRegion: job.phone_region,
  region: job.region,
  consent_at: job.consent_at,
  consent_source: job.consent_source,
});

/** The keys in columns `topic:<key>` of which the workspace had no topic. */
export function unknownTopicsOf(job: ImportJob): readonly string[] {
  const isOfTopics = headerOf(job).some((name) => topicKeyOf(columnName(name)));
  if (!isOfTopics) return [];
  const columns = columnsOf(job);
  return columns.kind === "problem" ? [] : columns.unknownTopics;
}

const KEPT_MS = 30 * DAY;
/** A job without progress for this long is started again. */
export const IMPORT_WATCH_MS = 10 * MINUTE;

export const expiry = ({ clock }: Pick<Store, "clock">) => ttl(clock.now() + KEPT_MS);

/** How a file is read, as far as its caller says. */
export type ImportReadingOptions = {
  [Name in
    | "encoding"
    | "time_zone"
    | "date_order"
    | "phone_region"
    | "start_journeys"
    | "consent_at"
    | "consent_source"]?: ImportJob[Name] | undefined;
};

/** Puts the job; its insertion into the table starts it. The watchdog is set before. */
export async function createImport(
  store: Store,
  timers: Timers,
  given: Pick<ImportJob, "id" | "list" | "source" | "bytes"> &
    ImportReadingOptions & { dry_run: boolean; mapping?: ColumnMapping | undefined },
): Promise<void> {
  const { id, list, source, bytes, dry_run, mapping, ...reading } = given;
  const now = store.clock.now();
  await timers.set([{ kind: "import-watch", id, at: now + IMPORT_WATCH_MS }]);
  const row: NewRowOf<typeof ImportItem> = {
    id,
    list,
    source,
    bytes,
    dry_run: dry_run || undefined,
    mapping: mapping && toJson(mapping),
    ...reading,
    react: "import",
    status: "pending",
    offset: 0,
    line: 0,
    created_at: timestamp(now),
    expires: expiry(store),
  };
  // A reader adds its findings about the unspecified options.
  const said = Object.entries({ list, source, ...reading }) as [keyof ImportJob, unknown][];
  const isSame = (old: ImportJob | undefined) =>
    said.every(([name, value]) => value === undefined || old?.[name] === value) &&
    old?.dry_run === row.dry_run &&
    old?.mapping === row.mapping;
  await store.put(ImportItem, { id }, row, absent()).catch(
    onConditionFailed(ImportItem, (old) => {
      // The reply to this very write may have been lost, or the same request was made before.
      if (!isSame(old)) throw conflict("This upload is imported already.");
    }),
  );
}

/** Gets an import. @throws 404 */
export async function getImport(store: StoreReader, id: string): Promise<ImportJob> {
  return requireFound(await findImport(store, id), "import job");
}

export const findImport = (store: StoreReader, id: string): Promise<ImportJob | undefined> =>
  store.get(ImportItem, { id });

/** The meanings of a file's columns, by its header and the mapping of the caller. */
export const columnsOf = (job: ImportJob) => readHeader(headerOf(job), job.source, knownOf(job));

export const headerOf = ({ header }: ImportJob): readonly string[] => (header === undefined ? [] : fromJson(header));

const knownOf = ({ mapping, topics, types, numbers }: ImportJob) => ({
  mapping: mapping && fromJson(mapping),
  topics: topics && fromJson(topics),
  types: types && fromJson(types),
  numbers: numbers && fromJson(numbers),
});

/** Stores rows of a file that show what its columns hold, the first one first. */
export async function storeSamples(store: Store, job: string, rows: readonly (readonly string[])[]): Promise<void> {
  let left = MAX_KEPT_BYTES;
  const kept = rows.filter((row) => {
    left -= keptBytes(row);
    return left >= 0;
  });
  const [cells, ...more] = kept.map(keptCells);
  if (!cells) return;
  const others = more.length > 0 ? { more: toJson(more) } : {};
  await store.put(ImportSample, { job }, { cells: toJson(cells), ...others, expires: expiry(store) });
}

/** None if the file has no rows, and after one of them named a subscriber who was erased. */
export async function samplesOf(store: StoreReader, job: string): Promise<readonly (readonly string[])[]> {
  const row = await store.get(ImportSample, { job });
  return row ? [fromJson(row.cells), ...(row.more ? fromJson(row.more) : [])] : [];
}

/** The columns of a file that was read, as the API shows them: also of one that needs a mapping to be imported. */
export async function describeColumns(store: StoreReader, job: ImportJob) {
  if (job.header === undefined) return [];
  const columns = columnsOfHeader(headerOf(job), job.source, knownOf(job));
  const samples = await samplesOf(store, job.id);
  const sampleOf = (column: number) => samples.find((cells) => cells[column]?.trim())?.[column];
  const topics = job.topics && fromJson(job.topics);
  return headerOf(job).map((header, i) => ({
    header,
    meaning: meaningOf(columns.cells[i] ?? {}),
    sample: sampleOf(i) ?? samples[0]?.[i] ?? null,
    suggestion: columns.cells[i]?.attribute === undefined ? null : suggestionFor(header, columns, topics),
  }));
}

/** IMP-2: nothing changes it any more but an erasure. */
export const hasEnded = ({ status }: ImportJob): boolean =>
  status === "completed" || status === "failed" || status === "canceled";

/** Longer than a worker may run: afterwards it does not write any more. */
export const READING_LEASE_MS = (WORKER_TIMEOUT_SECONDS + 5) * SECOND;

type ImportClaim =
  | { kind: "claimed"; job: ImportJob }
  /** Another worker reads, until then at the latest. */
  | { kind: "held"; until: number }
  /** Without a job: there is no such import. */
  | { kind: "ended"; job: ImportJob | undefined };

/**
 * Claims the reading of the file, so that one worker reads it: of two, the slower one could write an earlier record of a
 * subscriber over a later one.
 * @returns the job; until when another worker reads it, in milliseconds; or the job that has ended, undefined for none.
 */
export function claimImport(store: Store, id: string, owner: string): Promise<ImportClaim> {
  const now = store.clock.now();
  const isFree = any(absent("lease"), atMost("lease", now));
  const set = { owner, lease: now + READING_LEASE_MS };
  return store.change(ImportItem, { id }, { set }, all(oneOf("status", ["pending", "processing"]), isFree)).then(
    (job): ImportClaim => ({ kind: "claimed", job }),
    onConditionFailed(ImportItem, (old): ImportClaim => {
      if (!old || hasEnded(old)) return { kind: "ended", job: old };
      // The reply to this very claim may have been lost (docs/decisions/0028).
      return old.owner === owner ? { kind: "claimed", job: old } : { kind: "held", until: old.lease ?? now };
    }),
  );
}

/** Lets another worker read on. */
export async function releaseImport(store: Store, id: string, owner: string): Promise<void> {
  await whereItHolds(store.change(ImportItem, { id }, { remove: ["owner", "lease"] }, is("owner", owner)));
}

/** IMP-2. `refused`: its status does not allow the move. */
export const moveImport = (
  store: Store,
  id: string,
  action: keyof typeof importMoves,
  set: ImportChange,
): Promise<ChangeResult<ImportJob>> =>
  move(store, ImportItem, { id }, { lifecycle: importMoves, action, change: { set } });

/** Ends an import after the batch in progress; its rows stay. @throws 404, 409 if it has ended. */
export async function cancelImport(store: Store, id: string): Promise<ImportJob> {
  const change = { set: { completed_at: timestamp(store.clock.now()) } };
  const isCanceled = await transacted(store, [
    moveWrite(ImportItem, { id }, { lifecycle: importMoves, action: "cancel", change }),
  ]);
  const job = await getImport(store, id);
  if (!isCanceled) throw conflict(`The import is ${job.status} and can no longer be canceled.`);
  return job;
}

interface Progress {
  processed: number;
  failed: number;
  /** Rows of people who become members of the list only when they confirm. */
  pending: number;
  consents: ConsentSummary;
  phones: PhoneSummary;
  /** The choices of all records so far. */
  choices: Choices;
  channels: Choices;
  /** How many more subscribers a dry run would create. */
  would_create: number;
  rejected: readonly RejectedRow[];
  warnings: readonly RejectedRow[];
  offset: number;
  line: number;
}

/** Accounts for the records up to an offset, once: a second reader of the same records changes nothing. */
export function noteProgress(store: Store, { id, offset }: ImportJob, progress: Progress): Promise<boolean> {
  const { processed, failed, consents, phones, choices, channels, rejected, warnings, offset: end, line } = progress;
  const add: NonNullable<ChangeOf<typeof ImportItem>["add"]> = { processed, failed, warned: warnings.length };
  for (const [outcome, n] of Object.entries(consents)) if (n > 0) add[`consent:${outcome}`] = n;
  for (const [outcome, n] of Object.entries(phones)) if (n > 0) add[`phone:${outcome}`] = n;
  if (progress.pending > 0) add.pending = progress.pending;
  if (progress.would_create > 0) add.would_create = progress.would_create;
  const set: ImportChange = {
    offset: end,
    line,
    ...(Object.keys(choices).length > 0 && { choices: toJson(choices) }),
    ...(Object.keys(channels).length > 0 && { channels: toJson(channels) }),
  };
  const rows = { rows: toJson(rejected), warnings: toJson(warnings), expires: expiry(store) };
  const isAsRead = all(oneOf("status", ["processing", "canceled"]), is("offset", offset));
  return transacted(store, [
    changeItem(ImportItem, { id }, { set, add }, isAsRead),
    ...(rejected.length + warnings.length > 0 ? [putItem(RejectedRows, { job: id, offset }, rows)] : []),
  ]);
}

/** Which files there are of the rows that were rejected, or have warnings. */
export type WrittenFiles = Required<Pick<ImportJob, "rejected_file" | "warnings_file">>;

/** Every row is accounted for; a dry run took none, and is not annotated (D-ANNAUTO). @returns false if the import had ended before. */
export function completeImport(store: Store, job: ImportJob, written: WrittenFiles): Promise<boolean> {
  const { id, processed = 0, failed = 0, dry_run } = job;
  const text = `An import ended: ${processed - failed} of ${processed} rows were taken.`;
  const completed_at = timestamp(store.clock.now());
  const move = { lifecycle: importMoves, action: "complete", change: { set: { ...written, completed_at } } } as const;
  return transacted(store, [
    moveWrite(ImportItem, { id }, move),
    ...(dry_run ? [] : [annotationWrite(store, { kind: "import_completed", text, ref_id: id })]),
  ]);
}
