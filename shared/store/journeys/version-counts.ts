// The numbers of one version of a journey (F20), counted from its runs: the counters are those of all versions, so that a
// move writes one of them.
import type { StoreReader } from "../context.ts";
import { SHARDS } from "../shards.ts";
import { type Addends, countsOf, type JourneyCounts, outcomesIn, readCounts, statusAddends, sumOf } from "./counts.ts";
import { RunEntry, type RunEntryRow, runKeys } from "./run-items.ts";
import { runRows } from "./run-rows.ts";

/** Runs that are read; of more, an even share of them stands for all. */
const MAX_RUNS = 10_000;
/** Entries are small: some 40 of them cost as much as a run. */
const MAX_ENTRIES = 160_000;

export interface VersionCounts extends JourneyCounts {
  /** Every run was read; else the numbers are estimates. */
  exact: boolean;
}

/** Runs whose subscriber was erased are of no version. */
export async function countsOfVersion(store: StoreReader, journey: string, version: number): Promise<VersionCounts> {
  const [all] = await countsOf(store, [journey]);
  const total = Object.values(all?.runs ?? {}).reduce((sum, n) => sum + n, 0);
  const shards = total <= MAX_ENTRIES ? SHARDS.length : Math.max(1, Math.floor((SHARDS.length * MAX_ENTRIES) / total));
  const entries: RunEntryRow[] = [];
  for (const shard of SHARDS.slice(0, shards)) entries.push(...(await store.queryAll(RunEntry, { journey, shard })));
  const every = Math.max(1, Math.ceil(entries.length / MAX_RUNS));
  const read = entries.filter((_, i) => i % every === 0);
  const rows = await runRows(store, runKeys(journey, read));
  const own = rows.filter((row) => row?.version === version);
  const sum = sumOf(...own.flatMap((row) => (row ? [statusAddends(row.status, row.step, 1), outcomesIn(row)] : [])));
  const exact = shards === SHARDS.length && every === 1;
  return { exact, ...readCounts(exact ? sum : scaled(sum, total / Math.max(1, read.length))) };
}

const scaled = (sum: Addends, factor: number): Addends =>
  Object.fromEntries(Object.entries(sum).map(([name, n]) => [name, Math.round((n ?? 0) * factor)]));
