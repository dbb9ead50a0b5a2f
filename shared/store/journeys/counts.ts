// The numbers of a journey: runs by status, and by step the runs that are on it and what came of it (JST). They change in
// the transactions that change the runs, in shards, so that no key is hot.
import type { Store, StoreReader } from "../../resources.ts";
import type { RunStatus } from "../../rules/run-states.ts";
import { keys } from "../keys.ts";
import type { Item } from "../model.ts";
import type { TransactItem } from "../table.ts";

export const COUNT_SHARDS = 8;
const RUNS = "r:";
const ACTIVE = "a:";
const OUTCOME = "o:";

export interface JourneyCounts {
  runs: Record<RunStatus, number>;
  steps: Record<string, { active: number; outcomes: Record<string, number> }>;
}

/** What a change of a run adds, by attribute. */
export type Addends = Record<string, number>;

/** A run of this status more (or fewer), and while it is active, on this step. */
export function statusAddends(status: RunStatus, step: string, sign: 1 | -1): Addends {
  return status === "active" ? { [RUNS + status]: sign, [ACTIVE + step]: sign } : { [RUNS + status]: sign };
}

export const outcomeName = (step: string, outcome: string): string => `${OUTCOME}${step}|${outcome}`;

export function sumOf(...parts: readonly Addends[]): Addends {
  const sum: Addends = {};
  for (const part of parts) for (const [name, n] of Object.entries(part)) sum[name] = (sum[name] ?? 0) + n;
  return Object.fromEntries(Object.entries(sum).filter(([, n]) => n !== 0));
}

/** The step of a transaction that counts a change of a run; none if nothing changes. */
export function countWrites(
  { tenant }: Pick<Store, "tenant">,
  journey: string,
  run: string,
  add: Addends,
): TransactItem[] {
  if (Object.keys(add).length === 0) return [];
  const shard = Number.parseInt(run.at(-1) ?? "0", 16) % COUNT_SHARDS;
  return [{ update: keys.journeyCount(tenant, journey, shard), change: { add } }];
}

/** The attributes of an item that count outcomes. */
export const outcomesOf = (item: Item): Addends =>
  Object.fromEntries(Object.entries(item).filter(([name]) => name.startsWith(OUTCOME))) as Addends;

/** The numbers of journeys, in their order. */
export async function countsOf(store: StoreReader, journeys: readonly string[]): Promise<JourneyCounts[]> {
  const shards = Array.from({ length: COUNT_SHARDS }, (_, shard) => shard);
  const items = await store.getAll(
    journeys.flatMap((id) => shards.map((shard) => keys.journeyCount(store.tenant, id, shard))),
  );
  return journeys.map((_, i) => {
    const rows = items.slice(i * COUNT_SHARDS, (i + 1) * COUNT_SHARDS);
    return readCounts(sumOf(...rows.map((row) => numbersOf(row))));
  });
}

const numbersOf = (row: Item | undefined): Addends =>
  Object.fromEntries(Object.entries(row ?? {}).filter(([name]) => /^[rao]:/.test(name))) as Addends;

/** Numbers by attribute as a client reads them. */
export function readCounts(sum: Addends): JourneyCounts {
  const counts: JourneyCounts = { runs: { active: 0, completed: 0, exited: 0, canceled: 0 }, steps: {} };
  const stepOf = (id: string) => {
    counts.steps[id] ??= { active: 0, outcomes: {} };
    return counts.steps[id];
  };
  for (const [name, n] of Object.entries(sum)) {
    const rest = name.slice(RUNS.length);
    if (name.startsWith(RUNS)) counts.runs[rest as RunStatus] = n;
    else if (name.startsWith(ACTIVE)) stepOf(rest).active = n;
    else {
      const at = rest.lastIndexOf("|");
      stepOf(rest.slice(0, at)).outcomes[rest.slice(at + 1)] = n;
    }
  }
  return counts;
}
