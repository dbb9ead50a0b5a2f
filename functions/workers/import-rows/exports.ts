// Makes the file of an export page by page (RDA-16). A large file is put in parts, and what is not yet a part is kept in an
// object of its own, so that another message continues where this one stops.

import type { Message } from "../../../shared/contract/messages.ts";
import { SECOND } from "../../../shared/kernel/clock.ts";
import { ApiError } from "../../../shared/kernel/errors.ts";
import { csvLine } from "../../../shared/rules/csv.ts";
import { exportMoves } from "../../../shared/rules/export-states.ts";
import { type ExportJob, endExport, noteExport } from "../../../shared/store/exports/exports.ts";
import { ExportItem } from "../../../shared/store/exports/items.ts";
import { columnsOf, readPage } from "../../../shared/store/exports/sources.ts";
import { fromJson, toJson } from "../../../shared/store/json-text.ts";
import { isOpen, isTooOld, JOB_WATCH_MS, takeJob } from "../../../shared/store/leased-jobs.ts";
import type { WorkerContext } from "./context.ts";

/** After this time the worker stops, and another message continues. */
const WORKING_MS = 35 * SECOND;
/** All parts but the last must have 5 MiB at least. */
const PART_CHARACTERS = 8 * 1_048_576;

/** Begins, continues or checks an export. */
export async function makeExport({ tenant, id, watch }: Message<"import-rows">, context: WorkerContext): Promise<void> {
  const { store, timers, clock, log, importRowsQueue: queue } = context;
  const job = await takeJob(store, ExportItem, id, exportMoves);
  if (!job) {
    // One that another worker has is looked at again later.
    if (watch) await watchOpen(context, id);
    return log({ level: "info", message: "an export is not to be made", tenant, export: id });
  }
  if (watch) await timers.set([{ kind: "export-watch", id, at: clock.now() + JOB_WATCH_MS }]);
  if (isTooOld(store, job)) return failExport(context, job, "it could not be made within a day");
  const isDone = await writeFile(context, job).catch(async (error) => {
    if (!(error instanceof ApiError)) throw error;
    await failExport(context, job, "what is exported was deleted");
    return true;
  });
  if (!isDone) await queue.send([{ tenant, kind: "export", id }]);
}

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

/** Reads pages until the last one or the end of the time. @returns false if another message must continue */
async function writeFile(context: WorkerContext, taken: ExportJob): Promise<boolean> {
  const { store, exportFiles: files, secrets, clock } = context;
  const { id } = taken;
  const until = clock.now() + WORKING_MS;
  const columns = taken.columns ?? toJson(await columnsOf(store, taken.kind));
  const job: ExportJob = { ...taken, columns };
  const parts = job.parts === undefined ? [] : fromJson(job.parts);
  let { position, rows = 0, upload } = job;
  let text = taken.columns === undefined ? csvLine(fromJson(columns)) : "";
  if (job.has_rest) text = await files.rest(id);
  const putPart = async () => {
    upload ??= await files.begin(id);
    parts.push(await files.putPart(id, upload, parts.length + 1, text));
    text = "";
  };
  /** What was read so far can be continued. @returns false if the export ended meanwhile */
  const note = async () => {
    const has_rest = text !== "";
    if (has_rest) await files.putRest(id, text);
    const isOurs = await noteExport(store, job, { columns, position, rows, upload, parts: toJson(parts), has_rest });
    if (!isOurs) await discard(context, id, upload);
    return isOurs;
  };
  for (;;) {
    const page = await readPage({ store, root: () => secrets.root(), job }, position);
    text += page.rows.map(csvLine).join("");
    rows += page.rows.length;
    position = page.next;
    if (position === undefined) break;
    if (text.length >= PART_CHARACTERS) {
      await putPart();
      const isNoted = await note();
      if (!isNoted) return true;
    }
    if (clock.now() < until) continue;
    const isNoted = await note();
    if (!isNoted) return true;
    await noteExport(store, job, { lease: 0 });
    return false;
  }
  if (upload === undefined) await files.put(id, text);
  else {
    if (text !== "") await putPart();
    await files.complete(id, upload, parts);
  }
  const isEnded = await endExport(store, job, { kind: "completed", rows });
  if (!isEnded) await discard(context, id, undefined);
  else await files.removeRest(id);
  return true;
}

/** A subscriber was erased while the file was made. */
async function discard(
  { exportFiles: files, store, log }: WorkerContext,
  id: string,
  upload: string | undefined,
): Promise<void> {
  log({ level: "info", message: "an export ended while it was made", tenant: store.tenant, export: id });
  if (upload !== undefined) await files.abort(id, upload);
  await files.removeExport(id);
}
