// Signals of what has changed: to the code that moves time, and to live streams.
import type { DynamoDb } from "./aws/index.ts";
import { OVER } from "./clock.ts";

/** Notifies the code that moves time of every change. */
export function createChangeSignal() {
  const waiting = new Set<() => void>();
  let count = 0;
  return {
    version: () => count,
    notify: () => {
      count++;
      for (const resolveWait of [...waiting]) resolveWait();
    },
    /** Resolves at the next change, or after `ms` of real time. */
    waitForChange: (ms: number) =>
      new Promise<void>((resolve) => {
        const resolveWait = () => {
          clearTimeout(timer);
          waiting.delete(resolveWait);
          resolve();
        };
        const timer = setTimeout(resolveWait, ms);
        waiting.add(resolveWait);
      }),
  };
}

/** Ends a live stream's wait as soon as an item is written under its partition key. */
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
