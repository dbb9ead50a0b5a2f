// Refused writes: they return the item as it was, so that the caller can tell its own write from another's.
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { ApiError, conflict, namedError } from "../kernel/errors.ts";
import { type AnyItem, type RowOf, rowOf } from "./item.ts";
import type { Item } from "./model.ts";

/** The document client does not convert the items of errors. */
const storedItem = (wire: Record<string, AttributeValue> | undefined) => wire && (unmarshall(wire) as Item);

interface ConditionFailed extends Error {
  /** One place for each write. */
  failures: Failure[];
}

const conditionFailed = (failures: ConditionFailed["failures"]): ConditionFailed =>
  Object.assign(new Error("A conditional write was refused."), { name: "ConditionFailed", failures });

const isConditionFailed = (error: unknown): error is ConditionFailed =>
  error instanceof Error && error.name === "ConditionFailed";

/**
 * For `.catch` of a single write: answers a failed condition with what `handle` makes of the row as it was; rethrows
 * every other error.
 */
export function onConditionFailed<D extends AnyItem, T>(
  item: D,
  handle: (old: RowOf<D> | undefined) => T,
): (error: unknown) => T;
export function onConditionFailed<T>(handle: (old: Item | undefined) => T): (error: unknown) => T;
export function onConditionFailed<T>(
  first: AnyItem | ((old: Item | undefined) => T),
  // biome-ignore lint/suspicious/noExplicitAny: the signatures above say what it takes
  second?: (old: any) => T,
): (error: unknown) => T {
  const handle = typeof first === "function" ? first : second;
  return (error) => {
    if (!handle || !isConditionFailed(error) || error.failures.length !== 1) throw error;
    return handle(error.failures[0]?.old);
  };
}

/** One write of a canceled transaction whose condition failed; undefined: its condition held. */
export type Failure = { old: Item | undefined } | undefined;

/** For `.catch` of a conditional write or transaction: a failed condition is this refusal; rethrows every other error. */
export const orRefuse =
  (refusal: () => Error) =>
  (error: unknown): never => {
    throw isConditionFailed(error) ? refusal() : error;
  };

/** The row after a change, or as it is (undefined if there is none) where its condition failed. */
export type ChangeResult<Row> = { kind: "changed"; row: Row } | { kind: "refused"; current: Row | undefined };

export const changed = <D extends AnyItem>(item: D, change: Promise<RowOf<D>>): Promise<ChangeResult<RowOf<D>>> =>
  change.then(
    (row): ChangeResult<RowOf<D>> => ({ kind: "changed", row }),
    onConditionFailed(item, (current): ChangeResult<RowOf<D>> => ({ kind: "refused", current })),
  );

type WriteResult<Row> = { kind: "made" } | { kind: "refused"; current: Row | undefined };

const written = <D extends AnyItem>(item: D, write: Promise<unknown>): Promise<WriteResult<RowOf<D>>> =>
  write.then(
    (): WriteResult<RowOf<D>> => ({ kind: "made" }),
    onConditionFailed(item, (current): WriteResult<RowOf<D>> => ({ kind: "refused", current })),
  );

/** For a conditional write: the row that stands in its way; undefined if it was made, or there is none. */
export async function inTheWayOf<D extends AnyItem>(item: D, write: Promise<unknown>): Promise<RowOf<D> | undefined> {
  const outcome = await written(item, write);
  return outcome.kind === "refused" ? outcome.current : undefined;
}

/** For a conditional write: whether it was made, by this call or by an attempt whose reply was lost (docs/decisions/0028). */
export async function madeOnce<D extends AnyItem>(
  item: D,
  write: Promise<unknown>,
  isOwn: (row: RowOf<D> | undefined) => boolean,
): Promise<boolean> {
  const outcome = await written(item, write);
  return outcome.kind === "made" || isOwn(outcome.current);
}

/** For a conditional write or transaction: whether it was made. False: a condition failed. */
export const happened = (write: Promise<unknown>): Promise<boolean> =>
  write.then(
    () => true,
    orRefused(() => false),
  );

/**
 * For a transaction of these writes: whether it was made. False: a condition failed. Of one write too, where its repeat
 * after a lost reply is to be no refusal (docs/decisions/0028).
 */
export const transacted = <W>(
  rows: { transact(writes: readonly W[]): Promise<void> },
  writes: readonly NoInfer<W>[],
): Promise<boolean> => happened(rows.transact(writes));

/** Writes where the condition holds: a failed one says that another writer was first, and is no error. */
export const whereItHolds = <T>(write: Promise<T>): Promise<T | undefined> => write.catch(orRefused(() => undefined));

const orRefused =
  <T>(refused: () => T) =>
  (error: unknown): T => {
    if (isConditionFailed(error)) return refused();
    throw error;
  };

/** For a transaction of these writes: those whose conditions failed, one place for each write; none if it was made. */
export const failuresOf = <W>(
  rows: { transact(writes: readonly W[]): Promise<void> },
  writes: readonly NoInfer<W>[],
): Promise<readonly Failure[]> =>
  rows.transact(writes).then(
    () => [],
    (error) => {
      if (!isConditionFailed(error)) throw error;
      return error.failures;
    },
  );

/** The outcome of one attempt at a write that may be contended. */
export type Attempt<T> = { kind: "done"; value: T } | { kind: "contended" };
export const done = <T>(value: T): Attempt<T> => ({ kind: "done", value });
export const contended: Attempt<never> = { kind: "contended" };

/** The result of an attempt that lost against other writers each time. */
export const busy = {
  conflict: (message: string) => () => conflict(message),
  unavailable: (message: string) => () => new ApiError("SERVICE_UNAVAILABLE", message),
  /** As the table itself says it: a message is delivered again. */
  transient: (message: string) => () => namedError("TransactionConflictException", message),
};

const MAX_CONTENDED = 10;

/** Repeats an attempt that reads, decides and writes until no other writer is in its way. @throws `otherwise()` in the end */
export async function untilUncontended<T>(
  otherwise: () => Error,
  attempt: () => Promise<Attempt<T>>,
  maxAttempts = MAX_CONTENDED,
): Promise<T> {
  for (let n = 0; n < maxAttempts; n++) {
    const outcome = await attempt();
    if (outcome.kind === "done") return outcome.value;
  }
  throw otherwise();
}

/** The row as it was where the condition of a write on it failed. */
export const oldRow = <D extends AnyItem>(item: D, failure: Failure): RowOf<D> | undefined =>
  failure?.old && rowOf(item, failure.old);

/** For `.catch`: answers a write of more than an item can hold (400 KB) with what `handle` makes of it. */
export function tooLarge<T>(handle: () => T): (error: unknown) => T {
  return (error) => {
    if (!(error instanceof Error) || error.name !== ITEM_TOO_LARGE) throw error;
    return handle();
  };
}

const ITEM_TOO_LARGE = "ItemTooLarge";

const isSizeMessage = (message: string | undefined) => message !== undefined && /^item size /i.test(message);

/** The error of `tooLarge`, also if the size is known before the write. */
export const itemTooLarge = () => namedError(ITEM_TOO_LARGE, "An item would be too large.");

/** Reads a failed single write: a refusal, or the error as it was. */
export function writeErrorOf(error: unknown): unknown {
  if (error instanceof Error && error.name === "ValidationException" && isSizeMessage(error.message))
    return itemTooLarge();
  if (!(error instanceof Error) || error.name !== "ConditionalCheckFailedException") return error;
  const { Item: old } = error as Error & { Item?: Record<string, AttributeValue> };
  return conditionFailed([{ old: storedItem(old) }]);
}

/** The same transaction is not over yet: the reply to it was lost. */
export const isUnderWay = (error: unknown): boolean =>
  error instanceof Error && error.name === "TransactionInProgressException";

/** Another transaction is at the item: the write may be tried again. */
export const isConflict = (error: unknown): boolean =>
  isUnderWay(error) || (error instanceof Error && error.name === "TransactionConflictException");

/** Reads a failed transaction: "conflict" asks for another try; only a failed condition is a refusal. */
export function transactionErrorOf(error: unknown): unknown | "conflict" {
  if (!(error instanceof Error)) return error;
  if (error.name === "ValidationException" && isSizeMessage(error.message)) return itemTooLarge();
  if (isConflict(error)) return "conflict";
  if (error.name !== "TransactionCanceledException") return error;
  const { CancellationReasons: reasons = [] } = error as Error & {
    CancellationReasons?: { Code?: string; Message?: string; Item?: Record<string, AttributeValue> }[];
  };
  if (reasons.some(({ Message }) => isSizeMessage(Message))) return itemTooLarge();
  if (reasons.some(({ Code }) => Code === "ConditionalCheckFailed"))
    return conditionFailed(
      reasons.map(({ Code, Item: old }) => (Code === "ConditionalCheckFailed" ? { old: storedItem(old) } : undefined)),
    );
  const passing = ["None", "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"];
  return reasons.every(({ Code }) => Code === undefined || passing.includes(Code)) ? "conflict" : error;
}
