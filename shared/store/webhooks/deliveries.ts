// The log of webhook deliveries: a small row that says how each stands, its payload beside it, both for 30 days.
import { createHash } from "node:crypto";
import { DAY, SECOND, timeOfUuid, timestamp, uuidV7 } from "../../clock.ts";
import { pageRoom } from "../../http/paging.ts";
import type { Store, StoreReader } from "../../resources.ts";
import type { AttemptResult, Envelope, Payload, WebhookEvent } from "../../rules/webhook-events.ts";
import { absent, all, is } from "../conditions.ts";
import { keys } from "../keys.ts";
import type { Item, Key } from "../model.ts";
import { onConditionFailed, onTransactionCanceled } from "../refusals.ts";
import type { TransactItem } from "../table.ts";

/** D-HOOKS. */
const KEPT_MS = 30 * DAY;
/** Longer than an attempt may take: when it is over, nobody is at it any more. */
export const ATTEMPT_LEASE_MS = 20 * SECOND;

export const deliveryOutcomes = ["pending", "delivered", "failed"] as const;
export type DeliveryOutcome = (typeof deliveryOutcomes)[number];

export interface Attempt {
  n: number;
  at: string;
  status_code: number | null;
  error: string | null;
  duration_ms: number;
}

export interface Delivery {
  id: string;
  event_type: WebhookEvent;
  outcome: DeliveryOutcome;
  attempt_count: number;
  last_status_code: number | null;
  attempts: Attempt[];
  created_at: string;
}

export type DeliveryItem = Delivery & {
  /** Attempts of earlier rounds: a redelivery begins a new one (AMB-104). */
  earlier: number;
  lease: number;
};

/** What happened, told to every endpoint that asks for it. `key` tells one event of a type from the next. */
export interface Occurrence {
  event: WebhookEvent;
  key: string;
  /** Milliseconds. */
  at: number;
  data: Payload;
  /** Whose personal data the payload holds. */
  subscriber?: string | undefined;
}

const part = ({ tenant }: Pick<Store, "tenant">, webhook: string, sk: string) =>
  keys.part(tenant, "webhook", webhook, sk);
const stateKey = (store: Pick<Store, "tenant">, webhook: string, id: string) => part(store, webhook, `D#${id}`);
const bodyKey = (store: Pick<Store, "tenant">, webhook: string, id: string) => part(store, webhook, `P#${id}`);

/** The same event gives the same delivery at an endpoint, however often it is noticed. */
const deliveryId = (webhook: string, { event, key, at }: Occurrence) =>
  uuidV7(at, createHash("sha256").update(`${webhook}:${event}:${key}`).digest());

/**
 * Notes deliveries to be made, each once. Their insertion into the table is what sends them on their way.
 * @returns their ids.
 */
export async function noteDeliveries(
  store: Store,
  wanted: readonly { webhook: string; occurrence: Occurrence }[],
): Promise<string[]> {
  const deliveries = wanted.map(({ webhook, occurrence }) => ({
    webhook,
    occurrence,
    id: deliveryId(webhook, occurrence),
  }));
  const expires = Math.ceil((store.clock.now() + KEPT_MS) / SECOND);
  const rows = deliveries.flatMap(({ webhook, occurrence, id }): Item[] => {
    const { event, at, data, subscriber } = occurrence;
    const envelope: Envelope = { id, event_type: event, tenant_id: store.tenant, timestamp: timestamp(at), data };
    const body: Item = { ...bodyKey(store, webhook, id), body: JSON.stringify(envelope), expires };
    const pointer = subscriber && { ...keys.webhookPayload(store.tenant, subscriber, webhook, id), expires };
    return pointer ? [pointer, body] : [body];
  });
  await store.writeAll(rows.map((put) => ({ put })));
  await Promise.all(
    deliveries.map(({ webhook, occurrence: { event }, id }) =>
      store
        .put(
          {
            ...stateKey(store, webhook, id),
            react: "delivery",
            ...{ id, webhook, event_type: event, outcome: "pending", attempt_count: 0, earlier: 0, expires },
          },
          absent(),
        )
        .catch(onConditionFailed(() => undefined)),
    ),
  );
  return deliveries.map(({ id }) => id);
}

/** A delivery and its raw body; without one if what it said was erased. */
export async function findDelivery(
  store: StoreReader,
  webhook: string,
  id: string,
): Promise<{ delivery: DeliveryItem; body: string | undefined } | undefined> {
  const [state, body] = await store.getAll([stateKey(store, webhook, id), bodyKey(store, webhook, id)]);
  if (!isKept(store, state)) return undefined;
  return { delivery: deliveryOf(state), body: body && String(body.body) };
}

/** Takes attempt `n`: nobody else makes it. @returns false if it was taken before. */
export function claimAttempt(store: Store, webhook: string, id: string, n: number, owner: string): Promise<boolean> {
  return store
    .update(
      stateKey(store, webhook, id),
      { set: { attempt_count: n, owner, lease: store.clock.now() + ATTEMPT_LEASE_MS } },
      all(is("outcome", "pending"), is("attempt_count", n - 1)),
    )
    .then(
      () => true,
      onConditionFailed(() => false),
    );
}

export interface Finished {
  n: number;
  /** When it began, in milliseconds. */
  at: number;
  result: AttemptResult;
  outcome: DeliveryOutcome;
}

/**
 * Records what attempt `n` came to, and `extraItems` with it what follows at the endpoint, if that is still there.
 * @returns false if it was recorded before.
 */
export async function recordAttempt(
  store: Store,
  webhook: string,
  id: string,
  { n, at, result, outcome }: Finished,
  extraItems: readonly TransactItem[] = [],
): Promise<boolean> {
  const status_code = "status" in result ? result.status : undefined;
  const error = "error" in result ? result.error : undefined;
  const attempt = JSON.stringify({ at: timestamp(at), status_code, error, duration_ms: store.clock.now() - at });
  const recording = {
    update: stateKey(store, webhook, id),
    change: { set: { [ATTEMPT + n]: attempt, outcome, last_status_code: status_code } },
    when: all(is("outcome", "pending"), is("attempt_count", n), absent(ATTEMPT + n)),
  };
  const alone = () =>
    store.update(recording.update, recording.change, recording.when).then(
      () => true,
      onConditionFailed(() => false),
    );
  if (extraItems.length === 0) return alone();
  return store.transact([recording, ...extraItems]).then(
    () => true,
    onTransactionCanceled(([own]) => (own ? false : alone())),
  );
}

/** Ends a delivery that needs no attempt any more: its endpoint is gone, or what it said was erased. */
export async function abandonDelivery(store: Store, webhook: string, id: string): Promise<void> {
  await store
    .update(stateKey(store, webhook, id), { set: { outcome: "failed" } }, is("outcome", "pending"))
    .catch(onConditionFailed(() => undefined));
}

/** Begins a new round of attempts. @returns false if the delivery is under way. */
export function reopenDelivery(store: Store, webhook: string, { id, attempt_count }: DeliveryItem): Promise<boolean> {
  const change = { set: { outcome: "pending", earlier: attempt_count } };
  const when = all(absentOutcome("pending"), is("attempt_count", attempt_count));
  return store.update(stateKey(store, webhook, id), change, when).then(
    () => true,
    onConditionFailed(() => false),
  );
}

const absentOutcome =
  (outcome: DeliveryOutcome): ReturnType<typeof is> =>
  (n) =>
    `NOT ${is("outcome", outcome)(n)}`;

export interface DeliveryFilter {
  outcome?: DeliveryOutcome | undefined;
  event_type?: string | undefined;
  /** Milliseconds, inclusive. */
  from?: number | undefined;
  to?: number | undefined;
}

const MAX_EXAMINED = 2_000;
const FIRST = Buffer.alloc(10);
const LAST = Buffer.alloc(10, 0xff);

/** A page of the log; `next` is absent on the last one. */
export async function listDeliveries(
  store: StoreReader,
  webhook: string,
  {
    limit,
    after,
    newestFirst = true,
    from = 0,
    to,
    ...filter
  }: DeliveryFilter & { limit: number; after?: Key | undefined; newestFirst?: boolean },
): Promise<{ deliveries: DeliveryItem[]; next?: Key }> {
  const range = {
    pk: part(store, webhook, "").pk,
    from: `D#${uuidV7(from, FIRST)}`,
    to: to === undefined ? "D#~" : `D#${uuidV7(to, LAST)}`,
    newestFirst,
  };
  const deliveries: DeliveryItem[] = [];
  let position = after;
  for (let examined = 0; examined < MAX_EXAMINED; ) {
    const page = await store.query({ ...range, limit: limit - deliveries.length, after: position });
    examined += page.items.length;
    for (const item of page.items)
      if (
        isKept(store, item) &&
        (filter.outcome === undefined || item.outcome === filter.outcome) &&
        (filter.event_type === undefined || item.event_type === filter.event_type)
      )
        deliveries.push(deliveryOf(item));
    position = page.next;
    if (!position || deliveries.length >= limit) break;
  }
  return { deliveries, ...(position && { next: position }) };
}

/**
 * A page of the log with what each delivery said; null where that was erased. It closes at 4 MB
 * (docs/decisions/0021#page-size).
 */
export async function listLog(
  store: StoreReader,
  webhook: string,
  filter: DeliveryFilter & { limit: number; after?: Key | undefined },
): Promise<{ log: { delivery: DeliveryItem; payload: Envelope | null }[]; next?: Key }> {
  const { deliveries, next } = await listDeliveries(store, webhook, filter);
  const bodies = await store.getAll(deliveries.map(({ id }) => bodyKey(store, webhook, id)));
  const takes = pageRoom();
  const log: { delivery: DeliveryItem; payload: Envelope | null }[] = [];
  for (const [i, delivery] of deliveries.entries()) {
    const body = bodies[i];
    const payload = body ? (JSON.parse(String(body.body)) as Envelope) : null;
    if (!takes(payload)) return { log, next: stateKey(store, webhook, log.at(-1)!.delivery.id) };
    log.push({ delivery, payload });
  }
  return next ? { log, next } : { log };
}

/** What a subscriber's erasure takes away: the payloads that hold its data, and the rows that say where they are. */
export async function payloadKeysOf(store: Store, subscriber: string): Promise<Key[]> {
  const { pk, sk } = keys.webhookPayload(store.tenant, subscriber, "", "");
  const { items } = await store.query({ pk, prefix: sk.slice(0, sk.indexOf("#") + 1) });
  return items.flatMap((pointer) => {
    const [, webhook = "", id = ""] = pointer.sk.split("#");
    return [bodyKey(store, webhook, id), pointer];
  });
}

const ATTEMPT = "t:";

const isKept = (store: StoreReader, item: Item | undefined): item is Item =>
  item !== undefined && Number(item.expires) * SECOND > store.clock.now();

function deliveryOf(item: Item): DeliveryItem {
  const attempts = Object.entries(item)
    .filter(([name]) => name.startsWith(ATTEMPT))
    .map(([name, text]): Attempt => {
      const { at, status_code = null, error = null, duration_ms } = JSON.parse(String(text));
      return { n: Number(name.slice(ATTEMPT.length)), at, status_code, error, duration_ms };
    });
  return {
    id: String(item.id),
    event_type: item.event_type as WebhookEvent,
    outcome: item.outcome as DeliveryOutcome,
    attempt_count: Number(item.attempt_count),
    last_status_code: (item.last_status_code as number | undefined) ?? null,
    attempts: attempts.sort((a, b) => a.n - b.n),
    created_at: timestamp(timeOfUuid(String(item.id))),
    earlier: Number(item.earlier),
    lease: Number(item.lease ?? 0),
  };
}
