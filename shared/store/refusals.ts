// What a refused write says: the item as it was, so that the caller can tell its own write from another's.
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import type { Item } from "./model.ts";

type Wire = Record<string, AttributeValue>;

interface Refusal extends Error {
  /** Per step of a transaction (one for a single write): undefined = it would have passed. */
  steps: ({ old: Item | undefined } | undefined)[];
}

const refusal = (steps: Refusal["steps"]): Refusal =>
  Object.assign(new Error("A conditional write was refused."), { name: "ConditionRefused", steps });

const isRefusal = (error: unknown): error is Refusal => error instanceof Error && error.name === "ConditionRefused";

/** For `.catch`: answers a refused single write with what `handle` makes of the item as it was; rethrows the rest. */
export function refused<T>(handle: (old: Item | undefined) => T): (error: unknown) => T {
  return (error) => {
    if (!isRefusal(error) || error.steps.length !== 1) throw error;
    const step = error.steps[0];
    return handle(step?.old);
  };
}

/** For `.catch`: answers a refused transaction with what `handle` makes of the steps; rethrows the rest. */
export function refusedSteps<T>(handle: (steps: Refusal["steps"]) => T): (error: unknown) => T {
  return (error) => {
    if (!isRefusal(error)) throw error;
    return handle(error.steps);
  };
}

/** For `.catch`: answers a write of more than an item can hold (400 KB) with what `handle` makes of it. */
export function tooLarge<T>(handle: () => T): (error: unknown) => T {
  return (error) => {
    if (!(error instanceof Error) || error.name !== ITEM_TOO_LARGE) throw error;
    return handle();
  };
}

const ITEM_TOO_LARGE = "ItemTooLarge";

const isSizeMessage = (message: string | undefined) => message !== undefined && /^item size /i.test(message);

const itemTooLarge = () =>
  Object.assign(new Error("An item would be larger than the table takes."), { name: ITEM_TOO_LARGE });

/** Reads a failed single write: a refusal, or the error as it was. */
export function conditionRefused(error: unknown, fromWire: (wire: Wire) => Item): unknown {
  if (error instanceof Error && error.name === "ValidationException" && isSizeMessage(error.message))
    return itemTooLarge();
  if (!(error instanceof Error) || error.name !== "ConditionalCheckFailedException") return error;
  const { Item: old } = error as Error & { Item?: Wire };
  return refusal([{ old: old && fromWire(old) }]);
}

/** Another transaction is at the item: the write may be tried again. */
export const isConflict = (error: unknown): boolean =>
  error instanceof Error &&
  (error.name === "TransactionConflictException" || error.name === "TransactionInProgressException");

/** Reads a failed transaction: "conflict" asks for another try; only a failed condition is a refusal. */
export function transactionRefused(error: unknown, fromWire: (wire: Wire) => Item): unknown | "conflict" {
  if (!(error instanceof Error)) return error;
  if (error.name === "ValidationException" && isSizeMessage(error.message)) return itemTooLarge();
  if (error.name === "TransactionInProgressException" || error.name === "TransactionConflictException")
    return "conflict";
  if (error.name !== "TransactionCanceledException") return error;
  const { CancellationReasons: reasons = [] } = error as Error & {
    CancellationReasons?: { Code?: string; Message?: string; Item?: Wire }[];
  };
  if (reasons.some(({ Message }) => isSizeMessage(Message))) return itemTooLarge();
  if (reasons.some(({ Code }) => Code === "ConditionalCheckFailed"))
    return refusal(
      reasons.map(({ Code, Item: old }) =>
        Code === "ConditionalCheckFailed" ? { old: old && fromWire(old) } : undefined,
      ),
    );
  const passing = ["None", "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"];
  return reasons.every(({ Code }) => Code === undefined || passing.includes(Code)) ? "conflict" : error;
}
