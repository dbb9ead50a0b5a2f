// Import jobs (IMP): what is known of a file, how far it was read, and what of it was rejected.
import { timestamp } from "../../clock.ts";
import { notFound } from "../../http/errors.ts";
import type { Store, StoreReader } from "../../resources.ts";
import type { ImportSource } from "../../rules/import-columns.ts";
import { type ImportStatus, importMoves } from "../../rules/import-states.ts";
import { absent, all, is } from "../conditions.ts";
import { annotation } from "../insights/annotations.ts";
import { keys } from "../keys.ts";
import { move } from "../lifecycle.ts";
import type { Item, Key } from "../model.ts";
import { onTransactionCanceled } from "../refusals.ts";
import type { Timers } from "../timers.ts";

/** Consent as it came in: how many rows ended as what. */
export type ConsentSummary = Record<"opted_in" | "opted_out" | "suppressed" | "unknown" | "unchanged", number>;
export const NO_CONSENTS: ConsentSummary = { opted_in: 0, opted_out: 0, suppressed: 0, unknown: 0, unchanged: 0 };

export interface ImportJob {
  id: string;
  list: string;
  source: ImportSource;
  /** Everything is checked and counted, nothing is written (F13). */
  dryRun: boolean;
  status: ImportStatus;
  bytes: number;
  processed: number;
  failed: number;
  /** Counted before the first row is taken. */
  total: number | undefined;
  error: string | undefined;
  consents: ConsentSummary;
  /** Where reading goes on: the byte after the last record that is accounted for, and its number. */
  offset: number;
  line: number;
  header: string[] | undefined;
  delimiter: string;
  rejectedFile: boolean;
  createdAt: string;
}

export interface Rejected {
  line: number;
  reason: string;
  cells: readonly string[];
}

const KEPT_MS = 30 * 86_400_000;
/** How long without a step before somebody looks after the job. */
export const IMPORT_WATCH_MS = 10 * 60_000;

const keyOf = ({ tenant }: Pick<Store, "tenant">, id: string) => keys.entity(tenant, "import", id);

/** Puts the job; its insertion into the table is what starts it. The watchdog is set before it. */
export async function createImport(
  store: Store,
  timers: Timers,
  job: Pick<ImportJob, "id" | "list" | "source" | "dryRun" | "bytes">,
): Promise<void> {
  const now = store.clock.now();
  await timers.set([{ kind: "import-watch", id: job.id, at: now + IMPORT_WATCH_MS }]);
  const { dryRun: dry_run, ...plain } = job;
  const item: Item = {
    ...keyOf(store, job.id),
    ...plain,
    ...(dry_run && { dry_run }),
    react: "import",
    status: "pending",
    offset: 0,
    line: 0,
    created_at: timestamp(now),
    expires: Math.ceil((now + KEPT_MS) / 1_000),
  };
  await store.put(item, absent());
}

/** @throws 404. */
export async function getImport(store: StoreReader, id: string): Promise<ImportJob> {
  const job = await findImport(store, id);
  if (!job) throw notFound("import job");
  return job;
}

export async function findImport(store: StoreReader, id: string): Promise<ImportJob | undefined> {
  const item = await store.get(keyOf(store, id));
  return item && importOf(item);
}

/** IMP-2. @returns the job after the move, or undefined and nothing changed. */
export async function moveImport(
  store: Store,
  id: string,
  action: keyof typeof importMoves,
  change: { set?: Record<string, Item[string]> } = {},
): Promise<ImportJob | undefined> {
  const moved = await move(store, keyOf(store, id), importMoves, action, { change });
  return "item" in moved ? importOf(moved.item) : undefined;
}

export interface Progress {
  processed: number;
  failed: number;
  consents: ConsentSummary;
  rejected: readonly Rejected[];
  offset: number;
  line: number;
}

const SUMMARY = "consent:";

/** Accounts for the records up to an offset, once: a second reader of the same records changes nothing. */
export function noteProgress(store: Store, { id, offset }: ImportJob, progress: Progress): Promise<boolean> {
  const { processed, failed, consents, rejected } = progress;
  const counts = Object.entries(consents).filter(([, n]) => n > 0);
  const add = { processed, failed, ...Object.fromEntries(counts.map(([name, n]) => [SUMMARY + name, n])) };
  const rows: Item[] =
    rejected.length === 0
      ? []
      : [{ ...rejectedKey(store, id, offset), rows: JSON.stringify(rejected), expires: expiry(store) }];
  return store
    .transact([
      {
        update: keyOf(store, id),
        change: { set: { offset: progress.offset, line: progress.line }, add },
        when: all(is("status", "processing"), is("offset", offset)),
      },
      ...rows.map((put) => ({ put })),
    ])
    .then(
      () => true,
      onTransactionCanceled(() => false),
    );
}

/** Every row is accounted for (D-ANNAUTO). */
export async function completeImport(store: Store, job: ImportJob, rejectedFile: boolean): Promise<void> {
  const text = `An import ended: ${job.processed - job.failed} of ${job.processed} rows were taken.`;
  const done = await moveImport(store, job.id, "complete", {
    set: { rejected_file: rejectedFile, completed_at: timestamp(store.clock.now()) },
  });
  if (done) await store.put(annotation(store, { kind: "import_completed", text, ref_id: job.id }));
}

const rejectedKey = ({ tenant }: Pick<Store, "tenant">, id: string, offset: number) =>
  keys.part(tenant, "import", id, `X#${String(offset).padStart(12, "0")}`);

const expiry = ({ clock }: Pick<Store, "clock">) => Math.ceil((clock.now() + KEPT_MS) / 1_000);

/** What was rejected, in the order of the file, at most `most` rows. */
export async function rejectedRows(store: StoreReader, id: string, max: number): Promise<Rejected[]> {
  const found: Rejected[] = [];
  let after: Key | undefined;
  do {
    const page = await store.query({ pk: keys.part(store.tenant, "import", id, "").pk, prefix: "X#", after });
    for (const { rows } of page.items) found.push(...(JSON.parse(String(rows)) as Rejected[]));
    after = page.next;
  } while (after && found.length < max);
  return found.slice(0, max);
}

function importOf(item: Item): ImportJob {
  const consents = { ...NO_CONSENTS };
  for (const name of Object.keys(consents) as (keyof ConsentSummary)[])
    consents[name] = Number(item[SUMMARY + name] ?? 0);
  return {
    id: String(item.id),
    list: String(item.list),
    source: item.source as ImportSource,
    dryRun: item.dry_run === true,
    status: item.status as ImportStatus,
    bytes: Number(item.bytes),
    processed: Number(item.processed ?? 0),
    failed: Number(item.failed ?? 0),
    total: item.total as number | undefined,
    error: item.error as string | undefined,
    consents,
    offset: Number(item.offset),
    line: Number(item.line),
    header: item.header === undefined ? undefined : JSON.parse(String(item.header)),
    delimiter: String(item.delimiter ?? ","),
    rejectedFile: item.rejected_file === true,
    createdAt: String(item.created_at),
  };
}
