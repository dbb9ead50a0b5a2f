// The quota of events of a billing period: spread over shards, and exact to the last event (D-BILL).
import { MINUTE } from "../../kernel/clock.ts";
import { namedError } from "../../kernel/errors.ts";
import { plans } from "../../rules/plans.ts";
import { absent, any, atMost } from "../conditions.ts";
import type { Store } from "../context.ts";
import { changeItem, type ItemWrite } from "../item.ts";
import { recent } from "../recent.ts";
import { contended, done, transacted, untilUncontended } from "../refusals.ts";
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
const MAX_CACHED_TENANTS = 1_000;

/**
 * Takes `n` events from the quota. Each shard has a share of it, so their sum never exceeds it. If one shard has too
 * few left, all of them are used. A transaction is used, so that the SDK's retry of a request takes nothing twice.
 * @param at when the events were received, in milliseconds: the month that pays for them @throws 402 PAYMENT_REQUIRED
 */
export async function takeEvents(store: Store, n: number, allowance: Allowance, at: number): Promise<void> {
  if (n === 0) return;
  const quota = plans[allowance.plan].events;
  const { name: period } = periodAt(at);
  const shard = randomShard(store);
  const isTaken = n <= shareOf(quota, shard) && (await taken(store, [taking({ shard, period }, quota, n)]));
  if (isTaken) return;
  return untilUncontended(
    () => namedError("ThrottlingException", "Too many take the last events of a quota at once."),
    async () => {
      const used = (await store.getAll(EventUsage, eventUsageKeys(store, { period }))).map((row) => row?.events ?? 0);
      const total = used.reduce((sum, count) => sum + count, 0);
      if (total + n > quota) throw usageRefusal("events", n, { events: total }, allowance);
      let left = n;
      const writes: ItemWrite[] = [];
      for (const [shard, count] of used.entries()) {
        const max = Math.min(left, shareOf(quota, shard) - count);
        if (max <= 0) continue;
        writes.push(taking({ shard, period }, quota, max));
        left -= max;
      }
      const isAllTaken = left === 0 && (await taken(store, writes));
      return isAllTaken ? done(undefined) : contended;
    },
    MAX_ATTEMPTS,
  );
}

/** Returns the quota of events that were not stored. @param at when they were received: that month may be over */
export async function releaseQuota(store: Store, n: number, at: number): Promise<void> {
  if (n === 0) return;
  const key = { shard: randomShard(store), period: periodAt(at).name };
  await store.transact([changeItem(EventUsage, key, { add: { events: -n } })]);
}

function randomShard({ ids }: Store): number {
  const [byte = 0] = ids.bytes(1);
  return byte % EVENT_USAGE_SHARDS;
}

function taking(key: { shard: number; period: string }, quota: number, n: number): ItemWrite {
  const hasRoom = any(absent("events"), atMost("events", shareOf(quota, key.shard) - n));
  return changeItem(EventUsage, key, { add: { events: n } }, hasRoom);
}

const taken = (store: Store, writes: readonly ItemWrite[]): Promise<boolean> => transacted(store, writes);

/** One per environment: checks at most once a minute whether a warning is due (F25). */
export function usageWatch() {
  const checkedAt = recent<number>(MAX_CACHED_TENANTS);
  return async (store: Store, allowance: Allowance): Promise<void> => {
    const now = store.clock.now();
    const place = `${periodAt(now).name} ${store.tenant}`;
    if (now - (checkedAt.get(place) ?? Number.NEGATIVE_INFINITY) < MINUTE) return;
    checkedAt.set(place, now);
    await warnOfUsage(store, "events", allowance);
  };
}
