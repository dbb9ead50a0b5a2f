// Deliveries to webhook endpoints: the state of each, with its attempts, and its payload, both kept for 30 days.
import { createHash } from "node:crypto";
import { DAY, SECOND, timestamp, ttl } from "../../kernel/clock.ts";
import { timeOfUuid, uuidV7 } from "../../kernel/ids.ts";
import { chunksOf } from "../../rules/chunks.ts";
import type { Payload, WebhookEvent } from "../../rules/webhook-events.ts";
import { absent, all, is, present } from "../conditions.ts";
import type { Store, StoreReader } from "../context.ts";
import { familyOf } from "../families.ts";
import { putItem, rowOf } from "../item.ts";
import { fromJson, type JsonText, toJson } from "../json-text.ts";
import type { Item, Key } from "../model.ts";
import { happened, onConditionFailed, whereItHolds } from "../refusals.ts";
import {
  type Delivery,
  DeliveryItem,
  DeliveryOfSubscriber,
  type DeliveryRow,
  type RecordedAttempt,
} from "./delivery-items.ts";
import { FIRST_LEASE_MS } from "./sequences.ts";
import { webhooksWithLogs } from "./webhooks.ts";

/** D-HOOKS. */
const KEPT_MS = 30 * DAY;
/** Longer than an attempt may take: afterwards its worker is known to have failed. */
export const ATTEMPT_LEASE_MS = 20 * SECOND;
/** Bodies that are removed side by side. */
const BODIES_AT_ONCE = 50;
/** The result of an attempt whose worker failed after its claim. */
export const UNKNOWN_RESULT = { kind: "unanswered", error: "the outcome of this attempt is not known" } as const;

/** A delivery as the product works with it. */
export interface DeliveryRecord extends Omit<Delivery, "payload"> {
  earlier: number;
  lease: number;
  isReopened: boolean;
  /** `attempt_count` of its row, which does not know of an attempt that was claimed with a group. */
  storedCount: number;
}

/** An event for every webhook endpoint that subscribes to its type. `key` distinguishes events of one type. */
export interface Occurrence {
  event: WebhookEvent;
  key: string;
  /** Milliseconds. */
  at: number;
  data: Payload;
  /** The subscriber in the payload, of an event whose deliveries do not follow from their profile. */
  subscriber?: string | undefined;
}

/** The same event always gives the same delivery to an endpoint. */
const deliveryId = (webhook: string, { event, key, at }: Pick<Occurrence, "event" | "key" | "at">): string =>
  uuidV7(at, createHash("sha256").update(`${webhook}:${event}:${key}`).digest());

/**
 * Stores deliveries to be made, each once. The insertion of their rows triggers the first attempt.
 * @returns their ids.
 */
export async function noteDeliveries(
  store: Store,
  wanted: readonly { webhook: string; occurrence: Occurrence }[],
): Promise<string[]> {
  const now = store.clock.now();
  const expires = ttl(now + KEPT_MS);
  const lease = now + FIRST_LEASE_MS;
  const deliveries = wanted.map((target) => ({ ...target, id: deliveryId(target.webhook, target.occurrence) }));
  const ids = await Promise.all(
    deliveries.map(async ({ webhook, occurrence, id }) => {
      const { event: event_type, at, data } = occurrence;
      const body = toJson({ id, event_type, tenant_id: store.tenant, timestamp: timestamp(at), data });
      const state = { outcome: "pending", attempt_count: 0, earlier: 0, lease } as const;
      const row = { react: "delivery", id, webhook, event_type, body, ...state, expires } as const;
      await whereItHolds(store.put(DeliveryItem, { webhook, id }, row, absent()));
      return id;
    }),
  );
  // Behind the bodies: an erasure that looked for these rows before a body was there would not find it in its second pass.
  const once = new Map(deliveries.map((delivery) => [`${delivery.webhook} ${delivery.id}`, delivery]));
  await store.writeAll(
    [...once.values()].flatMap(({ webhook, occurrence: { subscriber }, id: delivery }) =>
      subscriber === undefined
        ? []
        : [putItem(DeliveryOfSubscriber, { subscriber, webhook, delivery }, { webhook, delivery, expires })],
    ),
  );
  return ids;
}

/**
 * Removes the bodies of `subscriber.created` from the log of every endpoint: they hold the profile. The deliveries stay.
 * @param createdAt when the subscriber was created
 * @returns how many bodies were removed.
 */
export async function forgetPayloads(store: Store, subscriber: string, createdAt: string): Promise<number> {
  const event = { event: "subscriber.created", key: subscriber, at: Date.parse(createdAt) } as const;
  const webhooks = await webhooksWithLogs(store);
  return forgetBodies(
    store,
    webhooks.map((webhook) => ({ webhook, id: deliveryId(webhook, event) })),
  );
}

/** Whether a row of a subscriber says that a body names it. */
export const isOfDelivery = ({ sk }: Key): boolean => sk.startsWith("H#");

/** The same of the other bodies that name a subscriber, by these rows of it. */
export const forgetBodiesOf = (store: Store, rows: readonly Item[]): Promise<number> =>
  forgetBodies(
    store,
    rows.map((row) => rowOf(DeliveryOfSubscriber, row)).map(({ webhook, delivery: id }) => ({ webhook, id })),
  );

async function forgetBodies(store: Store, keys: readonly { webhook: string; id: string }[]): Promise<number> {
  let forgotten = 0;
  for (const batch of chunksOf(keys, BODIES_AT_ONCE)) {
    const removed = await Promise.all(
      batch.map((key) => happened(store.change(DeliveryItem, key, { remove: ["body"] }, present("body")))),
    );
    forgotten += removed.filter(Boolean).length;
  }
  return forgotten;
}

/** A delivery and its raw body; the body is undefined after an erasure. */
export async function findDelivery(
  store: StoreReader,
  webhook: string,
  id: string,
): Promise<{ delivery: DeliveryRecord; body: string | undefined } | undefined> {
  const row = await store.get(DeliveryItem, { webhook, id });
  if (!row || !isKept(store, row)) return undefined;
  return { delivery: deliveryOf(row), body: row.body };
}

/** Claims attempt `n`, so that it is made once. `taken`: it was claimed, or the delivery reopened, before. */
export function claimAttempt(
  store: Store,
  key: { webhook: string; id: string },
  { n, earlier, sequence, owner }: Pick<DeliveryRecord, "earlier"> & { n: number; sequence: number; owner: string },
): Promise<"claimed" | "taken"> {
  return store
    .change(
      DeliveryItem,
      key,
      { set: { attempt_count: n, owner, lease: store.clock.now() + ATTEMPT_LEASE_MS, sequence } },
      all(is("outcome", "pending"), is("attempt_count", n - 1), is("earlier", earlier)),
    )
    .then(
      () => "claimed",
      // The reply to this very claim may have been lost (docs/decisions/0028).
      onConditionFailed(DeliveryItem, (old) => (old?.owner === owner ? "claimed" : "taken")),
    );
}

/** Whether a worker holds a lease on an attempt. Between the attempts of one series the lease runs on. */
export const isUnderWay = ({ clock }: Pick<Store, "clock">, { outcome, lease }: DeliveryRecord): boolean =>
  outcome === "pending" && lease > clock.now();

/** The newest attempt was claimed, and its result was not recorded. */
const isUnrecorded = ({ attempt_count, attempts }: DeliveryRecord): boolean =>
  attempt_count > 0 && attempts.at(-1)?.n !== attempt_count;

/** The attempt that a delivery is waiting for: the next one, or one whose result has to be recorded first. */
export const dueAttemptOf = (delivery: DeliveryRecord): number =>
  delivery.attempt_count + (isUnrecorded(delivery) ? 0 : 1);

/** An attempt whose result was never recorded, as the end of its series records it: its outcome is not known. */
export function givenUp(delivery: DeliveryRecord) {
  const { attempt_count: n, storedCount, lease } = delivery;
  const isAsRead = is("attempt_count", storedCount);
  if (!isUnrecorded(delivery)) return { set: {}, when: [isAsRead] };
  const at = timestamp(lease - ATTEMPT_LEASE_MS);
  return {
    set: { attempt_count: n, ...attemptAttribute(n, toJson({ at, error: UNKNOWN_RESULT.error, duration_ms: 0 })) },
    when: [isAsRead, absent(attemptName(n))],
  };
}

export const attemptName = (n: number) => `t:${n}` as const;
export const attemptAttribute = (n: number, text: JsonText<RecordedAttempt>): Record<`t:${string}`, typeof text> => ({
  [attemptName(n)]: text,
});

/** Whether a delivery is still in the log: the table may delete expired rows late. */
export const isKept = (store: StoreReader, { expires }: DeliveryRow): boolean => expires * SECOND > store.clock.now();

/** The delivery of a row, with its attempts in their order. */
export function deliveryOf(row: DeliveryRow): DeliveryRecord {
  const attempts = familyOf(row, "t:").map(([n, text]) => {
    const { at, status_code = null, error = null, duration_ms } = fromJson(text);
    return { n: Number(n), at, status_code, error, duration_ms };
  });
  return {
    id: row.id,
    sequence: row.sequence ?? null,
    event_type: row.event_type,
    outcome: row.outcome,
    attempt_count: row.attempt_count,
    last_status_code: row.last_status_code ?? null,
    attempts: attempts.sort((a, b) => a.n - b.n),
    created_at: timestamp(timeOfUuid(row.id)),
    earlier: row.earlier,
    lease: row.lease ?? 0,
    isReopened: row.reopened !== undefined,
    storedCount: row.attempt_count,
  };
}
