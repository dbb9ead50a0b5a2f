// The deps of every operation, and the records of one call for the meter and the listeners.
import type { Deps, Wire } from "../stand-in.ts";
import type { Bill } from "./capacity.ts";
import type { Flights } from "./flights.ts";
import type { Shape } from "./parameters.ts";
import type { Storage } from "./storage.ts";
import type { Streams } from "./streams.ts";
import type { Tables } from "./tables.ts";
import type { Charge, Throughput } from "./throughput.ts";

export interface DynamoDbFaults {
  /** How many items of a batch to leave unprocessed. */
  unprocessed?(operation: string, count: number): number;
  /** How many milliseconds old the data of indexes is. */
  indexLag?(): number;
  /** How many milliseconds a transaction stays in flight: a write that meets it on an item meanwhile gets a conflict. */
  inFlightMs?(): number;
  /** How many milliseconds after its expiry an item is deleted. AWS may take days. */
  expiryLag?(): number;
}

export interface Engine extends Deps {
  tables: Tables;
  storage: Storage;
  streams: Streams;
  faults: DynamoDbFaults;
  /** The capacity model, if it is on. */
  throughput: Throughput | undefined;
  /** The transactions that have not yet been answered. */
  flights: Flights;
}

export interface Call {
  bill: Bill;
  /** The charges that the capacity model has admitted. */
  charges: Charge[];
  /** The items of its transaction. */
  flight?: readonly string[];
  /** The items it wrote, for the listeners. */
  written: [table: string, partitionKey: string][];
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
