// The files of rejected rows and of rows with warnings (F13).
import { csvLine } from "../../../shared/rules/csv.ts";
import { REPORT_COLUMNS } from "../../../shared/rules/import-columns.ts";
import { absent, all, any, is } from "../../../shared/store/conditions.ts";
import { happened } from "../../../shared/store/refusals.ts";
import { ImportItem, type RejectedRow } from "../../../shared/store/subscribers/import-items.ts";
import { type ProblemKind, problemRows } from "../../../shared/store/subscribers/import-problems.ts";
import { findImport, headerOf, type ImportJob, type WrittenFiles } from "../../../shared/store/subscribers/imports.ts";
import type { WorkerContext } from "./context.ts";

const MAX_REJECTED_ROWS = 10_000;

/** Writes the files. @returns which files there are */
export async function writeProblems({ store, files }: WorkerContext, job: ImportJob): Promise<WrittenFiles> {
  const write = async (kind: ProblemKind, n = 0): Promise<boolean> => {
    const rows = n > 0 ? await problemRows(store, job.id, kind, MAX_REJECTED_ROWS) : [];
    if (rows.length > 0) await files.putProblems(kind, job.id, csvOf(headerOf(job), rows));
    return rows.length > 0;
  };
  return {
    rejected_file: await write("rejected", job.failed),
    warnings_file: await write("warnings", job.warned),
  };
}

/** Writes the files for the rows taken before an import was canceled, unless an erasure has deleted them. */
export async function writeCanceled(context: WorkerContext, id: string): Promise<void> {
  const { store, files } = context;
  const job = await findImport(store, id);
  if (job?.status !== "canceled") return;
  const { rejected_file, warnings_file } = await writeProblems(context, job);
  if (!rejected_file && !warnings_file) return;
  const set = { ...(rejected_file && { rejected_file }), ...(warnings_file && { warnings_file }) };
  const isKept = (["rejected_file", "warnings_file"] as const).map((name) => any(absent(name), is(name, true)));
  const isNoted = await happened(store.change(ImportItem, { id }, { set }, all(is("status", "canceled"), ...isKept)));
  if (!isNoted) await files.removeRejected(id);
}

/** The rows as a CSV file: the original columns, and the reason of each rejection or warning. */
function csvOf(header: readonly string[], rejected: readonly RejectedRow[]): string {
  const lines = rejected.map(({ line, reason, cells }) => [String(line), reason, ...cells]);
  return [[...REPORT_COLUMNS, ...header], ...lines].map(csvLine).join("");
}
