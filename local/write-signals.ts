// Ends a live stream's wait as soon as an item is written under its partition key.
import type { DynamoDb } from "./aws/dynamodb/index.ts";
import { OVER } from "./clock.ts";

export function createWriteSignals(dynamodb: Pick<DynamoDb, "onWrite">, table: string) {
  const waiting = new Map<string, AbortController>();
  dynamodb.onWrite((written, partition) => {
    if (written !== table) return;
    const controller = waiting.get(partition);
    waiting.delete(partition);
    controller?.abort(OVER);
  });
  return {
    /** A signal of the next write under `partition`. */
    signal: (partition: string): AbortSignal => {
      const controller = waiting.get(partition) ?? new AbortController();
      waiting.set(partition, controller);
      return controller.signal;
    },
  };
}
