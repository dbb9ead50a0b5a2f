// The deps of every operation, and the records of one call for the meter and the listeners.
import type { Deps, Wire } from "../stand-in.ts";
import type { Bill } from "./capacity.ts";
import type { Shape } from "./parameters.ts";
import type { Storage } from "./storage.ts";
import type { Streams } from "./streams.ts";
import type { Tables } from "./tables.ts";

export interface DynamoDbFaults {
  /** How many items of a batch to leave unprocessed. */
  unprocessed?(operation: string, count: number): number;
  /** How many milliseconds old the data of indexes is. */
  indexLag?(): number;
}

export interface Engine extends Deps {
  tables: Tables;
  storage: Storage;
  streams: Streams;
  faults: DynamoDbFaults;
}

export interface Call {
  bill: Bill;
  /** Records a written item for the listeners. */
  touched(table: string, partitionKey: string): void;
}

export interface Operation {
  shape: Shape;
  /** Runs within one database transaction. */
  writes: boolean;
  /** Checks that run before the members of the request are validated. */
  before?(input: Wire): void;
  run(input: Wire, call: Call): Wire;
}

export type Operations = Record<string, Operation>;
