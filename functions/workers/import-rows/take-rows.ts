// Imports a batch of rows as subscribers, members and consents. Rejected rows are counted with their reasons.
import { ApiError } from "../../../shared/http/errors.ts";
import type { Record } from "../../../shared/import-records.ts";
import { chunksOf } from "../../../shared/rules/chunks.ts";
import { type Columns, type ImportedRow, readRow } from "../../../shared/rules/import-columns.ts";
import type { ImportedChoices } from "../../../shared/rules/import-consents.ts";
import { addMembers } from "../../../shared/store/lists/lists.ts";
import type { RootSecrets } from "../../../shared/store/secrets.ts";
import {
  type ConsentSummary,
  MAX_CELL_CHARACTERS,
  type Rejected,
} from "../../../shared/store/subscribers/import-items.ts";
import {
  type ChoiceOutcomes,
  recordImportedChoices,
  recordImportedConsent,
} from "../../../shared/store/subscribers/imported-consents.ts";
import {
  addedChoices,
  type Choices,
  type ImportJob,
  NO_CONSENTS,
  oneChoice,
} from "../../../shared/store/subscribers/imports.ts";
import { getProfiles, subscriberId, upsertSubscriber } from "../../../shared/store/subscribers/subscribers.ts";
import type { WorkerContext } from "./index.ts";

/** Upserts that run at once. */
const MAX_CONCURRENT = 25;

interface Taken {
  /** At most so many subscribers were created. */
  created: number;
  failed: number;
  rejected: Rejected[];
  consents: ConsentSummary;
  /** By the keys of topics. */
  choices: Choices;
}

export async function takeRows(
  context: WorkerContext,
  job: ImportJob,
  columns: Columns,
  batch: readonly Record[],
  /** The most subscribers that may be created. */
  room: number,
): Promise<Taken> {
  const taken: Taken = { created: 0, failed: 0, rejected: [], consents: { ...NO_CONSENTS }, choices: {} };
  const reject = ({ line, cells }: Record, reason: string) => {
    taken.failed++;
    taken.rejected.push({
      line: job.line + line,
      reason,
      cells: cells.map((cell) => cell.slice(0, MAX_CELL_CHARACTERS)),
    });
  };
  const good: { row: ImportedRow; record: Record }[] = [];
  for (const record of batch) {
    const row = readRow(columns, record.cells);
    if ("problem" in row) reject(record, row.problem);
    else good.push({ row, record });
  }
  // Of rows with the same external_id, the last one wins.
  const last = new Map(good.map((each) => [each.row.external_id, each]));
  const countChoices = (outcomes: ChoiceOutcomes) => {
    const counted = Object.entries(outcomes).map(([key, outcome]) => [key, oneChoice(outcome)] as const);
    taken.choices = addedChoices(taken.choices, Object.fromEntries(counted));
  };
  if (job.dry_run) {
    for (const { row } of last.values()) {
      if (row.consent) taken.consents[row.consent.status]++;
      countChoices(statusesOf(row.choices));
    }
    return taken;
  }
  const { store, secrets } = context;
  const root = await secrets.root();
  const allowed = await mayCreate(context, root, [...last.keys()], room);
  taken.created = allowed.size;
  const members: string[] = [];
  const take = async ({ row, record }: { row: ImportedRow; record: Record }) => {
    const { external_id, email, attributes, consent, choices } = row;
    try {
      const input = { external_id, email, attributes };
      const { id } = await upsertSubscriber(store, root, input, { mayCreate: allowed.has(external_id) });
      members.push(id);
      if (consent) taken.consents[await recordImportedConsent(store, id, job.id, consent)]++;
      countChoices(await recordImportedChoices(store, id, job, choices));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      reject(record, error.code === "QUOTA_EXCEEDED" ? "quota" : error.message);
    }
  };
  for (const some of chunksOf([...last.values()], MAX_CONCURRENT)) await Promise.all(some.map(take));
  await addMembers(store, job.list, members);
  return taken;
}

const statusesOf = (choices: ImportedChoices) =>
  Object.fromEntries(Object.entries(choices).map(([key, { status }]) => [key, status]));

/** The external ids that may become new subscribers: all if there is room for all, else the first new ones. */
async function mayCreate(
  { store }: WorkerContext,
  root: Pick<RootSecrets, "idKey">,
  externalIds: readonly string[],
  room: number,
): Promise<ReadonlySet<string>> {
  if (externalIds.length <= room) return new Set(externalIds);
  const profiles = await getProfiles(
    store,
    externalIds.map((externalId) => subscriberId(root, store.tenant, externalId, 0)),
  );
  return new Set(externalIds.filter((_, i) => !profiles[i]).slice(0, Math.max(0, room)));
}
