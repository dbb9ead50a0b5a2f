// Erasure in the files of imports: rejected rows and uploads with an identifier of the subscriber are deleted. The
// upload of an import in progress is deleted at its end; until then the tombstone keeps the identifiers.
import { BETWEEN_ADDRESSES, compactPhone, readEmail } from "../../rules/import-addresses.ts";
import { readId, textOf } from "../../rules/import-cells.ts";
import { hasPhone } from "../../rules/import-phones.ts";
import { present } from "../conditions.ts";
import type { Store } from "../context.ts";
import { type Encoding, isNotUtf8, isUnreadable } from "../files/encodings.ts";
import type { ImportErasing } from "../files/imports.ts";
import { legacyEncoding } from "../files/legacy-encodings.ts";
import { readRecords } from "../files/records.ts";
import { fromJson } from "../json-text.ts";
import { whereItHolds } from "../refusals.ts";
import { AwaitedRefusal, ImportItem, ImportSample, MAX_CELL_CHARACTERS, RejectedRows } from "./import-items.ts";
import { hasEnded, type ImportJob, samplesOf } from "./imports.ts";
import type { ProfileRow } from "./items.ts";
import { attributesOf } from "./subscribers.ts";

/** The attributes of a profile by which rows of a file are recognized. */
export const IDENTIFIERS: readonly string[] = ["external_id", "email", "a:phone"];

export interface ImportTraces {
  files: ImportErasing;
  /** As cells may hold them. None if the subscriber has none, or they were searched for before. */
  identifiers: ReadonlySet<string>;
  phone: string;
  jobs: readonly ImportJob[];
  /** An import that began before the erasure is in progress. */
  isImporting: boolean;
}

const normal = (text: string): string => textOf(text).toLowerCase();

function identifiersOf(profile: ProfileRow): Set<string> {
  const { external_id = "", email = "" } = profile;
  const { phone = "" } = attributesOf(profile);
  const found = [external_id, email, String(phone), compactPhone(String(phone))].map(normal).filter(Boolean);
  return new Set(found.flatMap((text) => [text, text.slice(0, MAX_CELL_CHARACTERS)]));
}

/** The facts about imports that an erasure needs: read once, before anything is erased. */
export async function importTraces(
  store: Store,
  files: ImportErasing,
  tombstone: ProfileRow | undefined,
): Promise<ImportTraces> {
  const identifiers: ReadonlySet<string> = tombstone ? identifiersOf(tombstone) : new Set();
  const phone = tombstone ? compactPhone(String(attributesOf(tombstone).phone ?? "")) : "";
  const jobs = identifiers.size > 0 ? await store.queryAll(ImportItem, {}) : [];
  const isBefore = ({ created_at }: ImportJob) => created_at <= (tombstone?.erased_at ?? "");
  const isImporting = jobs.some((job) => !hasEnded(job) && isBefore(job));
  return { files, identifiers, phone, jobs, isImporting };
}

/** Erases the traces in imports. @returns how many rows and files were deleted */
export async function eraseFromImports(store: Store, subscriber: string, traces: ImportTraces): Promise<number> {
  const { files, identifiers, jobs } = traces;
  if (identifiers.size === 0) return 0;
  let deleted = 0;
  for (const job of jobs) {
    deleted += await eraseSamples(store, traces, job);
    const mayBeAwaited = !hasEnded(job) || (job.failed ?? 0) > 0;
    if (mayBeAwaited) await store.remove(AwaitedRefusal, { job: job.id, subscriber });
    if (hasEnded(job) && (job.failed ?? 0) + (job.warned ?? 0) > 0) deleted += await eraseRejected(store, traces, job);
  }
  const jobOf = new Map(jobs.map((job) => [job.id, job]));
  for (const id of await files.uploads()) {
    const job = jobOf.get(id);
    const isUnneeded = job ? hasEnded(job) : await isNamedInUpload(traces, id);
    if (!isUnneeded) continue;
    await files.removeUpload(id);
    deleted++;
  }
  return deleted;
}

/** A cell names the subscriber if a row with it would be imported as theirs. */
const isNamedIn = ({ identifiers, phone }: ImportTraces, cells: readonly string[]): boolean =>
  cells.some((cell) => {
    const text = normal(cell);
    const names = [text, readId(text), compactPhone(text), ...emailsIn(text)];
    return names.some((name) => identifiers.has(name)) || hasPhone(text, phone);
  });

function emailsIn(text: string): string[] {
  if (!text.includes("@")) return [];
  return [text, ...text.split(BETWEEN_ADDRESSES)].flatMap((part) => {
    const read = readEmail(part);
    return read.kind === "address" ? [read.email] : [];
  });
}

/** Deletes the rows of an import that were rejected or have warnings, all of them, if they name the subscriber. */
async function eraseRejected(store: Store, traces: ImportTraces, { id }: ImportJob): Promise<number> {
  const stored = await store.queryAll(RejectedRows, { job: id });
  const reported = stored.flatMap(({ rows, warnings }) => [...fromJson(rows), ...(warnings ? fromJson(warnings) : [])]);
  if (!reported.some(({ cells }) => isNamedIn(traces, cells))) return 0;
  // The rows are deleted last: a repeated erasure finds them again. A reader that writes the file late sees that it
  // must not be there.
  await whereItHolds(
    store.change(ImportItem, { id }, { set: { rejected_file: false, warnings_file: false } }, present()),
  );
  await traces.files.removeRejected(id);
  // An earlier erased person had another id. No row follows those of an import that has ended.
  await store.removeRows([...(await store.queryAll(AwaitedRefusal, { job: id })), ...stored]);
  return stored.length;
}

/** Whether a file that no import has taken names the subscriber. One that cannot be read counts as if it did. */
async function isNamedInUpload(traces: ImportTraces, id: string): Promise<boolean> {
  try {
    return await isNamedInFile(traces, id);
  } catch (error) {
    if (isUnreadable(error)) return true;
    throw error;
  }
}

/** Whether a file names the subscriber. @throws an unreadable error for a file that cannot be read */
async function isNamedInFile(traces: ImportTraces, id: string, encoding?: Encoding): Promise<boolean> {
  const bytes = await traces.files.read(id, 0);
  if (!bytes) return false;
  try {
    for await (const { cells } of readRecords(bytes, { encoding })) if (isNamedIn(traces, cells)) return true;
    return false;
  } catch (error) {
    if (!isNotUtf8(error)) throw error;
    const again = await traces.files.read(id, 0);
    return again ? isNamedInFile(traces, id, await legacyEncoding(again)) : false;
  }
}

/** The rows that show what columns hold. */
async function eraseSamples(store: Store, traces: ImportTraces, { id: job }: ImportJob): Promise<number> {
  const samples = await samplesOf(store, job);
  if (!samples.some((cells) => isNamedIn(traces, cells))) return 0;
  await store.remove(ImportSample, { job });
  return 1;
}
