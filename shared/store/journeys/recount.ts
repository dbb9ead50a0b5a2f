// The recount of journeys: compares their numbers with their runs, and repairs them (docs/decisions/0044).
import { absent, is, present } from "../conditions.ts";
import type { Store, StoreReader } from "../context.ts";
import { changeItem, checkItem, keyOf, type RowOf } from "../item.ts";
import { transacted, whereItHolds } from "../refusals.ts";
import { SHARDS } from "../shards.ts";
import { Status } from "../status-index.ts";
import { type Addends, countKeys, isCounter, outcomesIn, statusAddends, sumOf } from "./counts.ts";
import { JourneyItem } from "./items.ts";
import { JourneyCount, RunEntry, type RunEntryRow, runEntryKey, runKeys } from "./run-items.ts";
import { settlePacksOf } from "./run-packs.ts";
import { runRows } from "./run-rows.ts";

type CountRow = RowOf<typeof JourneyCount> | undefined;

/** A recount in progress: the changes of the counters when it began, and the sums of the shards so far. */
export interface PartialCount {
  seen: number;
  sums: Record<string, number>;
}

interface RecountedPart {
  repaired: number;
  /** Where it continues: `<journey>#<shard>`, or the finished journey. */
  after?: string | undefined;
  partial?: PartialCount | undefined;
}

/**
 * Recounts one shard of one journey, if the journey changed since its last recount. The last shard compares: a journey
 * that changed in the meantime is left to the next night.
 */
export async function recountJourneys(
  store: Store,
  after: string | undefined,
  partial: PartialCount | undefined,
): Promise<RecountedPart> {
  const [previous = "", done = ""] = after?.split("#") ?? [];
  if (partial && done !== "") return countShard(store, previous, SHARDS[SHARDS.indexOf(done) + 1], partial);
  const key = previous === "" ? undefined : keyOf(Status, store.tenant, { kind: "journey", id: previous });
  const page = await store.query(Status, { kind: "journey" }, { limit: 1, after: key });
  const [next] = page.items;
  if (!next) return { repaired: 0, after: page.next?.sk };
  const rows = await countersOf(store, next.sk);
  if (rows.every((row) => row === undefined || row.recounted === row.changes)) return { repaired: 0, after: next.sk };
  return countShard(store, next.sk, SHARDS[0], { seen: changesOf(rows), sums: {} });
}

async function countShard(
  store: Store,
  journey: string,
  shard: string | undefined,
  { seen, sums }: PartialCount,
): Promise<RecountedPart> {
  if (shard === undefined) return { repaired: await repairCounters(store, journey, { seen, sums }), after: journey };
  const counted = sumOf(sums, await countRuns(store, journey, shard));
  return { repaired: 0, after: `${journey}#${shard}`, partial: { seen, sums: numbersOf(counted) } };
}

/** The numbers of a journey from its runs of one shard. */
export async function countRuns(store: Store, journey: string, shard: string): Promise<Addends> {
  const entries = await store.queryAll(RunEntry, { journey, shard });
  const parts = entries.flatMap(addendsOfErased);
  const keys = runKeys(journey, entries);
  const rows = await runRows(store, keys);
  // A pack that is counted now changes the counters, so that this recount of the journey is void.
  await settlePacksOf(store, rows);
  for (const row of rows) if (row) parts.push(statusAddends(row.status, row.step, 1), outcomesIn(row));
  // The subscriber of a run was erased in the meantime.
  const missing = keys.filter((_, i) => rows[i] === undefined).map(({ run }) => runEntryKey(journey, run));
  for (const entry of await store.getAll(RunEntry, missing)) if (entry) parts.push(...addendsOfErased(entry));
  return sumOf(...parts);
}

const addendsOfErased = (entry: RunEntryRow): Addends[] =>
  entry.subscriber === undefined ? [{ [`r:${entry.status}`]: 1 }, outcomesIn(entry)] : [];

const countersOf = (store: StoreReader, journey: string) => store.getAll(JourneyCount, countKeys(journey));

const changesOf = (rows: readonly CountRow[]): number => rows.reduce((sum, row) => sum + (row?.changes ?? 0), 0);

const numbersOf = (sum: Addends): Record<string, number> =>
  Object.fromEntries(Object.entries(sum).map(([name, n]) => [name, n ?? 0]));

/** Corrects the counters of a journey that has not changed since its recount began. @returns 1 if they were wrong */
async function repairCounters(store: Store, journey: string, { seen, sums }: PartialCount): Promise<0 | 1> {
  const { tenant } = store;
  const rows = await countersOf(store, journey);
  if (changesOf(rows) !== seen) {
    store.log({ level: "info", message: "a journey changed while it was recounted", tenant, journey });
    return 0;
  }

  const counted: Addends = Object.fromEntries(Object.entries(sums).filter(([name]) => isCounter(name)));
  const shown = sumOf(...rows.filter((row) => row !== undefined));
  const inverse = Object.fromEntries(Object.entries(shown).map(([name, n]) => [name, -(n ?? 0)]));
  const add = sumOf(counted, inverse);
  const [first, ...others] = countKeys(journey);
  if (!first || Object.keys(add).length === 0) return noteRecounted(store, journey, rows);

  const asSeen = (row: CountRow) => (row ? is("changes", row.changes) : absent("changes"));
  const isRepaired = await transacted(store, [
    changeItem(JourneyCount, first, { add: { ...add, changes: 1 } }, asSeen(rows[0])),
    ...others.map((key, i) => checkItem(JourneyCount, key, asSeen(rows[i + 1]))),
    checkItem(JourneyItem, { id: journey }, present()),
  ]);
  if (!isRepaired) return 0;
  store.log({
    level: "warn",
    message: "a counter was repaired",
    tenant,
    counter: JourneyCount.about,
    journey,
    added: add,
  });
  return 1;
}

/** Notes that the counters are right: they are recounted only after they change. */
async function noteRecounted(store: Store, journey: string, rows: readonly CountRow[]): Promise<0> {
  const keys = countKeys(journey);
  for (const [i, row] of rows.entries()) {
    const key = keys[i];
    if (!key || !row || row.recounted === row.changes) continue;
    const isSame = is("changes", row.changes);
    await whereItHolds(store.change(JourneyCount, key, { set: { recounted: row.changes } }, isSame));
  }
  return 0;
}
