// Deliveries to webhook endpoints: the state of each, with its attempts, and its payload, both kept for 30 days.
import { createHash } from "node:crypto";
import { DAY, SECOND, timeOfUuid, timestamp, uuidV7 } from "../../clock.ts";
import type { Store, StoreReader } from "../../resources.ts";
import type { AttemptResult, Payload, WebhookEvent } from "../../rules/webhook-events.ts";
import { absent, all, type Condition, is } from "../conditions.ts";
import { changeItem, fromJson, type ItemWrite, type JsonText, keyOf, putItem, ref, toJson } from "../item.ts";
import type { Key } from "../model.ts";
import { onConditionFailed, onTransactionCanceled } from "../refusals.ts";
import {
  type Delivery,
  DeliveryItem,
  type DeliveryOutcome,
  DeliveryPayload,
  type DeliveryRow,
  PayloadReference,
  type RecordedAttempt,
} from "./delivery-items.ts";

/** D-HOOKS. */
const KEPT_MS = 30 * DAY;
/** Longer than an attempt may take: afterwards its worker is known to have failed. */
export const ATTEMPT_LEASE_MS = 20 * SECOND;

/** A delivery as the product works with it. */
export interface DeliveryRecord extends Omit<Delivery, "payload"> {
  earlier: number;
  lease: number;
}

/** An event for every webhook endpoint that subscribes to its type. `key` distinguishes events of one type. */
export interface Occurrence {
  event: WebhookEvent;
  key: string;
  /** Milliseconds. */
  at: number;
  data: Payload;
  /** The subscriber whose personal data the payload holds. */
  subscriber?: string | undefined;
}

/** The same event always gives the same delivery to an endpoint. */
const deliveryId = (webhook: string, { event, key, at }: Occurrence) =>
  uuidV7(at, createHash("sha256").update(`${webhook}:${event}:${key}`).digest());

/**
 * Stores deliveries to be made, each once. The insertion of their rows triggers the first attempt.
 * @returns their ids.
 */
export async function noteDeliveries(
  store: Store,
  wanted: readonly { webhook: string; occurrence: Occurrence }[],
): Promise<string[]> {
  const expires = Math.ceil((store.clock.now() + KEPT_MS) / SECOND);
  const deliveries = wanted.map(({ webhook, occurrence }) => ({
    webhook,
    occurrence,
    id: deliveryId(webhook, occurrence),
  }));
  await store.writeAll(
    deliveries.flatMap(({ webhook, occurrence, id }): ItemWrite<"workspace">[] => {
      const { event, at, data, subscriber } = occurrence;
      const body = toJson({ id, event_type: event, tenant_id: store.tenant, timestamp: timestamp(at), data });
      const payload = putItem(DeliveryPayload, { webhook, delivery: id }, { body, expires });
      if (subscriber === undefined) return [payload];
      return [putItem(PayloadReference, { subscriber, webhook, delivery: id }, { expires }), payload];
    }),
  );
  await Promise.all(
    deliveries.map(({ webhook, occurrence: { event }, id }) =>
      store
        .put(
          DeliveryItem,
          { webhook, id },
          {
            react: "delivery",
            id,
            webhook,
            event_type: event,
            outcome: "pending",
            attempt_count: 0,
            earlier: 0,
            expires,
          },
          absent(),
        )
        .catch(onConditionFailed(() => undefined)),
    ),
  );
  return deliveries.map(({ id }) => id);
}

/** A delivery and its raw body; the body is undefined after an erasure. */
export async function findDelivery(
  store: StoreReader,
  webhook: string,
  id: string,
): Promise<{ delivery: DeliveryRecord; body: string | undefined } | undefined> {
  const [row, payload] = await store.getEach([
    ref(DeliveryItem, { webhook, id }),
    ref(DeliveryPayload, { webhook, delivery: id }),
  ]);
  if (!row || !isKept(store, row)) return undefined;
  return { delivery: deliveryOf(row), body: payload?.body };
}

/** Claims attempt `n`, so that it is made once. @returns false if it was claimed before. */
export function claimAttempt(store: Store, webhook: string, id: string, n: number, owner: string): Promise<boolean> {
  return store
    .change(
      DeliveryItem,
      { webhook, id },
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
  /** The start of the attempt, in milliseconds. */
  at: number;
  result: AttemptResult;
  outcome: DeliveryOutcome;
}

/**
 * Records the result of attempt `n`, with `extraItems` in the same transaction. Where one of those fails (the endpoint
 * is gone), the result is recorded alone.
 * @returns false if it was recorded before.
 */
export async function recordAttempt(
  store: Store,
  webhook: string,
  id: string,
  { n, at, result, outcome }: Finished,
  extraItems: readonly ItemWrite<"workspace">[] = [],
): Promise<boolean> {
  const status_code = "status" in result ? result.status : undefined;
  const error = "error" in result ? result.error : undefined;
  const attempt = toJson({ at: timestamp(at), status_code, error, duration_ms: store.clock.now() - at });
  const key = { webhook, id };
  const change = { set: { ...attemptAttribute(n, attempt), outcome, last_status_code: status_code } };
  const when = all(is("outcome", "pending"), is("attempt_count", n), absent(attemptName(n)));
  const recordAlone = () =>
    store.change(DeliveryItem, key, change, when).then(
      () => true,
      onConditionFailed(() => false),
    );
  if (extraItems.length === 0) return recordAlone();
  return store.transact([changeItem(DeliveryItem, key, change, when), ...extraItems]).then(
    () => true,
    onTransactionCanceled(([own]) => (own ? false : recordAlone())),
  );
}

/** Ends a delivery without an attempt: its endpoint is gone or disabled, or its payload was erased. */
export async function abandonDelivery(store: Store, webhook: string, id: string): Promise<void> {
  await store
    .change(DeliveryItem, { webhook, id }, { set: { outcome: "failed" } }, is("outcome", "pending"))
    .catch(onConditionFailed(() => undefined));
}

/** Starts another series of attempts. @returns false if the delivery is pending. */
export function reopenDelivery(store: Store, webhook: string, delivery: DeliveryRecord): Promise<boolean> {
  const { id, attempt_count } = delivery;
  const when = all(isNot("outcome", "pending"), is("attempt_count", attempt_count));
  return store
    .change(DeliveryItem, { webhook, id }, { set: { outcome: "pending", earlier: attempt_count } }, when)
    .then(
      () => true,
      onConditionFailed(() => false),
    );
}

const isNot =
  <A extends string>(attribute: A, value: string): Condition<A> =>
  (names) =>
    `NOT ${is(attribute, value)(names)}`;

/** The keys of the payloads that hold a subscriber's data, and of the rows that name them: for an erasure. */
export async function payloadKeysOf(store: Store, subscriber: string): Promise<Key[]> {
  const { items } = await store.query(PayloadReference, { subscriber });
  return items.flatMap(({ pk, sk }) => {
    const [, webhook = "", delivery = ""] = sk.split("#");
    return [keyOf(DeliveryPayload, store.tenant, { webhook, delivery }), { pk, sk }];
  });
}

const ATTEMPT = "t:";
const attemptName = (n: number) => `${ATTEMPT}${n}` as const;
const attemptAttribute = (n: number, text: JsonText<RecordedAttempt>): Record<`t:${string}`, typeof text> => ({
  [attemptName(n)]: text,
});

/** Whether a delivery is still in the log: the table may delete expired rows late. */
export const isKept = (store: StoreReader, { expires }: DeliveryRow): boolean => expires * SECOND > store.clock.now();

export function deliveryOf(row: DeliveryRow): DeliveryRecord {
  const names = Object.keys(row).filter((name): name is `t:${string}` => name.startsWith(ATTEMPT));
  const attempts = names.flatMap((name) => {
    const text = row[name];
    if (text === undefined) return [];
    const { at, status_code = null, error = null, duration_ms } = fromJson(text);
    return { n: Number(name.slice(ATTEMPT.length)), at, status_code, error, duration_ms };
  });
  return {
    id: row.id,
    event_type: row.event_type,
    outcome: row.outcome,
    attempt_count: row.attempt_count,
    last_status_code: row.last_status_code ?? null,
    attempts: attempts.sort((a, b) => a.n - b.n),
    created_at: timestamp(timeOfUuid(row.id)),
    earlier: row.earlier,
    lease: row.lease ?? 0,
  };
}
