// Event source mappings over the stream of a toy table and a real queue.
import { createSqs, openDatabase, type StreamRecord } from "../../local/aws/index.ts";
import { createClock } from "../../local/clock.ts";
import { createLambdaHost } from "../../local/lambda.ts";
import type { MappingDeps } from "../../local/mapping.ts";
import { createMappings } from "../../local/mappings.ts";
import { SECOND } from "../../shared/kernel/clock.ts";
import { systemIds } from "../../shared/runtime/system.ts";

export const at = Date.UTC(2026, 0, 1);

/** A table's stream whose records are `key:sequence`. */
export function toyStream() {
  const records: StreamRecord[] = [];
  const listeners = new Set<(table: string, key: string) => void>();
  const source: MappingDeps["dynamodb"] & { write(key: string): void } = {
    keepRecords: () => undefined,
    records: (_, after, limit) => records.filter(({ dynamodb }) => dynamodb.SequenceNumber > after).slice(0, limit),
    onWrite: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    write: (key) => {
      const SequenceNumber = String(records.length + 1).padStart(21, "0");
      const written = { ApproximateCreationDateTime: at / SECOND, SequenceNumber };
      const record = { eventName: "INSERT", dynamodb: { Keys: { PK: { S: key } }, ...written } };
      records.push(record as unknown as StreamRecord);
      for (const listener of listeners) listener("app", key);
    },
  };
  return source;
}

export function world({ database = openDatabase(":memory:"), dynamodb = toyStream() } = {}) {
  const clock = createClock({ start: at, ticking: false });
  const sqs = createSqs({ clock, ids: systemIds, database });
  const host = createLambdaHost({ clock, ids: systemIds });
  const logged: string[] = [];
  const mappings = createMappings({ clock, database, sqs, dynamodb, host, log: (message) => logged.push(message) });
  return { clock, sqs, host, mappings, dynamodb, logged };
}
