// The throughput of tables and indexes: limits of partitions and of whole tables, refusals and their figures.
import { type AwsFailure, awsFailure } from "../stand-in.ts";
import { MINUTE, SECOND } from "../time.ts";
import type { StoredKey } from "./keys.ts";
import {
  type Kind,
  openPartitions,
  type PartitionFigures,
  type PartitionSettings,
  type Partitions,
  placeOf,
} from "./partitions.ts";
import { type Table, tableArn } from "./tables.ts";

/**
 * The capacity model of the embedded DynamoDB, on from the start or from later on:
 *
 *     const dynamodb = createDynamoDb({ clock, ids, database, capacity: {} });
 *     dynamodb.limit({}); // `undefined` turns it off
 *
 * `{}` is an on-demand table as it is new: four partitions for the table and for each index. Everything follows the
 * injected clock: throughput comes back as its `now()` moves, and a transaction in flight waits by its `sleep()`, so
 * the owner of a virtual clock (the simulator's kernel, a frozen service clock) must end sleeps. Draws come from the
 * injected ids. `warm(40)` is a table that has taken this load before. `dynamodb.throughput()` has the figures.
 *
 * A refusal is a `ThrottlingException` with its reasons; batches return the refused items as unprocessed, or throw if
 * all are refused; transactions are canceled with `ThrottlingError`; statements report each on its own.
 */
export interface CapacitySettings extends PartitionSettings {
  /** Units per second that a new table can take; more is twice the highest rate until 30 minutes ago. */
  tableWrite: number;
  tableRead: number;
  /** The account's limit of one table. */
  maximum: number;
  /** How long a transaction stays in flight, in milliseconds: others that meet it get a conflict. */
  transactionMs: number;
}

/** On-demand limits of DynamoDB; burst, split times and the flight of a transaction are our assumptions. */
export const CAPACITY: CapacitySettings = {
  partitions: 4,
  write: 1_000,
  read: 3_000,
  burstSeconds: 1,
  heat: 0.8,
  heatMinutes: 4,
  splitBytes: 10 * 1024 ** 3,
  tableWrite: 4_000,
  tableRead: 12_000,
  maximum: 40_000,
  transactionMs: 10,
};

/** The settings of a table that has had `partitions` times the throughput of a partition before. */
export const warm = (partitions: number): Partial<CapacitySettings> => ({
  partitions,
  tableWrite: Math.min(partitions * CAPACITY.write, CAPACITY.maximum),
  tableRead: Math.min(partitions * CAPACITY.read, CAPACITY.maximum),
});

/** Units on one key of a table or of one of its indexes. */
export interface Charge {
  table: Table;
  index?: string;
  kind: Kind;
  key: StoredKey;
  units: number;
  /** The change of the stored bytes. */
  bytes?: number;
}

export interface ThroughputFigures {
  /** `table` or `table/index` */
  name: string;
  /** The highest units of any second. */
  peakWrite: number;
  throttled: number;
  splits: number;
  partitions: PartitionFigures[];
}

export interface Throughput {
  settings: CapacitySettings;
  /** Takes all charges, or none: then the refusal says which limit was met. */
  take(charges: readonly Charge[]): AwsFailure | undefined;
  giveBack(charges: readonly Charge[]): void;
  figures(): ThroughputFigures[];
  resetFigures(): void;
}

interface LimitedTable {
  partitions: Partitions;
  table: Record<Kind, TableLimit>;
}

const GROWTH_TIME = 30 * MINUTE;

/** @param draw a number from 0 to 1 */
export function openThroughput(
  given: Partial<CapacitySettings>,
  { now, draw }: { now(): number; draw(): number },
): Throughput {
  const settings = { ...CAPACITY, ...given };
  const limited = new Map<string, LimitedTable>();
  const nameOf = ({ table, index }: Charge) => (index === undefined ? table.name : `${table.name}/${index}`);
  const of = (charge: Charge): LimitedTable => {
    const name = nameOf(charge);
    let found = limited.get(name);
    if (!found) {
      const { tableRead, tableWrite, maximum } = settings;
      found = {
        partitions: openPartitions(settings, now(), draw),
        table: { read: tableLimit(tableRead, maximum, now()), write: tableLimit(tableWrite, maximum, now()) },
      };
      limited.set(name, found);
    }
    return found;
  };

  return {
    settings,
    take: (charges) => {
      const at = now();
      for (const charge of charges) {
        const { table, partitions } = of(charge);
        if (!table[charge.kind].hasRoom(at)) return refusal(charge, "AccountLimitExceeded");
        if (!partitions.hasRoom(placeOf(charge.key), charge.kind, at))
          return refusal(charge, "KeyRangeThroughputExceeded");
      }
      for (const charge of charges) {
        const { table, partitions } = of(charge);
        const place = placeOf(charge.key);
        table[charge.kind].take(charge.units, at);
        partitions.take(place, charge.kind, charge.units, at);
        if (charge.bytes) partitions.grow(place, charge.bytes);
      }
      return undefined;
    },
    giveBack: (charges) => {
      for (const charge of charges) {
        const { table, partitions } = of(charge);
        const place = placeOf(charge.key);
        table[charge.kind].take(-charge.units, now());
        partitions.giveBack(place, charge.kind, charge.units);
        if (charge.bytes) partitions.grow(place, -charge.bytes);
      }
    },
    figures: () =>
      [...limited].map(([name, { partitions, table }]) => {
        const figures = partitions.figures();
        return {
          name,
          peakWrite: table.write.peak(),
          throttled: figures.reduce(
            (sum, figure) => sum + figure.throttled,
            table.read.refused() + table.write.refused(),
          ),
          splits: partitions.splits(),
          partitions: figures,
        };
      }),
    resetFigures: () => {
      for (const { partitions, table } of limited.values()) {
        partitions.resetFigures();
        for (const limit of Object.values(table)) limit.reset();
      }
    },
  };
}

interface TableLimit {
  hasRoom(now: number): boolean;
  take(units: number, now: number): void;
  peak(): number;
  refused(): number;
  reset(): void;
}

/** A table takes twice the highest rate it had until 30 minutes ago, and at least `first`. */
function tableLimit(first: number, maximum: number, start: number): TableLimit {
  let limit = Math.min(first, maximum);
  let tokens = limit;
  let at = start;
  let second = Math.floor(start / SECOND);
  let units = 0;
  let highest = 0;
  let peak = 0;
  let grownAt = start;
  let refused = 0;

  const refill = (now: number) => {
    if (now <= at) return;
    tokens = Math.min(limit, tokens + (limit * (now - at)) / SECOND);
    at = now;
    const passed = Math.floor(now / SECOND);
    if (passed > second) {
      highest = Math.max(highest, units);
      peak = Math.max(peak, units);
      units = 0;
      second = passed;
    }
    if (now - grownAt < GROWTH_TIME) return;
    limit = Math.min(maximum, Math.max(limit, 2 * highest));
    highest = 0;
    grownAt = now;
  };

  return {
    hasRoom: (now) => {
      refill(now);
      if (tokens > 0) return true;
      refused++;
      return false;
    },
    take: (taken, now) => {
      refill(now);
      tokens -= taken;
      units += taken;
    },
    peak: () => Math.max(peak, units),
    refused: () => refused,
    reset: () => {
      peak = 0;
      units = 0;
      refused = 0;
    },
  };
}

const MESSAGE =
  "Throughput exceeds the current capacity of your table or index. DynamoDB is automatically scaling your table or index so please try again shortly. If exceptions persist, check if you have a hot key: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html";

function refusal({ table, index, kind }: Charge, what: "KeyRangeThroughputExceeded" | "AccountLimitExceeded") {
  const subject = index === undefined ? "Table" : "Index";
  const resource = index === undefined ? tableArn(table.name) : `${tableArn(table.name)}/index/${index}`;
  const reason = `${subject}${kind === "read" ? "Read" : "Write"}${what}`;
  return awsFailure("ThrottlingException", MESSAGE, { fields: { throttlingReasons: [{ reason, resource }] } });
}
