// Reads an import file record by record from where it stands, takes its rows a hundred at a time, and notes how far it
// is after each (IMP-2 to IMP-4). A reader that stops is followed by the next one; what both took changes nothing twice.
import { type Clock, SECOND } from "../../../shared/clock.ts";
import type { Context } from "../../../shared/deps.ts";
import { importReading } from "../../../shared/import-files.ts";
import { plans } from "../../../shared/plans.ts";
import {
  audienceSize,
  importRowsQueue,
  secrets,
  storeWrite,
  timers,
  workspaceRead,
} from "../../../shared/resources.ts";
import { readHeader } from "../../../shared/rules/import-columns.ts";
import { listExists } from "../../../shared/store/lists/lists.ts";
import {
  completeImport,
  findImport,
  IMPORT_WATCH_MS,
  type ImportJob,
  moveImport,
  noteProgress,
  rejectedRows,
} from "../../../shared/store/subscribers/imports.ts";
import { queueWorker } from "../../../shared/worker.ts";
import { csvOf } from "./csv.ts";
import { isUnreadable, type Record, readRecords } from "./records.ts";
import { takeRows } from "./take-rows.ts";

const ROWS_A_STEP = 100;
/** Work stops here and goes on in another message. */
const WORKING_MS = 40 * SECOND;
/** By then those that were let in are counted, so that a file does not run past the plan's cap. */
const COUNTING_SECONDS = 2;
/** What is written out of the rejected rows. */
const MAX_REJECTED_ROWS = 10_000;

const uses = [storeWrite, secrets, timers, workspaceRead, audienceSize, importReading, importRowsQueue] as const;
export type WorkerContext = Context<typeof uses> & { clock: Clock };

export const importRows = queueWorker(
  "import-rows",
  "Reads import files into lists.",
  uses,
  async (message, context) => {
    const { store, timers, clock, importRowsQueue: queue } = context;
    const found = await findImport(store, message.import);
    if (!found || found.status === "completed" || found.status === "failed") return;
    if (message.watch) await timers.set([{ kind: "import-watch", id: found.id, at: clock.now() + IMPORT_WATCH_MS }]);
    try {
      const job = found.status === "pending" ? await begin(context, found) : found;
      if (job && !(await goOn(context, job)))
        await queue.send([{ tenant: store.tenant, import: job.id }], { delaySeconds: COUNTING_SECONDS });
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      await fail(context, found, error.message);
    }
  },
);

const fail = async ({ store, clock }: WorkerContext, { id }: ImportJob, error: string): Promise<undefined> => {
  const at = new Date(clock.now()).toISOString();
  await moveImport(store, id, "fail", { set: { error, completed_at: at } });
};

/** Understands the header and counts the rows, so that progress has a total from the start. */
async function begin(context: WorkerContext, job: ImportJob): Promise<ImportJob | undefined> {
  const { store, files } = context;
  const bytes = await files.read(job.id, 0);
  if (!bytes) return fail(context, job, "the file is not there");
  let header: Record | undefined;
  let total = 0;
  for await (const record of readRecords(bytes, {})) {
    if (header) total++;
    else header = record;
  }
  if (!header) return fail(context, job, "the file is empty");
  const columns = readHeader(header.cells, job.source);
  if ("problem" in columns) return fail(context, job, columns.problem);
  return moveImport(store, job.id, "begin", {
    set: {
      header: JSON.stringify(header.cells),
      delimiter: header.delimiter,
      offset: header.end,
      line: header.line,
      total,
    },
  });
}

/** @returns whether the file is done with. */
async function goOn(context: WorkerContext, started: ImportJob): Promise<boolean> {
  const { store, files, clock, workspace } = context;
  const until = clock.now() + WORKING_MS;
  const workspaceRecord = await workspace();
  if (!workspaceRecord || workspaceRecord.status === "deleted")
    return !(await fail(context, started, "the workspace is closed"));
  const columns = readHeader(started.header ?? [], started.source);
  if ("problem" in columns) return !(await fail(context, started, columns.problem));
  const bytes = await files.read(started.id, started.offset);
  if (!bytes) return !(await fail(context, started, "the file is not there"));
  let job = started;
  let batch: Record[] = [];
  // Rows that may be new are counted against the room there was: before it could run out, the others are counted first.
  const room = await context.audienceSize.room(plans[workspaceRecord.plan].subscribers);
  let seen = 0;
  const flush = async (): Promise<boolean> => {
    if (!(await listExists(store, job.list))) return !(await fail(context, job, "the list was deleted"));
    const last = batch.at(-1)!;
    const taken = await takeRows(context, started, columns, batch, room - seen);
    const position = { offset: started.offset + last.end, line: started.line + last.line };
    if (!(await noteProgress(store, job, { ...taken, ...position, processed: batch.length }))) return true;
    job = { ...job, ...position };
    seen += batch.length;
    batch = [];
    return false;
  };
  for await (const record of readRecords(bytes, { delimiter: started.delimiter })) {
    batch.push(record);
    if (batch.length < ROWS_A_STEP) continue;
    if (await flush()) return true;
    if (clock.now() >= until || seen + ROWS_A_STEP > room) return false;
  }
  if (batch.length > 0 && (await flush())) return true;
  await finish(context, started.id);
  return true;
}

async function finish({ store, files }: WorkerContext, id: string): Promise<void> {
  const job = await findImport(store, id);
  if (!job) return;
  const rejected = job.failed > 0 ? await rejectedRows(store, id, MAX_REJECTED_ROWS) : [];
  if (rejected.length > 0) await files.putRejected(id, csvOf(job.header ?? [], rejected));
  await completeImport(store, job, rejected.length > 0);
}
