// Frequency caps: counters by day and week under the subscriber, claimed together with the group (D-CAP).
import { DAY, ttl } from "../../../kernel/clock.ts";
import { type CountedCap, counterOf, type FrequencyCap, windowOf } from "../../../rules/caps.ts";
import { chunksOf } from "../../../rules/chunks.ts";
import { absent, all, any, below } from "../../conditions.ts";
import type { StoreReader } from "../../context.ts";
import { changeItem, type ItemWrite, type RowOf } from "../../item.ts";
import { SendCounter } from "../ledger/ledger-items.ts";

/** Longer than any window. */
const KEPT_MS = 9 * DAY;

export interface CapContext {
  /** The zone in which days and weeks are counted. */
  timezone: string;
  now: number;
}

/** The writes that count one message, one for each kind of window. Their condition fails if a cap is reached. */
export function countWrites(
  { timezone, now }: CapContext,
  subscriber: string,
  caps: readonly FrequencyCap[],
): { write: ItemWrite<"workspace">; caps: FrequencyCap[] }[] {
  const windows = Map.groupBy(caps, ({ per }) => per);
  return [...windows].map(([per, together]) => ({
    caps: together,
    write: changeItem(
      SendCounter,
      { subscriber, per, window: windowOf(per, timezone, now) },
      {
        add: Object.fromEntries(together.map((cap) => [counterOf(cap), 1])),
        initial: { expires: ttl(now + KEPT_MS) },
      },
      all(...together.map((cap) => any(absent(counterOf(cap)), below(counterOf(cap), cap.max)))),
    ),
  }));
}

export const countedIn = (row: RowOf<typeof SendCounter> | undefined, cap: FrequencyCap): CountedCap => ({
  ...cap,
  count: row?.[counterOf(cap)] ?? 0,
});

/** The counts of caps for each of these subscribers in the windows of a moment. */
export async function countsOf(
  store: StoreReader,
  { timezone, now }: CapContext,
  subscribers: readonly string[],
  caps: readonly FrequencyCap[],
): Promise<CountedCap[][]> {
  const windowed = caps.map((cap) => ({ cap, window: windowOf(cap.per, timezone, now) }));
  const wanted = subscribers.flatMap((subscriber) => windowed.map((window) => ({ subscriber, ...window })));
  const keys = wanted.map(({ subscriber, cap: { per }, window }) => ({ subscriber, per, window }));
  const rows = await store.getAll(SendCounter, keys);
  const counted = wanted.map(({ cap }, i) => countedIn(rows[i], cap));
  return chunksOf(counted, Math.max(1, caps.length));
}
