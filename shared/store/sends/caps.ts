// What a person got of capped messages: counters by day and week under the subscriber, claimed with the group (D-CAP).
import { DAY, SECOND } from "../../clock.ts";
import type { StoreReader } from "../../resources.ts";
import { counterOf, type FrequencyCap, windowOf } from "../../rules/caps.ts";
import { absent, all, any, below } from "../conditions.ts";
import { keys } from "../keys.ts";
import type { Item, TenantId } from "../model.ts";
import { chunksOf, type TransactItem } from "../table.ts";

/** Past the end of any window: nobody reads it any more. */
const KEPT_MS = 9 * DAY;

export interface Capping {
  tenant: TenantId;
  /** In which days and weeks are counted. */
  timezone: string;
  now: number;
}

/** The steps that count one message against caps of one window each; each is refused by a cap that is reached. */
export function countWrites(
  { tenant, timezone, now }: Capping,
  subscriber: string,
  caps: readonly FrequencyCap[],
): { step: TransactItem; caps: FrequencyCap[] }[] {
  const windows = Map.groupBy(caps, ({ per }) => per);
  return [...windows].map(([per, together]) => ({
    caps: together,
    step: {
      update: keys.sendCount(tenant, subscriber, per, windowOf(per, timezone, now)),
      change: {
        add: Object.fromEntries(together.map((cap) => [counterOf(cap), 1])),
        initial: { expires: Math.ceil((now + KEPT_MS) / SECOND) },
      },
      when: all(...together.map((cap) => any(absent(counterOf(cap)), below(counterOf(cap), cap.max)))),
    },
  }));
}

/** A cap, and how many messages it had counted when it was looked at. */
export interface Counted extends FrequencyCap {
  count: number;
}

export const countedIn = (item: Item | undefined, cap: FrequencyCap): Counted => ({
  ...cap,
  count: Number(item?.[counterOf(cap)] ?? 0),
});

/** What caps have counted of each of these people in the windows of a moment. */
export async function countsOf(
  store: StoreReader,
  { timezone, now }: Omit<Capping, "tenant">,
  subscribers: readonly string[],
  caps: readonly FrequencyCap[],
): Promise<Counted[][]> {
  const asked = subscribers.flatMap((id) => caps.map((cap) => ({ id, cap })));
  const windows = new Map(caps.map(({ per }) => [per, windowOf(per, timezone, now)]));
  const rows = await store.getAll(
    asked.map(({ id, cap: { per } }) => keys.sendCount(store.tenant, id, per, windows.get(per)!)),
  );
  const counted = asked.map(({ cap }, i) => countedIn(rows[i], cap));
  return chunksOf(counted, Math.max(1, caps.length));
}
