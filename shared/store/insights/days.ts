// The counters of days in reports: the stored ones, and the additions of the last sends to one subscriber.
import type { StoreReader } from "../context.ts";
import { type DayCounters, unsettledDays } from "../sends/chunks/quarters.ts";
import { SHARDS } from "../shards.ts";
import { HourCount } from "./items.ts";

/** Reads the counters. @param window days, both included */
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
