// Which partitions of the export index hold events, by day: exports read only these.
import type { Store, StoreReader } from "../context.ts";
import { putItem } from "../item.ts";
import type { Key } from "../model.ts";
import { recent } from "../recent.ts";
import { pagesOf } from "../table.ts";
import { EventShard } from "./items.ts";

const MAX_CACHED = 20_000;
const PAGE_ROWS = 64;

export interface DayShard {
  day: string;
  shard: string;
}

/** One per environment: notes new partitions, always before the events in them are written. */
export function dayRegister() {
  const cache = recent<true>(MAX_CACHED);
  return async (store: Store, partitions: readonly DayShard[]): Promise<void> => {
    const fresh = new Map<string, DayShard>();
    for (const partition of partitions) {
      const name = `${store.tenant} ${partition.day} ${partition.shard}`;
      if (!cache.get(name)) fresh.set(name, partition);
    }
    await store.writeAll([...fresh.values()].map((partition) => putItem(EventShard, partition, {})));
    for (const name of fresh.keys()) cache.set(name, true);
  };
}

/** The partitions from one day to another, both included, day by day. */
export async function* noted(store: StoreReader, from: string, to: string): AsyncGenerator<DayShard[], undefined> {
  let ofDay: DayShard[] = [];
  const range = { from: `${from}#`, to: `${to}#~`, limit: PAGE_ROWS, eventual: true };
  for await (const { items } of pagesOf((after?: Key) => store.query(EventShard, {}, { ...range, after })))
    for (const { sk } of items) {
      const [day = "", shard = ""] = sk.split("#");
      if (ofDay.some((partition) => partition.day !== day)) {
        yield ofDay;
        ofDay = [];
      }
      ofDay.push({ day, shard });
    }
  if (ofDay.length > 0) yield ofDay;
}
