// How DynamoDB refuses a transaction: a reason for each of its items.
import { awsFailure } from "../stand-in.ts";
import type { Item } from "./values.ts";

export interface Reason {
  Code: string;
  Message?: string;
  Item?: Item;
}

/** The reason for an item that another transaction is writing. */
export const CONFLICTING: Reason = { Code: "TransactionConflict", Message: "Transaction is ongoing for the item" };

export const canceledTransaction = (reasons: readonly Reason[]) =>
  awsFailure(
    "TransactionCanceledException",
    `Transaction cancelled, please refer cancellation reasons for specific reasons [${reasons.map(({ Code }) => Code).join(", ")}]`,
    { fields: { CancellationReasons: reasons } },
  );
