// The counters of days as reports read them: what is stored, and what the last sends to one subscriber add to it.
import type { StoreReader } from "../context.ts";
import { type DayCounters, unsettledDays } from "../sends/chunks/quarters.ts";
import { SHARDS } from "../shards.ts";
import { HourCount } from "./items.ts";

/** @param window days, both included */
export async function countersOfDays(
  store: StoreReader,
  { from, to }: { from: string; to: string },
): Promise<DayCounters[]> {
  const [unsettled, ...stored] = await Promise.all([
    unsettledDays(store),
    ...SHARDS.map((shard) => store.queryAll(HourCount, { shard }, { from, to, eventual: true })),
  ]);
  return [...unsettled.filter(({ sk }) => sk >= from && sk <= to), ...stored.flat()];
}
