// Takes events from what the billing period still allows: exact at the quota, spread over shards until then (D-BILL).
import { MINUTE } from "../../clock.ts";
import { plans } from "../../plans.ts";
import type { Store } from "../../resources.ts";
import { absent, any, atMost } from "../conditions.ts";
import { changeItem, type ItemWrite } from "../item.ts";
import { recent } from "../recent.ts";
import { onTransactionCanceled } from "../refusals.ts";
import { EventUsage } from "../workspaces/items.ts";
import {
  type Allowance,
  EVENT_USAGE_SHARDS,
  eventUsageKeys,
  periodAt,
  shareOf,
  usageRefusal,
  warnOfUsage,
} from "../workspaces/usage.ts";

const MAX_ATTEMPTS = 5;
const TENANTS_REMEMBERED = 1_000;

/**
 * Takes `n` events from the quota. Each shard has its share of it, so their sum never passes it; what one shard cannot
 * give is gathered from the others. A transaction, so that a repeated request takes nothing twice.
 * @throws 402 PAYMENT_REQUIRED.
 */
export async function takeEvents(store: Store, n: number, allowance: Allowance): Promise<void> {
  if (n === 0) return;
  const quota = plans[allowance.plan].events;
  const shard = store.ids.bytes(1)[0]! % EVENT_USAGE_SHARDS;
  if (n <= shareOf(quota, shard) && (await taken(store, [taking(store, quota, shard, n)]))) return;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const used = (await store.getAll(EventUsage, eventUsageKeys(store))).map((row) => row?.events ?? 0);
    const total = used.reduce((sum, one) => sum + one, 0);
    if (total + n > quota) throw usageRefusal("events", n, { events: total }, allowance);
    let left = n;
    const writes: ItemWrite[] = [];
    for (const [at, one] of used.entries()) {
      const max = Math.min(left, shareOf(quota, at) - one);
      if (max <= 0) continue;
      writes.push(taking(store, quota, at, max));
      left -= max;
    }
    if (left === 0 && (await taken(store, writes))) return;
  }
  throw Object.assign(new Error("Too many take the last events of a quota at once."), { name: "ThrottlingException" });
}

/** Gives back what was taken for events that were not stored after all. */
export async function releaseQuota(store: Store, n: number): Promise<void> {
  if (n === 0) return;
  const shard = store.ids.bytes(1)[0]! % EVENT_USAGE_SHARDS;
  await store.transact([changeItem(EventUsage, keyOfShard(store, shard), { add: { events: -n } })]);
}

const keyOfShard = ({ clock }: Store, shard: number) => ({ shard, period: periodAt(clock.now()).name });

const taking = (store: Store, quota: number, shard: number, n: number): ItemWrite =>
  changeItem(
    EventUsage,
    keyOfShard(store, shard),
    { add: { events: n } },
    any(absent("events"), atMost("events", shareOf(quota, shard) - n)),
  );

const taken = (store: Store, writes: readonly ItemWrite[]): Promise<boolean> =>
  store.transact(writes).then(
    () => true,
    onTransactionCanceled(() => false),
  );

/** One per environment: looks at most once a minute whether a warning is due (F25). */
export function usageWatch() {
  const looked = recent<number>(TENANTS_REMEMBERED);
  return async (store: Store, allowance: Allowance): Promise<void> => {
    const now = store.clock.now();
    const place = `${periodAt(now).name} ${store.tenant}`;
    if (now - (looked.get(place) ?? Number.NEGATIVE_INFINITY) < MINUTE) return;
    looked.set(place, now);
    await warnOfUsage(store, "events", allowance);
  };
}
