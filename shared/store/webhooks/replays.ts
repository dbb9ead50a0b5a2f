// Deliveries that are sent again: one alone, or those of a time range in the order of their numbers (F11, AMB-124).
import { DAY, timestamp, ttl } from "../../kernel/clock.ts";
import { timeOfUuid } from "../../kernel/ids.ts";
import { absent, all, any, atMost, type Condition, is } from "../conditions.ts";
import type { Store } from "../context.ts";
import type { Key } from "../model.ts";
import { madeOnce, whereItHolds } from "../refusals.ts";
import { type DeliveryRecord, givenUp, isUnderWay } from "./deliveries.ts";
import { DeliveryItem, ReplayItem } from "./delivery-items.ts";
import { type DeliveryFilter, listDeliveries, numberedDeliveries } from "./delivery-log.ts";
import { withGroupClaim } from "./group-claims.ts";

/** Deliveries that one replay reopens, with those of the same millisecond as the last one. */
const MAX_REPLAYED = 1_000;
/** Rows that one replay reads: few of a large log may be wanted. */
const MAX_READ = 10_000;
const PAGE = 100;
const KEPT_MS = 2 * DAY;

/**
 * Reopens the deliveries of a time range, except those in progress; the insertion of the replay's row starts it.
 * `next_from` is where the next replay starts; absent if nothing is left.
 */
export async function replayDeliveries(
  store: Store,
  webhook: string,
  range: Pick<DeliveryFilter, "from" | "outcome"> & { to: number },
): Promise<{ queued: number; next_from?: string }> {
  const id = store.ids.uuid();
  const reopened: DeliveryRecord[] = [];
  let found = 0;
  let read = 0;
  let after: Key | undefined;
  let { to } = range;
  let isCut = false;
  let failure: PromiseRejectedResult | undefined;
  do {
    const page = await listDeliveries(store, webhook, { ...range, to, newestFirst: false, limit: PAGE, after });
    const deliveries = await numberedDeliveries(store, webhook, page.rows);
    const free = deliveries.filter((delivery) => !isUnderWay(store, delivery));
    const results = await Promise.allSettled(free.map((delivery) => reopenDelivery(store, webhook, delivery, id)));
    // A write without an answer may have reopened its delivery.
    reopened.push(...free.filter((_, i) => results[i]?.status === "rejected" || results[i]?.value === true));
    failure = results.find((result) => result.status === "rejected");
    found += deliveries.length;
    read += page.examined;
    after = page.next;
    // All of a millisecond go together: the next call begins after it, and sends none of them again.
    const isEnough = found >= MAX_REPLAYED || read >= MAX_READ;
    if (after && isEnough && !isCut) [to, isCut] = [timeOfUuid(deliveryIn(after)), true];
  } while (after && !failure);
  if (reopened.length > 0) {
    const deliveries = reopened.sort((a, b) => orderOf(a) - orderOf(b)).map((delivery) => delivery.id);
    const expires = ttl(store.clock.now() + KEPT_MS);
    const row = { react: "replay", id, webhook, deliveries, expires } as const;
    // The id is new: an existing row is this very row, whose reply was lost.
    await whereItHolds(store.put(ReplayItem, { webhook, id }, row, absent()));
  }
  // Reopened deliveries are queued anyway: otherwise only the watchdog would queue them.
  if (failure) throw failure.reason;
  const queued = reopened.length;
  return isCut && to < range.to ? { queued, next_from: timestamp(to + 1) } : { queued };
}

/**
 * Starts another series of attempts (AMB-104). An attempt whose result was never recorded is recorded as unknown, so
 * that its message has no effect if it comes later.
 * @param replay the replay that sends it; without one it is queued alone
 * @returns false if a worker holds a lease on the delivery.
 */
export async function reopenDelivery(
  store: Store,
  webhook: string,
  delivery: DeliveryRecord,
  replay?: string,
): Promise<boolean> {
  const { id } = delivery;
  const seen = await withGroupClaim(store, webhook, delivery);
  const isFree = any(isNot("outcome", "pending"), absent("lease"), atMost("lease", store.clock.now()));
  const set = { outcome: "pending" as const, earlier: seen.attempt_count, replay };
  const remove = replay === undefined ? (["lease", "replay"] as const) : (["lease"] as const);
  const giveUp = givenUp(seen);
  const change = { set: { ...set, ...giveUp.set }, add: { reopened: 1 }, remove };
  const when = all(isFree, ...giveUp.when);
  const reopening = store.change(DeliveryItem, { webhook, id }, change, when);
  return madeOnce(DeliveryItem, reopening, (old) => replay !== undefined && old?.replay === replay);
}

const isNot =
  <A extends string>(attribute: A, value: string): Condition<A> =>
  (names) =>
    `NOT ${is(attribute, value)(names)}`;

/** A delivery that has no number yet is newer than those that have one. */
const orderOf = ({ sequence }: DeliveryRecord): number => sequence ?? Number.MAX_SAFE_INTEGER;

const deliveryIn = ({ sk }: Key): string => sk.slice(sk.indexOf("#") + 1);
