// Reads an import file from its position on, a hundred rows at a time, and notes the position after each batch (IMP-2
// to IMP-4). One worker reads at a time; after a crash another message continues.
import { type JobPart, type Message, WORKING_MS } from "../../../shared/contract/messages.ts";
import { SECOND, timestamp } from "../../../shared/kernel/clock.ts";
import { elementAt } from "../../../shared/rules/element-at.ts";
import type { Problem } from "../../../shared/rules/import-columns.ts";
import { excessOf } from "../../../shared/rules/import-mapping.ts";
import { listChannelOf } from "../../../shared/rules/list-consents.ts";
import { type PlanName, plans } from "../../../shared/rules/plans.ts";
import { consentChannelOf } from "../../../shared/rules/topics.ts";
import { isUnreadable } from "../../../shared/store/files/encodings.ts";
import { type Record, readRecords } from "../../../shared/store/files/records.ts";
import { toJson } from "../../../shared/store/json-text.ts";
import { listAsks, listExists } from "../../../shared/store/lists/lists.ts";
import { addedChoices, channelChoicesOf, choicesOf } from "../../../shared/store/subscribers/import-counts.ts";
import { settleLeftImportPacks, settlePacksOf } from "../../../shared/store/subscribers/import-packs.ts";
import { keptBytes, MAX_KEPT_BYTES } from "../../../shared/store/subscribers/import-problems.ts";
import {
  claimImport,
  columnsOf,
  completeImport,
  findImport,
  IMPORT_WATCH_MS,
  type ImportJob,
  moveImport,
  noteProgress,
  releaseImport,
  storeSamples,
} from "../../../shared/store/subscribers/imports.ts";
import { listTopics } from "../../../shared/store/topics/topics.ts";
import type { WorkerContext } from "./context.ts";
import { writeCanceled, writeProblems } from "./problems.ts";
import { openRehearsal } from "./rehearsal.ts";
import { namesSomebody, surveyFile } from "./survey.ts";
import { type FileReading, takeRows } from "./take-rows.ts";

const BATCH_ROWS = 100;
/** 1,000 rows a second of service time: other workspaces share the partitions of the table. */
const BATCH_MS = SECOND / 10;
/** New subscribers are counted after this time, so that a file does not exceed the plan's cap. */
const COUNTING_MS = 2 * SECOND;

/** Begins, continues or checks an import. */
export async function importFile(message: Message<"import-rows">, context: WorkerContext): Promise<void> {
  const { store, ids, timers, clock, log } = context;
  const { tenant, id, watch } = message;
  const owner = ids.uuid();
  const claim = await claimImport(store, id, owner);
  if (claim.kind === "ended") return tidyUp(context, id, claim.job);

  if (watch) await timers.set([{ kind: "import-watch", id, at: clock.now() + IMPORT_WATCH_MS }]);
  if (claim.kind === "held") {
    log({ level: "info", message: "another worker reads the file", tenant, import: id });
    return watch ? undefined : readAt(context, id, claim.until);
  }
  await settlePacksOf(store, id);
  const end = await readOn(context, claim.job);
  if (end === "ended") return;

  await releaseImport(store, id, owner);
  await readAt(context, id, clock.now() + COUNTING_MS);
}

/** Sends the message that continues reading. @param time milliseconds */
async function readAt(
  { tenant, clock, importRowsQueue: queue }: WorkerContext,
  id: string,
  time: number,
): Promise<void> {
  const left = Math.max(0, time - clock.now());
  await queue.send([{ tenant, kind: "import", id }], { delaySeconds: Math.ceil(left / SECOND) });
}

/** The reader that ended an import may have stopped before it deleted the file, or counted the last rows. */
async function tidyUp(context: WorkerContext, id: string, job: ImportJob | undefined): Promise<void> {
  const { store, tenant, files, log } = context;
  if (job) await files.removeUpload(job.id);
  await writeCanceled(context, id);
  const writingUntil = await settleLeftImportPacks(store, id);
  if (writingUntil !== undefined) await readAt(context, id, writingUntil);
  log({ level: "info", message: "import has ended already", tenant, import: id });
}

async function readOn(context: WorkerContext, job: ImportJob): Promise<JobPart> {
  // The first reading of a large file takes part of this time.
  const until = context.clock.now() + WORKING_MS;
  try {
    const begun = job.status === "pending" ? await beginImport(context, job) : ({ kind: "begun", job } as const);
    return begun.kind === "begun" ? await importBatches(context, begun.job, until) : "ended";
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    await failImport(context, job, error.message);
    return "ended";
  }
}

/** The content of a file whose columns cannot be recognized, so that they can be mapped. */
type Mappable = Pick<ImportJob, "header" | "topics" | "types" | "numbers">;

async function failImport(
  context: WorkerContext,
  { id }: ImportJob,
  error: string,
  found: Partial<Mappable> = {},
): Promise<void> {
  const { store, files, clock, log } = context;
  log({ level: "warn", message: "import failed", tenant: store.tenant, import: id, reason: error });
  const job = await findImport(store, id);
  const written = job && (await writeProblems(context, job));
  await moveImport(store, id, "fail", { ...found, ...written, error, completed_at: timestamp(clock.now()) });
  await files.removeUpload(id);
}

/** `ended`: its file cannot be imported, or the import was ended in the meantime. */
type ImportStart = { kind: "begun"; job: ImportJob } | { kind: "ended" };

/** Reads the header and counts the rows, so that the progress has a total. */
async function beginImport(context: WorkerContext, job: ImportJob): Promise<ImportStart> {
  const { store, workspace } = context;
  const settings = await workspace();
  const region = settings?.region ?? undefined;
  const beginning = await readBeginning(context, { ...job, ...(region !== undefined && { region }) });
  if (beginning.kind !== "unreadable") await storeSamples(store, job.id, beginning.samples);
  if (beginning.kind !== "readable") {
    await failImport(context, job, beginning.problem, beginning.kind === "unmapped" ? beginning.found : {});
    return { kind: "ended" };
  }

  const time_zone = job.time_zone ?? settings?.timezone;
  const moved = await moveImport(store, job.id, "begin", { ...beginning.found, time_zone, region });
  return moved.kind === "changed" ? { kind: "begun", job: moved.row } : { kind: "ended" };
}

type Samples = readonly (readonly string[])[];

/** The result of the first reading of a file. `unmapped`: its columns cannot be recognized until a user maps them. */
type FirstReading =
  | {
      kind: "readable";
      samples: Samples;
      found: Mappable & Pick<ImportJob, "delimiter" | "encoding" | "offset" | "line" | "total">;
    }
  | { kind: "unmapped"; problem: string; samples: Samples; found: Mappable }
  | { kind: "unreadable"; problem: string };

async function readBeginning(context: WorkerContext, job: ImportJob): Promise<FirstReading> {
  const survey = await surveyFile(context, job, job.encoding);
  if (!survey) return { kind: "unreadable", problem: "the file is not there" };
  const { header, samples, total } = survey;
  if (!header) return { kind: "unreadable", problem: "the file is empty" };
  const { cells, delimiter, encoding, end: offset, line } = header;
  const excess = excessOf(cells);
  if (excess) return { kind: "unreadable", problem: excess };

  const topics = toJson((await listTopics(context.store)).map(({ key }) => key));
  const named = { header: toJson(cells), topics };
  const found = { ...named, types: toJson(survey.types), numbers: toJson(survey.numbers) };
  const isRow = cells.some(namesSomebody);
  // If the first line is a row, the content of a column is no sign of its name.
  const columns = columnsOf({ ...job, ...(isRow ? named : found) });
  if (columns.kind !== "problem")
    return { kind: "readable", samples, found: { ...found, delimiter, encoding, offset, line, total } };
  return isRow
    ? { kind: "unreadable", problem: columns.problem }
    : { kind: "unmapped", problem: columns.problem, samples, found };
}

interface Source extends FileReading {
  kind: "source";
  bytes: AsyncIterable<Uint8Array>;
  plan: PlanName;
}

/** The source of the next batches, or why the import fails. */
async function openSource({ store, files, workspace }: WorkerContext, job: ImportJob): Promise<Source | Problem> {
  const owner = await workspace();
  if (!owner || owner.status === "deleted") return { kind: "problem", problem: "the workspace is closed" };
  const columns = columnsOf(job);
  if (columns.kind === "problem") return columns;
  const bytes = await files.read(job.id, job.offset);
  const topics = (await listTopics(store)).filter(({ double_opt_in }) => double_opt_in);
  const asks = new Set<string>(topics.map(({ key }) => consentChannelOf(key)));
  if (owner.double_opt_in) asks.add("email");
  if (await listAsks(store, job.list)) asks.add(listChannelOf(job.list));
  return bytes
    ? { kind: "source", columns, asks, rehearsal: openRehearsal(), bytes, plan: owner.plan }
    : { kind: "problem", problem: "the file is not there" };
}

/** An import in progress, batch by batch. */
interface ImportReading {
  source: Source;
  /** The job when the worker began: positions in the file count from here. */
  started: ImportJob;
  /** The job after the last batch. */
  job: ImportJob;
  /** New subscribers that the plan has room for, before those of this worker are counted. */
  room: number;
  created: number;
  /** When the next batch may begin, in milliseconds. */
  earliest: number;
}

/** Imports batches until the end of the file or of the time, at least one. */
async function importBatches(context: WorkerContext, started: ImportJob, until: number): Promise<JobPart> {
  const { clock, audienceSize } = context;
  const source = await openSource(context, started);
  if (source.kind === "problem") {
    await failImport(context, started, source.problem);
    return "ended";
  }
  const room = (await audienceSize.room(plans[source.plan].subscribers)) - (started.would_create ?? 0);
  let reading: ImportReading = { source, started, job: started, room, created: 0, earliest: clock.now() };
  const format = { delimiter: started.delimiter ?? ",", encoding: started.encoding };
  for await (const { rows, isLast } of batchesOf(readRecords(source.bytes, format))) {
    const imported = await importBatch(context, reading, rows);
    if (imported.kind === "ended") return "ended";
    reading = imported.reading;
    if (!isLast && (clock.now() >= until || !hasRoom(reading))) return "unfinished";
  }
  await finishImport(context, started.id);
  return "ended";
}

/**
 * Whether the next batch fits. Each row may be a new subscriber, so the worker stops before the room could be used up,
 * until new ones are counted. If none was created, or in a dry run, it reads on.
 */
const hasRoom = ({ job, room, created }: ImportReading): boolean =>
  job.dry_run === true || created === 0 || created + BATCH_ROWS <= room;

/** Rows in batches. Each row may be rejected, and a batch is kept together. */
async function* batchesOf(
  records: AsyncIterable<Record>,
): AsyncGenerator<{ rows: readonly Record[]; isLast: boolean }> {
  let rows: Record[] = [];
  let bytes = 0;
  for await (const record of records) {
    rows.push(record);
    bytes += keptBytes(record.cells);
    if (rows.length < BATCH_ROWS && bytes < MAX_KEPT_BYTES) continue;
    yield { rows, isLast: false };
    rows = [];
    bytes = 0;
  }
  if (rows.length > 0) yield { rows, isLast: true };
}

async function importBatch(
  context: WorkerContext,
  reading: ImportReading,
  batch: readonly Record[],
): Promise<{ kind: "imported"; reading: ImportReading } | { kind: "ended" }> {
  const { store, clock, log } = context;
  const { source, started, job, room, created } = reading;
  if (clock.now() < reading.earliest) await clock.sleep(reading.earliest - clock.now());
  const earliest = clock.now() + BATCH_MS;
  if (!(await listExists(store, job.list))) {
    await failImport(context, job, "the list was deleted");
    return { kind: "ended" };
  }
  if ((await findImport(store, job.id))?.status === "canceled") {
    await writeCanceled(context, job.id);
    return { kind: "ended" };
  }

  const rows = { batch, room: room - created, isAfterRejected: (job.failed ?? 0) > 0 };
  const { created: more, ...taken } = await takeRows(context, started, source, rows);
  const choices = addedChoices(choicesOf(job), taken.choices);
  const channels = addedChoices(channelChoicesOf(job), taken.channels);
  const { end, line } = elementAt(batch, batch.length - 1);
  const position = { offset: started.offset + end, line: started.line + line };
  const would_create = job.dry_run ? more : 0;
  const progress = { ...taken, choices, channels, would_create, ...position, processed: batch.length };
  const isNoted = await noteProgress(store, job, progress);
  if (!isNoted) {
    log({ level: "info", message: "another reader is ahead", tenant: store.tenant, import: job.id });
    return { kind: "ended" };
  }
  const failed = (job.failed ?? 0) + taken.failed;
  const noted = { ...job, ...position, failed, choices: toJson(choices), channels: toJson(channels) };
  return { kind: "imported", reading: { ...reading, job: noted, created: created + more, earliest } };
}

async function finishImport(context: WorkerContext, id: string): Promise<void> {
  const { store, files } = context;
  const job = await findImport(store, id);
  if (!job) return;
  const isDone = await completeImport(store, job, await writeProblems(context, job));
  // Another reader was first, and an erasure may have deleted the file since.
  if (!isDone) {
    const ended = await findImport(store, id);
    if (!ended?.rejected_file && !ended?.warnings_file) await files.removeRejected(id);
    await writeCanceled(context, id);
  }
  await files.removeUpload(id);
}
