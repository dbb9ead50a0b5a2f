// Which partitions of the export index hold events, by day: exports read only these.
import { MINUTE } from "../../kernel/clock.ts";
import type { Store, StoreReader } from "../context.ts";
import { putItem } from "../item.ts";
import type { Key } from "../model.ts";
import { recent } from "../recent.ts";
import { EventDay, EventShard } from "./items.ts";

const MAX_CACHED = 20_000;
const PAGE_ROWS = 64;

export interface DayShard {
  day: string;
  shard: string;
}

/** One per environment: notes partitions that it has not noted yet. Always before the events in them are written. */
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
export async function* noted(store: StoreReader, from: string, to: string): AsyncGenerator<DayShard[]> {
  const [ours, first] = [notedIn(store, EventShard, from, to), notedIn(store, EventDay, from, to)];
  let [next, old] = [await ours.next(), await first.next()];
  const dayOf = ({ value }: typeof next) => (value?.[0] as DayShard | undefined)?.day ?? "~";
  while (!next.done || !old.done) {
    const [day, oldDay] = [dayOf(next), dayOf(old)];
    const shards = new Map<string, DayShard>();
    if (oldDay <= day && !old.done) {
      for (const one of old.value) shards.set(one.shard, one);
      old = await first.next();
    }
    if (day <= oldDay && !next.done) {
      for (const one of next.value) shards.set(one.shard, one);
      next = await ours.next();
    }
    yield [...shards.values()];
  }
}

async function* notedIn(
  store: StoreReader,
  register: typeof EventShard,
  from: string,
  to: string,
): AsyncGenerator<DayShard[], undefined> {
  let ofDay: DayShard[] = [];
  let after: Key | undefined;
  do {
    const range = { from: `${from}#`, to: `${to}#~`, limit: PAGE_ROWS, after, eventual: true };
    const page = await store.query(register, {}, range);
    for (const { sk } of page.items) {
      const [day = "", shard = ""] = sk.split("#");
      if (ofDay.some((partition) => partition.day !== day)) {
        yield ofDay;
        ofDay = [];
      }
      ofDay.push({ day, shard });
    }
    after = page.next;
  } while (after);
  if (ofDay.length > 0) yield ofDay;
}

/** How long an environment relies on there being no events of the first format. */
const NONE_CACHED_MS = 10 * MINUTE;

/** Whether a workspace has events of the first format, which are in histories by an index alone. */
export const hasFirstFormat = async (store: StoreReader): Promise<boolean> =>
  (await store.query(EventDay, {}, { limit: 1, eventual: true })).items.length > 0;

/** The same, cached by an environment. */
export function firstFormatCheck(): (store: StoreReader) => Promise<boolean> {
  const cache = recent<{ has: boolean; at: number }>(MAX_CACHED);
  return async (store) => {
    const now = store.clock.now();
    const cached = cache.get(store.tenant);
    if (cached && (cached.has || now - cached.at < NONE_CACHED_MS)) return cached.has;
    const has = await hasFirstFormat(store);
    cache.set(store.tenant, { has, at: now });
    return has;
  };
}
