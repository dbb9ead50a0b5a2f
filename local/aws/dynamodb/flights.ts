// Transactions in flight: another request for one of its items is refused with a conflict until it has been answered.
import { awsFailure } from "../stand-in.ts";
import { targetText } from "./keys.ts";
import type { Write } from "./writes.ts";

export interface Flights {
  /** Whether a transaction in flight includes the item. */
  meets(write: Pick<Write, "table" | "key">): boolean;
  begin(targets: readonly string[]): void;
  end(targets: readonly string[]): void;
}

export function openFlights(): Flights {
  const targets = new Set<string>();
  return {
    meets: ({ table, key }) => targets.size > 0 && targets.has(targetText(table, key)),
    begin: (begun) => {
      for (const target of begun) targets.add(target);
    },
    end: (ended) => {
      for (const target of ended) targets.delete(target);
    },
  };
}

export const transactionConflict = () =>
  awsFailure("TransactionConflictException", "Transaction is ongoing for the item");
