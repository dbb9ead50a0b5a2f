// Deliveries to webhook endpoints: the state of each, with its attempts, and its payload, both kept for 30 days.
import { createHash } from "node:crypto";
import { DAY, SECOND, timeOfUuid, timestamp, uuidV7 } from "../../clock.ts";
import type { Store, StoreReader } from "../../resources.ts";
import type { AttemptResult, Envelope, Payload, WebhookEvent } from "../../rules/webhook-events.ts";
import { absent, all, any, atMost, type Condition, is } from "../conditions.ts";
import { changeItem, type ItemWrite } from "../item.ts";
import { fromJson, type JsonText, toJson } from "../json-text.ts";
import { onConditionFailed, onTransactionCanceled } from "../refusals.ts";
import {
  type Delivery,
  DeliveryItem,
  type DeliveryOutcome,
  DeliveryPayload,
  type DeliveryRow,
  GroupClaim,
  type RecordedAttempt,
} from "./delivery-items.ts";
import { FIRST_LEASE_MS } from "./sequences.ts";

/** D-HOOKS. */
const KEPT_MS = 30 * DAY;
const CLAIM_KEPT_MS = 2 * DAY;
/** Longer than an attempt may take: afterwards its worker is known to have failed. */
export const ATTEMPT_LEASE_MS = 20 * SECOND;
/** The result of an attempt whose worker failed after its claim. */
export const UNKNOWN_RESULT = { error: "the outcome of this attempt is not known" };

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
}

/** The same event always gives the same delivery to an endpoint. */
export const deliveryId = (webhook: string, { event, key, at }: Pick<Occurrence, "event" | "key" | "at">): string =>
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
  const expires = Math.ceil((now + KEPT_MS) / SECOND);
  const lease = now + FIRST_LEASE_MS;
  return Promise.all(
    wanted.map(async ({ webhook, occurrence }) => {
      const { event: event_type, at, data } = occurrence;
      const id = deliveryId(webhook, occurrence);
      const body = toJson({ id, event_type, tenant_id: store.tenant, timestamp: timestamp(at), data });
      const state = { outcome: "pending", attempt_count: 0, earlier: 0, lease } as const;
      const row = { react: "delivery", id, webhook, event_type, body, ...state, expires } as const;
      await store.put(DeliveryItem, { webhook, id }, row, absent()).catch(onConditionFailed(() => undefined));
      return id;
    }),
  );
}

/** A delivery and its raw body; the body is undefined after an erasure. */
export async function findDelivery(
  store: StoreReader,
  webhook: string,
  id: string,
): Promise<{ delivery: DeliveryRecord; body: string | undefined } | undefined> {
  const row = await store.get(DeliveryItem, { webhook, id });
  if (!row || !isKept(store, row)) return undefined;
  const [body] = await bodiesOf(store, webhook, [row]);
  return { delivery: deliveryOf(row), body };
}

/** The raw bodies of deliveries; undefined where one was erased. Earlier versions stored them apart. */
export async function bodiesOf(
  store: StoreReader,
  webhook: string,
  rows: readonly Pick<DeliveryRow, "id" | "body">[],
): Promise<(JsonText<Envelope> | undefined)[]> {
  const apart = rows.filter(({ body }) => body === undefined);
  const keys = apart.map(({ id }) => ({ webhook, delivery: id }));
  const stored = await store.getAll(DeliveryPayload, keys);
  const found = new Map(apart.map(({ id }, i) => [id, stored[i]?.body]));
  return rows.map(({ id, body }) => body ?? found.get(id));
}

/** Claims attempt `n`, so that it is made once. @returns false if it was claimed, or the delivery reopened, before. */
export function claimAttempt(
  store: Store,
  webhook: string,
  { id, earlier, sequence }: Pick<DeliveryRecord, "id" | "earlier"> & { sequence: number },
  n: number,
  owner: string,
): Promise<boolean> {
  return store
    .change(
      DeliveryItem,
      { webhook, id },
      { set: { attempt_count: n, owner, lease: store.clock.now() + ATTEMPT_LEASE_MS, sequence } },
      all(is("outcome", "pending"), is("attempt_count", n - 1), is("earlier", earlier)),
    )
    .then(
      () => true,
      // The reply to this very claim may have been lost (docs/decisions/0028).
      onConditionFailed(DeliveryItem, (old) => old?.owner === owner),
    );
}

/** Claims the first attempts of a group. @returns undefined, or until when another worker holds them, in milliseconds. */
export function claimGroup(store: Store, webhook: string, first: number, owner: string): Promise<number | undefined> {
  const now = store.clock.now();
  const expires = Math.ceil((now + CLAIM_KEPT_MS) / SECOND);
  return store.put(GroupClaim, { webhook, first }, { owner, lease: now + ATTEMPT_LEASE_MS, expires }, absent()).then(
    () => undefined,
    onConditionFailed(GroupClaim, (old) => (old?.owner === owner ? undefined : (old?.lease ?? now))),
  );
}

export interface Finished {
  n: number;
  /** The start of the attempt, in milliseconds. */
  at: number;
  result: AttemptResult;
  outcome: DeliveryOutcome;
  sequence?: number | undefined;
}

/**
 * Records the result of attempt `n`, with `extraItems` in the same transaction. Where one of those fails (the endpoint
 * is gone), the result is recorded alone. `sequence` is given for a first attempt that was claimed with its group.
 * @returns false if another worker recorded it before.
 */
export async function recordAttempt(
  store: Store,
  webhook: string,
  id: string,
  { n, at, result, outcome, sequence }: Finished,
  extraItems: readonly ItemWrite<"workspace">[] = [],
): Promise<boolean> {
  const status_code = "status" in result ? result.status : undefined;
  const error = "error" in result ? result.error : undefined;
  const attempt = toJson({ at: timestamp(at), status_code, error, duration_ms: store.clock.now() - at });
  const key = { webhook, id };
  const isOfGroup = sequence !== undefined;
  const claimed = isOfGroup && { attempt_count: n, sequence, lease: at + ATTEMPT_LEASE_MS };
  const change = { set: { ...attemptAttribute(n, attempt), outcome, last_status_code: status_code, ...claimed } };
  const isClaimed = isOfGroup ? all(is("attempt_count", 0), absent("reopened")) : is("attempt_count", n);
  const when = all(is("outcome", "pending"), isClaimed, absent(attemptName(n)));
  const isOwn = (old: DeliveryRow | undefined) => old?.[attemptName(n)] === attempt;
  const recordAlone = () =>
    store.change(DeliveryItem, key, change, when).then(
      () => true,
      // The reply to this very write may have been lost: what follows from the result is still to be done.
      onConditionFailed(DeliveryItem, isOwn),
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

/** Whether a worker holds a lease on an attempt. Between the attempts of one series the lease runs on. */
export const isUnderWay = ({ clock }: Pick<Store, "clock">, { outcome, lease }: DeliveryRecord): boolean =>
  outcome === "pending" && lease > clock.now();

/** The newest attempt was claimed, and its result was not recorded. */
const isUnrecorded = ({ attempt_count, attempts }: DeliveryRecord): boolean =>
  attempt_count > 0 && attempts.at(-1)?.n !== attempt_count;

/** The attempt that a delivery is waiting for: the next one, or one whose result has to be recorded first. */
export const dueAttemptOf = (delivery: DeliveryRecord): number =>
  delivery.attempt_count + (isUnrecorded(delivery) ? 0 : 1);

/**
 * Starts another series of attempts (AMB-104). An attempt whose result was never recorded is recorded as unknown, so
 * that its message has no effect if it comes later.
 * @param replay the replay that sends it; without one it is queued alone
 * @returns false if a worker holds a lease on the delivery.
 */
export function reopenDelivery(
  store: Store,
  webhook: string,
  delivery: DeliveryRecord,
  replay?: string,
): Promise<boolean> {
  const { id, attempt_count, lease } = delivery;
  const isFree = any(isNot("outcome", "pending"), absent("lease"), atMost("lease", store.clock.now()));
  const isSame = is("attempt_count", attempt_count);
  const set = { outcome: "pending" as const, earlier: attempt_count, replay };
  const remove = replay === undefined ? (["lease", "replay"] as const) : (["lease"] as const);
  const more = { add: { reopened: 1 }, remove };
  const at = timestamp(lease - ATTEMPT_LEASE_MS);
  const [change, when] = isUnrecorded(delivery)
    ? [
        {
          set: { ...set, ...attemptAttribute(attempt_count, toJson({ at, ...UNKNOWN_RESULT, duration_ms: 0 })) },
          ...more,
        },
        all(isFree, isSame, absent(attemptName(attempt_count))),
      ]
    : [{ set, ...more }, all(isFree, isSame)];
  return store.change(DeliveryItem, { webhook, id }, change, when).then(
    () => true,
    onConditionFailed(DeliveryItem, (old) => replay !== undefined && old?.replay === replay),
  );
}

const isNot =
  <A extends string>(attribute: A, value: string): Condition<A> =>
  (names) =>
    `NOT ${is(attribute, value)(names)}`;

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
    sequence: row.sequence ?? null,
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
