// Exports (RDA-16): a worker makes each under a lease, and the erasure of a subscriber deletes their files.
import { DAY, timestamp, ttl } from "../../kernel/clock.ts";
import { invalid, requireFound } from "../../kernel/errors.ts";
import { exportMoves } from "../../rules/export-states.ts";
import { absent, is } from "../conditions.ts";
import type { Store, StoreReader } from "../context.ts";
import type { ExportErasing } from "../files/exports.ts";
import type { ChangeOf, NewRowOf, RowOf } from "../item.ts";
import { toJson } from "../json-text.ts";
import { isOpen, JOB_WATCH_MS, noteJob, requireTurn } from "../leased-jobs.ts";
import { move } from "../lifecycle.ts";
import { listExists } from "../lists/lists.ts";
import { whereItHolds } from "../refusals.ts";
import { SegmentItem } from "../segments/items.ts";
import { findJob } from "../sends/jobs/jobs.ts";
import type { Timers } from "../timers.ts";
import { type ExportFilter, ExportItem, type ExportKind } from "./items.ts";

export type ExportJob = RowOf<typeof ExportItem>;

const KEPT_MS = 30 * DAY;
/** How long the file of an export can be downloaded. */
const FILE_KEPT_MS = 3 * DAY;

/**
 * Creates an export; its insertion into the table starts it. The watchdog is set before. @throws 422 for a list,
 * segment or notification that is not in this workspace and for an empty period, 429 while three are being made
 */
export async function createExport(
  store: Store,
  timers: Timers,
  kind: ExportKind,
  filter: ExportFilter,
): Promise<ExportJob> {
  await requireSource(store, filter);
  await requireTurn(store, ExportItem, "exports are being made");
  const now = store.clock.now();
  const id = store.ids.uuidAt(now);
  await timers.set([{ kind: "export-watch", id, at: now + JOB_WATCH_MS }]);
  const row: NewRowOf<typeof ExportItem> = {
    react: "export",
    id,
    kind,
    filter: toJson(filter),
    status: "pending",
    created_at: timestamp(now),
    expires: ttl(now + KEPT_MS),
  };
  await whereItHolds(store.put(ExportItem, { id }, row, absent()));
  return getExport(store, id);
}

async function requireSource(
  store: StoreReader,
  { list_id, segment_id, notification_id, start, end }: ExportFilter,
): Promise<void> {
  // Without an end, an export ends at the present time.
  if (start !== undefined && Date.parse(start) > (end === undefined ? store.clock.now() : Date.parse(end)))
    throw invalid({ "filter.start": "must not lie after the end, which is now by default" });
  if (list_id !== undefined && !(await listExists(store, list_id)))
    throw invalid({ "filter.list_id": "no such list in this workspace" });
  if (segment_id !== undefined && !(await store.get(SegmentItem, { id: segment_id })))
    throw invalid({ "filter.segment_id": "no such segment in this workspace" });
  if (notification_id !== undefined && !(await findJob(store, notification_id)))
    throw invalid({ "filter.notification_id": "no such notification in this workspace" });
}

/** Gets an export. @throws 404 */
export async function getExport(store: StoreReader, id: string): Promise<ExportJob> {
  return requireFound(await store.get(ExportItem, { id }), "export");
}

/** When the file can no longer be downloaded; undefined before it is complete. */
export const fileExpiry = ({ completed_at }: ExportJob): number | undefined =>
  completed_at === undefined ? undefined : Date.parse(completed_at) + FILE_KEPT_MS;

/** Notes the progress of an export. `lost`: it ended in the meantime, because a subscriber was erased. */
export const noteExport = (
  store: Store,
  job: ExportJob,
  set: NonNullable<ChangeOf<typeof ExportItem>["set"]>,
): Promise<"noted" | "lost"> => noteJob(store, ExportItem, job, { lifecycle: exportMoves, set });

const PLACE = ["position", "upload", "parts", "has_rest"] as const;

/** Forgets the progress of an export: the next worker makes its file from the first row on. */
export async function restartExport(store: Store, { id, lease = 0 }: ExportJob): Promise<void> {
  const change = { set: { lease: 0 }, remove: [...PLACE, "columns", "rows"] as const };
  const when = is<"lease">("lease", lease);
  await move(store, ExportItem, { id }, { lifecycle: exportMoves, action: "begin", change, when });
}

export async function endExport(
  store: Store,
  { id }: ExportJob,
  outcome: { kind: "completed"; rows: number } | { kind: "failed"; error: string },
): Promise<"ended" | "ended before"> {
  const { kind, ...figures } = outcome;
  const action = kind === "failed" ? "fail" : "complete";
  const set = { ...figures, completed_at: timestamp(store.clock.now()) };
  const change = { set, remove: ["lease", ...PLACE] as const };
  const ended = await move(store, ExportItem, { id }, { lifecycle: exportMoves, action, change });
  return ended.kind === "changed" ? "ended" : "ended before";
}

/**
 * Deletes files that may name an erased subscriber, and fails exports in progress. The second pass repeats it for files
 * that a worker wrote in the meantime. @returns how many exports lost their file
 */
export async function forgetExports(store: Store, files: ExportErasing, erasedAt: string): Promise<number> {
  const older = (await store.queryAll(ExportItem, {})).filter(
    ({ kind, created_at }) => kind !== "report" && created_at <= erasedAt,
  );
  const change = { set: { error: "a subscriber was erased; export again" } };
  let forgotten = 0;
  for (const job of older) {
    const action = isOpen(job) ? "fail" : "forget";
    const moved = await move(store, ExportItem, { id: job.id }, { lifecycle: exportMoves, action, change });
    if (moved.kind === "changed") forgotten++;
    await files.removeExport(job.id);
  }
  return forgotten;
}
