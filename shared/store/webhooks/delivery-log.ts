// The delivery log of a webhook endpoint, by page.
import { uuidV7 } from "../../clock.ts";
import { pageRoom } from "../../http/paging.ts";
import type { Store, StoreReader } from "../../resources.ts";
import type { Envelope } from "../../rules/webhook-events.ts";
import { fromJson, keyOf } from "../item.ts";
import type { Key } from "../model.ts";
import { type DeliveryRecord, deliveryOf, isKept, reopenDelivery } from "./deliveries.ts";
import { DeliveryItem, type DeliveryOutcome, DeliveryPayload, type DeliveryRow } from "./delivery-items.ts";

export interface DeliveryFilter {
  outcome?: DeliveryOutcome | undefined;
  event_type?: string | undefined;
  /** Milliseconds, inclusive. */
  from?: number | undefined;
  to?: number | undefined;
}

interface LogPage extends DeliveryFilter {
  limit: number;
  after?: Key | undefined;
  newestFirst?: boolean;
}

const MAX_EXAMINED = 2_000;
const FIRST = Buffer.alloc(10);
const LAST = Buffer.alloc(10, 0xff);

/** A page of the log; `next` is absent on the last one. */
export async function listDeliveries(
  store: StoreReader,
  webhook: string,
  { limit, after, newestFirst = true, from = 0, to, outcome, event_type }: LogPage,
): Promise<{ deliveries: DeliveryRecord[]; next?: Key }> {
  const range = {
    from: `D#${uuidV7(from, FIRST)}`,
    to: to === undefined ? "D#~" : `D#${uuidV7(to, LAST)}`,
    newestFirst,
  };
  const isWanted = (row: DeliveryRow) =>
    isKept(store, row) &&
    (outcome === undefined || row.outcome === outcome) &&
    (event_type === undefined || row.event_type === event_type);
  const deliveries: DeliveryRecord[] = [];
  let position = after;
  for (let examined = 0; examined < MAX_EXAMINED; ) {
    const options = { ...range, limit: limit - deliveries.length, after: position };
    const page = await store.query(DeliveryItem, { webhook }, options);
    examined += page.items.length;
    deliveries.push(...page.items.filter(isWanted).map(deliveryOf));
    position = page.next;
    if (!position || deliveries.length >= limit) break;
  }
  return { deliveries, ...(position && { next: position }) };
}

/**
 * A page of the log with the payloads; null where a payload was erased. A page holds at most 4 MB
 * (docs/decisions/0021#page-size).
 */
export async function listLog(
  store: StoreReader,
  webhook: string,
  filter: LogPage,
): Promise<{ log: { delivery: DeliveryRecord; payload: Envelope | null }[]; next?: Key }> {
  const { deliveries, next } = await listDeliveries(store, webhook, filter);
  const payloads = await store.getAll(
    DeliveryPayload,
    deliveries.map(({ id }) => ({ webhook, delivery: id })),
  );
  const takes = pageRoom();
  const log: { delivery: DeliveryRecord; payload: Envelope | null }[] = [];
  for (const [i, delivery] of deliveries.entries()) {
    const body = payloads[i]?.body;
    const payload = body === undefined ? null : fromJson(body);
    const last = log.at(-1);
    if (!takes(payload) && last)
      return { log, next: keyOf(DeliveryItem, store.tenant, { webhook, id: last.delivery.id }) };
    log.push({ delivery, payload });
  }
  return next ? { log, next } : { log };
}

/** Deliveries that one replay reopens at most. */
const MAX_REPLAYED = 1_000;
const REPLAY_PAGE = 100;

/**
 * Reopens the deliveries of a time range, oldest first. `next_from` is where the next replay starts; absent if there is
 * nothing left.
 */
export async function replayDeliveries(
  store: Store,
  webhook: string,
  range: Pick<DeliveryFilter, "from" | "to" | "outcome">,
): Promise<{ queued: number; next_from?: string }> {
  let queued = 0;
  let examined = 0;
  let after: Key | undefined;
  do {
    const page = await listDeliveries(store, webhook, { ...range, newestFirst: false, limit: REPLAY_PAGE, after });
    const finished = page.deliveries.filter(({ outcome }) => outcome !== "pending");
    const reopened = await Promise.all(finished.map((delivery) => reopenDelivery(store, webhook, delivery)));
    queued += reopened.filter(Boolean).length;
    examined += page.deliveries.length;
    after = page.next;
    const last = page.deliveries.at(-1);
    if (after && last && examined >= MAX_REPLAYED) return { queued, next_from: last.created_at };
  } while (after);
  return { queued };
}
