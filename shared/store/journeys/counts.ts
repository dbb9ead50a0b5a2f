// The numbers of a journey: runs by status, and for each step its active runs and outcomes (JST). They change in the
// transactions that change the runs, in shards, so that no partition is hot.
import { numberOfEach } from "../../rules/counting.ts";
import type { Outcome } from "../../rules/journey-run.ts";
import { type RunStatus, runStatuses } from "../../rules/run-states.ts";
import type { StoreReader } from "../context.ts";
import { familyOf } from "../families.ts";
import { changeItem, type ItemWrite } from "../item.ts";
import { SHARDS } from "../shards.ts";
import { JourneyCount, RunEntry, type RunEntryRow, runKeys } from "./run-items.ts";
import { runRows } from "./run-rows.ts";

export const COUNT_SHARDS = 8;
const shards = Array.from({ length: COUNT_SHARDS }, (_, shard) => shard);

interface JourneyCounts {
  runs: Record<RunStatus, number>;
  steps: Record<string, { active: number; outcomes: Record<string, number> }>;
}

type OutcomeName = `o:${string}`;
type CounterName = `r:${string}` | `a:${string}` | OutcomeName;

/** Addends by the attribute of the counter: `r:<status>`, `a:<step>` or `o:<step>|<outcome>`. */
export type Addends = { [N in CounterName]?: number };
export type OutcomeAddends = { [N in OutcomeName]?: number };

/** One run more (or fewer) of a status and, while it is active, on a step. */
export const statusAddends = (status: RunStatus, step: string, sign: 1 | -1): Addends =>
  status === "active" ? { "r:active": sign, [`a:${step}`]: sign } : { [`r:${status}`]: sign };

export const outcomeAddends = (outcomes: readonly Outcome[]): OutcomeAddends =>
  numberOfEach(outcomes.map(({ step, name }): OutcomeName => `o:${step}|${name}`));

export const outcomesIn = (row: OutcomeAddends): OutcomeAddends =>
  Object.fromEntries(familyOf(row, "o:").map(([name, n]) => [`o:${name}`, n]));

/** Whether an attribute is a counter: the others tell how often the row changed. */
export const isCounter = (name: string): name is CounterName => /^[rao]:/.test(name);

/** The sum of the counters, without those that are 0. Other attributes of a row are left out. */
export function sumOf(...parts: readonly Addends[]): Addends {
  const sums = new Map<CounterName, number>();
  for (const part of parts)
    for (const [name, n = 0] of Object.entries(part)) if (isCounter(name)) sums.set(name, (sums.get(name) ?? 0) + n);
  return Object.fromEntries([...sums].filter(([, n]) => n !== 0));
}

/** The write that counts a change of a run; none if no counter changes. */
export function countWrites(journey: string, run: string, add: Addends): ItemWrite<"workspace">[] {
  if (Object.keys(add).length === 0) return [];
  const shard = Number.parseInt(run.at(-1) ?? "0", 16) % COUNT_SHARDS;
  return [changeItem(JourneyCount, { journey, shard }, { add: { ...add, changes: 1 } })];
}

export const countKeys = (journey: string) => shards.map((shard) => ({ journey, shard }));

/** The numbers of journeys, in their order. */
export async function countsOf(store: StoreReader, journeys: readonly string[]): Promise<JourneyCounts[]> {
  const rows = await store.getAll(JourneyCount, journeys.flatMap(countKeys));
  return journeys.map((_, i) => {
    const shards = rows.slice(i * COUNT_SHARDS, (i + 1) * COUNT_SHARDS);
    return readCounts(sumOf(...shards.filter((row) => row !== undefined)));
  });
}

/** Counters as a client reads them. */
export function readCounts(sum: Addends): JourneyCounts {
  const runs = { active: 0, completed: 0, exited: 0, canceled: 0 };
  for (const status of runStatuses) runs[status] = sum[`r:${status}`] ?? 0;
  // A map is used, because a step may be called toString, as a property of every object.
  const steps = new Map<string, JourneyCounts["steps"][string]>();
  const stepOf = (id: string) => {
    const step = steps.get(id) ?? { active: 0, outcomes: {} };
    steps.set(id, step);
    return step;
  };
  for (const [step, n] of familyOf(sum, "a:")) stepOf(step).active = n;
  for (const [name, n] of familyOf(sum, "o:")) {
    const at = name.lastIndexOf("|");
    stepOf(name.slice(0, at)).outcomes[name.slice(at + 1)] = n;
  }
  return { runs, steps: Object.fromEntries(steps) };
}

/** The most runs that are read; of more, an even sample stands for all. */
const MAX_RUNS = 10_000;
/** Entries are small: some 40 of them cost as much as a run. */
const MAX_ENTRIES = 160_000;

interface VersionCounts extends JourneyCounts {
  /** Every run was read; otherwise the numbers are estimates. */
  exact: boolean;
}

/** The numbers of a version. Runs of erased subscribers belong to no version. */
export async function countsOfVersion(store: StoreReader, journey: string, version: number): Promise<VersionCounts> {
  const [all] = await countsOf(store, [journey]);
  const total = Object.values(all?.runs ?? {}).reduce((sum, n) => sum + n, 0);
  const shards = total <= MAX_ENTRIES ? SHARDS.length : Math.max(1, Math.floor((SHARDS.length * MAX_ENTRIES) / total));
  const entries: RunEntryRow[] = [];
  for (const shard of SHARDS.slice(0, shards)) entries.push(...(await store.queryAll(RunEntry, { journey, shard })));
  const every = Math.max(1, Math.ceil(entries.length / MAX_RUNS));
  const read = entries.filter((_, i) => i % every === 0);
  const rows = await runRows(store, runKeys(journey, read));
  const ofVersion = rows.filter((row) => row?.version === version);
  const sum = sumOf(
    ...ofVersion.flatMap((row) => (row ? [statusAddends(row.status, row.step, 1), outcomesIn(row)] : [])),
  );
  const exact = shards === SHARDS.length && every === 1;
  return { exact, ...readCounts(exact ? sum : scaled(sum, total / Math.max(1, read.length))) };
}

const scaled = (sum: Addends, factor: number): Addends =>
  Object.fromEntries(Object.entries(sum).map(([name, n]) => [name, Math.round((n ?? 0) * factor)]));
