// The result of an attempt, written after it: its answer, also a late one, or that it was given up.
import { timestamp } from "../../kernel/clock.ts";
import type { AttemptResult } from "../../rules/webhook-events.ts";
import { absent, all, is } from "../conditions.ts";
import type { Store } from "../context.ts";
import { type ChangeOf, type ConditionOf, changeItem, type ItemWrite } from "../item.ts";
import { fromJson, type JsonText, toJson } from "../json-text.ts";
import { failuresOf, oldRow, onConditionFailed, whereItHolds } from "../refusals.ts";
import {
  ATTEMPT_LEASE_MS,
  attemptAttribute,
  attemptName,
  type DeliveryRecord,
  deliveryOf,
  givenUp,
  UNKNOWN_RESULT,
} from "./deliveries.ts";
import { DeliveryItem, type DeliveryOutcome, type DeliveryRow, type RecordedAttempt } from "./delivery-items.ts";

export interface FinishedAttempt {
  n: number;
  /** The start of the attempt, in milliseconds. */
  at: number;
  result: AttemptResult;
  outcome: DeliveryOutcome;
  sequence?: number | undefined;
}

type Key = { webhook: string; id: string };

/** Further writes in the transaction of a result. */
interface WrittenWith {
  extraItems?: readonly ItemWrite<"workspace">[];
  /** In their place, where the attempt was given up before. */
  lateItems?: readonly ItemWrite<"workspace">[];
}

type AttemptRecorded =
  | "recorded"
  /** The result was recorded before, or the attempt was given up: another worker does the follow-up. */
  | "settled before";

/**
 * Records the result of attempt `n`. Where one of the extra items fails (the endpoint is gone), the result is recorded
 * alone. `sequence` is given for a first attempt that was claimed with its group.
 */
export async function recordAttempt(
  store: Store,
  key: Key,
  finished: FinishedAttempt,
  { extraItems = [], lateItems = extraItems }: WrittenWith,
): Promise<AttemptRecorded> {
  const { n, at, result, outcome, sequence } = finished;
  const status_code = statusOf(result);
  const error = result.kind === "unanswered" ? result.error : undefined;
  const attempt = toJson({ at: timestamp(at), status_code, error, duration_ms: store.clock.now() - at });
  const isOfGroup = sequence !== undefined;
  const claimed = isOfGroup && { attempt_count: n, sequence, lease: at + ATTEMPT_LEASE_MS };
  const change = { set: { ...attemptAttribute(n, attempt), outcome, last_status_code: status_code, ...claimed } };
  const isClaimed = isOfGroup ? all(is("attempt_count", 0), absent("reopened")) : is("attempt_count", n);
  const when = all(is("outcome", "pending"), isClaimed, absent(attemptName(n)));
  const written = await write(store, key, { n, attempt, change, when }, extraItems);
  if (written.kind === "written") return "recorded";
  if (error === UNKNOWN_RESULT.error || !written.old) return "settled before";
  return recordLate(store, key, { ...finished, attempt, lateItems }, written.old);
}

/**
 * The answer came after its attempt was given up: the log says it anyway. It decides the outcome of the delivery
 * too, unless another attempt follows.
 */
async function recordLate(
  store: Store,
  key: Key,
  late: FinishedAttempt & { attempt: JsonText<RecordedAttempt>; lateItems: readonly ItemWrite<"workspace">[] },
  old: DeliveryRow,
): Promise<AttemptRecorded> {
  const { n, result, outcome, sequence, attempt, lateItems } = late;
  const given = old[attemptName(n)];
  const isGivenUp = given ? fromJson(given).error === UNKNOWN_RESULT.error : old.outcome !== "pending";
  if (!isGivenUp) return "settled before";
  const isNewest = n >= old.attempt_count && n > old.earlier;
  const decides = isNewest && outcome !== "pending" && outcome !== old.outcome;
  const hasLaterStatus = deliveryOf(old).attempts.some((other) => other.n > n && other.status_code !== null);
  const set = {
    ...attemptAttribute(n, attempt),
    attempt_count: Math.max(n, old.attempt_count),
    ...(sequence !== undefined && { sequence }),
    ...(!hasLaterStatus && { last_status_code: statusOf(result) }),
    ...(decides && { outcome }),
  };
  const isAsRead = all(is("outcome", old.outcome), is("attempt_count", old.attempt_count), is("earlier", old.earlier));
  const when = all(isAsRead, given ? is(attemptName(n), given) : absent(attemptName(n)));
  const written = await write(store, key, { n, attempt, change: { set }, when }, decides ? lateItems : []);
  if (written.kind === "written") return decides ? "recorded" : "settled before";
  return written.old ? recordLate(store, key, late, written.old) : "settled before";
}

interface AttemptChange {
  n: number;
  attempt: JsonText<RecordedAttempt>;
  change: ChangeOf<typeof DeliveryItem>;
  when: ConditionOf<typeof DeliveryItem>;
}

type WriteResult = { kind: "written" } | { kind: "refused"; old: DeliveryRow | undefined };

async function write(
  store: Store,
  key: Key,
  { n, attempt, change, when }: AttemptChange,
  extraItems: readonly ItemWrite<"workspace">[],
): Promise<WriteResult> {
  // The reply to this very write may have been lost: the follow-up of the result is still to be done.
  const refused = (old: DeliveryRow | undefined): WriteResult =>
    old?.[attemptName(n)] === attempt ? { kind: "written" } : { kind: "refused", old };
  const writeAlone = () =>
    store
      .change(DeliveryItem, key, change, when)
      .then((): WriteResult => ({ kind: "written" }), onConditionFailed(DeliveryItem, refused));
  if (extraItems.length === 0) return writeAlone();
  const failures = await failuresOf(store, [changeItem(DeliveryItem, key, change, when), ...extraItems]);
  if (failures.length === 0) return { kind: "written" };
  return failures[0] ? refused(oldRow(DeliveryItem, failures[0])) : writeAlone();
}

const statusOf = (result: AttemptResult): number | undefined =>
  result.kind === "answered" ? result.status : undefined;

/**
 * Ends a delivery: its endpoint is gone or disabled, or its payload was erased. An attempt that was claimed and never
 * recorded is given up. A worker that has claimed another one in the meantime goes on.
 */
export async function abandonDelivery(store: Store, webhook: string, delivery: DeliveryRecord): Promise<void> {
  const { id } = delivery;
  const giveUp = givenUp(delivery);
  const isAsRead = all(is("outcome", "pending"), ...giveUp.when);
  await whereItHolds(
    store.change(DeliveryItem, { webhook, id }, { set: { outcome: "failed", ...giveUp.set } }, isAsRead),
  );
}
