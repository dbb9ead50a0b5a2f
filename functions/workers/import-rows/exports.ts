// Makes the file of an export page by page (RDA-16). A large file is uploaded in parts. Text that is not yet a part is
// kept in an object of its own, so that another message can continue here.
import type { JobPart, Message } from "../../../shared/contract/messages.ts";
import { SECOND } from "../../../shared/kernel/clock.ts";
import { ApiError } from "../../../shared/kernel/errors.ts";
import { csvLine } from "../../../shared/rules/csv.ts";
import { exportMoves } from "../../../shared/rules/export-states.ts";
import { type ExportJob, endExport, noteExport, restartExport } from "../../../shared/store/exports/exports.ts";
import { ExportItem } from "../../../shared/store/exports/items.ts";
import { columnsOf, readPage } from "../../../shared/store/exports/sources.ts";
import { fromJson, type JsonText, toJson } from "../../../shared/store/json-text.ts";
import { isOpen, isTooOld, JOB_WATCH_MS, takeJob } from "../../../shared/store/leased-jobs.ts";
import type { WorkerContext } from "./context.ts";

/** After this time the worker stops, and another message continues. */
const WORKING_MS = 35 * SECOND;
/** All parts but the last must have 5 MiB at least. */
const PART_CHARACTERS = 8 * 1_048_576;

/** Begins, continues or checks an export. */
export async function makeExport({ tenant, id, watch }: Message<"import-rows">, context: WorkerContext): Promise<void> {
  const { store, timers, clock, log, importRowsQueue: queue } = context;
  const taken = await takeJob(store, ExportItem, id, exportMoves);
  if (taken.kind === "closed") {
    // An export that another worker has is checked again later.
    if (watch) await watchOpen(context, id);
    return log({ level: "info", message: "an export is not to be made", tenant, export: id });
  }

  const { job } = taken;
  if (watch) await timers.set([{ kind: "export-watch", id, at: clock.now() + JOB_WATCH_MS }]);
  if (isTooOld(store, job)) return failExport(context, job, "it could not be made within a day");
  const part = await makePart(context, job);
  if (part === "unfinished") await queue.send([{ tenant, kind: "export", id }]);
}

async function makePart(context: WorkerContext, job: ExportJob): Promise<JobPart> {
  try {
    const draft = await openDraft(context, job);
    if (draft) return await writeFile(context, job, draft);
    if (job.upload !== undefined) await context.exportFiles.abort(job.id, job.upload);
  } catch (error) {
    if (error instanceof ApiError) {
      await failExport(context, job, "what is exported was deleted");
      return "ended";
    }
    if (!isGone(error)) throw error;
  }
  await restartExport(context.store, job);
  return "unfinished";
}

/**
 * Whether S3 no longer knows the upload: it forgets one when its file is complete, even if the reply was lost or the
 * worker stopped.
 */
const isGone = (error: unknown): boolean => error instanceof Error && error.name === "NoSuchUpload";

async function watchOpen({ store, timers, clock }: WorkerContext, id: string): Promise<void> {
  // The timer is set before the export is written, so there may be none.
  const found = await store.get(ExportItem, { id });
  if (found && isOpen(found)) await timers.set([{ kind: "export-watch", id, at: clock.now() + JOB_WATCH_MS }]);
}

async function failExport({ store, exportFiles: files }: WorkerContext, job: ExportJob, error: string): Promise<void> {
  await endExport(store, job, { kind: "failed", error });
  if (job.upload !== undefined) await files.abort(job.id, job.upload);
  await files.removeExport(job.id);
}

/** The part of a file that is made so far. */
interface Draft {
  columns: JsonText<string[]>;
  /** The tags of its parts, in their order. */
  parts: string[];
  /** The id of its upload, once it has a part. */
  upload: string | undefined;
  /** The text that is not yet a part. */
  text: string;
  rows: number;
  /** Where the next page begins; undefined at the start, and after the last one. */
  position: ExportJob["position"];
}

/** Reads pages until the last one or the end of the worker's time. */
async function writeFile(context: WorkerContext, taken: ExportJob, draft: Draft): Promise<JobPart> {
  const { store, secrets, clock } = context;
  const until = clock.now() + WORKING_MS;
  const job: ExportJob = { ...taken, columns: draft.columns };
  for (;;) {
    const page = await readPage({ store, root: () => secrets.root(), job }, draft.position);
    draft.text += page.rows.map(csvLine).join("");
    draft.rows += page.rows.length;
    draft.position = page.next;
    if (page.next === undefined) return finishFile(context, job, draft);

    const isPart = draft.text.length >= PART_CHARACTERS;
    const isTimeUp = clock.now() >= until;
    if (isPart) await putPart(context, job, draft);
    if (isPart || isTimeUp) {
      const noted = await noteDraft(context, job, draft);
      if (noted === "lost") return "ended";
    }
    if (isTimeUp) {
      await noteExport(store, job, { lease: 0 });
      return "unfinished";
    }
  }
}

/**
 * Opens the draft of an export.
 * @returns undefined if a worker stopped before it noted the text that it had stored beside the file: that text has
 * later rows already
 */
async function openDraft({ store, exportFiles: files }: WorkerContext, job: ExportJob): Promise<Draft | undefined> {
  const { id, position, rows = 0, upload } = job;
  const columns = job.columns ?? toJson(await columnsOf(store, job.kind));
  const header = job.columns === undefined ? csvLine(fromJson(columns)) : "";
  const parts = job.parts === undefined ? [] : fromJson(job.parts);
  const begun = { columns, parts, upload, rows, position };
  if (!job.has_rest) return { ...begun, text: header };
  const rest = await files.rest(id);
  return rest.rows === rows ? { ...begun, text: rest.text } : undefined;
}

/** Uploads the remaining text as a part of the file. */
async function putPart({ exportFiles: files }: WorkerContext, { id }: ExportJob, draft: Draft): Promise<void> {
  draft.upload ??= await files.begin(id);
  draft.parts.push(await files.putPart(id, draft.upload, draft.parts.length + 1, draft.text));
  draft.text = "";
}

/** Notes the position, so that another message can continue there. */
async function noteDraft(context: WorkerContext, job: ExportJob, draft: Draft): Promise<"noted" | "lost"> {
  const { columns, parts, upload, text, rows, position } = draft;
  const has_rest = text !== "";
  if (has_rest) await context.exportFiles.putRest(job.id, { text, rows });
  const soFar = { columns, position, rows, upload, parts: toJson(parts), has_rest };
  const noted = await noteExport(context.store, job, soFar);
  if (noted === "lost") await discard(context, job.id, upload);
  return noted;
}

async function finishFile(context: WorkerContext, job: ExportJob, draft: Draft): Promise<"ended"> {
  const { store, exportFiles: files } = context;
  const { id } = job;
  if (draft.upload === undefined) await files.put(id, draft.text);
  else {
    if (draft.text !== "") await putPart(context, job, draft);
    await files.complete(id, draft.upload, draft.parts);
  }
  const ended = await endExport(store, job, { kind: "completed", rows: draft.rows });
  if (ended === "ended") await files.removeRest(id);
  else await discard(context, id, undefined);
  return "ended";
}

/** Discards the file, because a subscriber was erased while it was made. */
async function discard(
  { exportFiles: files, store, log }: WorkerContext,
  id: string,
  upload: string | undefined,
): Promise<void> {
  log({ level: "info", message: "an export ended while it was made", tenant: store.tenant, export: id });
  if (upload !== undefined) await files.abort(id, upload);
  await files.removeExport(id);
}
