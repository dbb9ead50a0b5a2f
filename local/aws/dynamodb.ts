// The embedded DynamoDB: the real service's operations, errors, billing and streams, over one SQLite file.
import { batchOperations } from "./dynamodb/batch.ts";
import { type DynamoDbMeter, openBill, openMeter } from "./dynamodb/capacity.ts";
import type { Call, DynamoDbFaults, Engine, Operation, Operations } from "./dynamodb/engine.ts";
import { openFlights } from "./dynamodb/flights.ts";
import { itemOperations } from "./dynamodb/items.ts";
import { checkConstraints, checkMembers } from "./dynamodb/parameters.ts";
import { queryOperations } from "./dynamodb/query.ts";
import { openStorage } from "./dynamodb/storage.ts";
import { itemOf } from "./dynamodb/stored.ts";
import { streamOf, streamOperations } from "./dynamodb/stream-operations.ts";
import { openStreams, type StreamRecord } from "./dynamodb/streams.ts";
import { tableOperations } from "./dynamodb/table-operations.ts";
import { openTables, partitionOf } from "./dynamodb/tables.ts";
import { type CapacitySettings, openThroughput, type ThroughputFigures } from "./dynamodb/throughput.ts";
import { timeToLiveOperations } from "./dynamodb/time-to-live.ts";
import { transactionOperations } from "./dynamodb/transactions.ts";
import { checkShapes } from "./dynamodb/values.ts";
import { isRecord } from "./members.ts";
import { type Deps, isAwsFailure, type StandIn, unknownOperation, type Wire } from "./stand-in.ts";
import { SECOND } from "./time.ts";

export type { DynamoDbMeter } from "./dynamodb/capacity.ts";
export type { DynamoDbFaults } from "./dynamodb/engine.ts";
export type { StreamRecord } from "./dynamodb/streams.ts";

/** Called after a committed write with the table and the partition key value of an item. */
type WriteListener = (table: string, partitionKey: string) => void;

export interface DynamoDb extends StandIn {
  /** Stream records of a table after a sequence number (empty text: all), in commit order. */
  records(table: string, after: string, limit: number): StreamRecord[];
  /** Keeps the records after a reader's checkpoint until it has read them. */
  keepRecords(checkpoint: () => string): void;
  /** Listens to committed writes. @returns a function that stops listening. */
  onWrite(listener: WriteListener): () => void;
  /** Deletes expired items and trims streams. @returns how many items were deleted. */
  expire(): number;
  meter(): DynamoDbMeter;
  /** Turns the capacity model on, with new partitions, or off (`throughput.ts`). */
  limit(capacity: Partial<CapacitySettings> | undefined): void;
  /** The figures of the capacity model by table and index, if it is on. */
  throughput(): ThroughputFigures[];
  resetMeter(): void;
}

interface Options {
  faults?: DynamoDbFaults;
  /** Turns the capacity model on (`throughput.ts`). */
  capacity?: Partial<CapacitySettings> | undefined;
}

export function createDynamoDb(deps: Deps & Options): DynamoDb {
  const { database, clock, faults = {} } = deps;
  const engine = database.transaction(() => openEngine(deps, faults));
  const { tables, storage, streams } = engine;
  const operations = new Map<string, Operation>(Object.entries(allOperations(engine)));
  const meter = openMeter();
  const listeners = new Set<WriteListener>();

  const commit = <T>(work: () => T): T => {
    let done = false;
    try {
      const result = database.transaction(work);
      done = true;
      return result;
    } finally {
      streams.settle(done);
    }
  };

  /** Runs one call: metered, in one transaction if it writes, and reported to the listeners. */
  const run = (operation: string, writes: boolean, call: Call, work: () => Wire): Wire => {
    if (faults.indexLag) storage.indexing.remember();
    let output: Wire;
    try {
      output = writes ? commit(work) : work();
    } finally {
      meter.count(operation, call.bill);
    }
    for (const [table, key] of call.written) for (const listener of listeners) listener(table, key);
    return output;
  };

  /** A transaction is answered when it is no longer in flight. */
  const land = async (targets: readonly string[]) => {
    const ms = faults.inFlightMs?.() ?? engine.throughput?.settings.transactionMs ?? 0;
    if (ms <= 0) return;
    engine.flights.begin(targets);
    await clock.sleep(ms);
    engine.flights.end(targets);
  };

  return {
    operate: async (name, input) => {
      const operation = operations.get(name);
      if (!operation) throw unknownOperation(name);
      const given = withoutNulls(input);
      const call = openCall();
      const output = run(name, operation.writes, call, () => {
        try {
          checkMembers(given, operation.shape, name);
          operation.before?.(given);
          checkConstraints(given, operation.shape);
          return operation.run(given, call);
        } catch (error) {
          if (isAwsFailure(error)) refuseMisshapen(given);
          throw error;
        }
      });
      if (call.flight) await land(call.flight);
      return output;
    },
    records: (table, after, limit) => {
      const found = tables.find(table);
      const stream = found && streamOf(found);
      return stream ? streams.read(stream, after, limit) : [];
    },
    keepRecords: streams.keepFor,
    onWrite: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    expire: () => {
      let gone = 0;
      const written: [table: string, partitionKey: string][] = [];
      commit(() => {
        streams.trim();
        for (const name of tables.names()) gone += expireTable(engine, name, (key) => written.push([name, key]));
      });
      for (const [table, key] of written) for (const listener of listeners) listener(table, key);
      return gone;
    },
    meter: meter.read,
    resetMeter: () => {
      meter.reset();
      engine.throughput?.resetFigures();
    },
    limit: (capacity) => {
      engine.throughput = throughputOf(deps, capacity);
    },
    throughput: () => engine.throughput?.figures() ?? [],
  };
}

/** Checked only when a request is rejected, because an error of the parser comes before other errors. */
function refuseMisshapen(input: Wire): void {
  for (const member of ["Item", "Key", "ExclusiveStartKey", "ExpressionAttributeValues"])
    if (isRecord(input[member])) for (const value of Object.values(input[member])) checkShapes(value);
  if (isRecord(input.RequestItems))
    for (const { Keys = [], PutRequest, DeleteRequest } of Object.values(input.RequestItems).flat().filter(isRecord))
      for (const item of [Keys, member(PutRequest, "Item"), member(DeleteRequest, "Key")].flat().filter(isRecord))
        for (const value of Object.values(item)) checkShapes(value);
}

const member = (held: unknown, name: string): unknown => (isRecord(held) ? held[name] : undefined);

/** JSON may have null for an omitted parameter. */
function withoutNulls(input: Wire): Wire {
  for (const name in input)
    if (input[name] === null) return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null));
  return input;
}

/** The records of one call, empty. */
const openCall = (): Call => ({ bill: openBill(), written: [], charges: [] });

const throughputOf = ({ clock, ids }: Deps, capacity: Partial<CapacitySettings> | undefined) =>
  capacity && openThroughput(capacity, { now: clock.now, draw: () => ids.bytes(2).readUInt16BE() / 65_536 });

function openEngine(deps: Deps & Options, faults: DynamoDbFaults): Engine {
  const { database, clock, capacity } = deps;
  const tables = openTables(database);
  const streams = openStreams(database, clock.now);
  const storage = openStorage(database, streams, clock.now);
  const throughput = throughputOf(deps, capacity);
  return { ...deps, faults, tables, streams, storage, throughput, flights: openFlights() };
}

const allOperations = (engine: Engine): Operations => ({
  ...tableOperations(engine),
  ...timeToLiveOperations(engine),
  ...itemOperations(engine),
  ...batchOperations(engine),
  ...transactionOperations(engine),
  ...queryOperations(engine),
  ...streamOperations(engine),
});

function expireTable(
  { tables, storage, clock, faults }: Engine,
  name: string,
  tell: (partitionKey: string) => void,
): number {
  const table = tables.need(name);
  if (!table.record.timeToLive) return 0;
  const expired = storage.expired(table, Math.floor((clock.now() - (faults.expiryLag?.() ?? 0)) / SECOND));
  for (const { key, stored } of expired) {
    storage.write({ table, key, before: stored, after: undefined, expired: true });
    tell(partitionOf(itemOf(stored), table.keys));
  }
  return expired.length;
}
