// Capacity units as DynamoDB bills them, their report to the caller, and the meter over all calls.
import type { Table } from "./tables.ts";

const WRITE_BLOCK = 1024;
const READ_BLOCK = 4096;
export const TRANSACTION_FACTOR = 2;

/** A write costs 1 KB blocks of the larger of old and new item, at least one. */
export const writeUnits = (before = 0, after = 0): number =>
  Math.max(1, Math.ceil(Math.max(before, after) / WRITE_BLOCK));

/** A read costs 4 KB blocks, at least one; half for eventual consistency. */
export const readUnits = (bytes: number, consistent: boolean): number =>
  Math.max(1, Math.ceil(bytes / READ_BLOCK)) * (consistent ? 1 : 0.5);

export interface IndexUnits {
  index: string;
  units: number;
}

/** Units that one call consumed on one table. */
interface SpentUnits {
  table: Table;
  kind: "read" | "write";
  tableUnits: number;
  indexUnits: Map<string, number>;
}

/** Units that one call consumes, by table, and the partition keys that it wrote. */
export interface Bill {
  spend(table: Table, kind: SpentUnits["kind"], units: number): void;
  spendOnIndexes(table: Table, kind: SpentUnits["kind"], units: readonly IndexUnits[]): void;
  /** Records the units of a write on one partition key value of the table. */
  heat(partitionKey: string, units: number): void;
  spendings(): SpentUnits[];
  heated(): ReadonlyMap<string, number>;
}

export function openBill(): Bill {
  const spendings: SpentUnits[] = [];
  const heat = new Map<string, number>();
  const of = (table: Table, kind: SpentUnits["kind"]): SpentUnits => {
    let spending = spendings.find((found) => found.table === table);
    if (!spending) {
      spending = { table, kind, tableUnits: 0, indexUnits: new Map() };
      spendings.push(spending);
    }
    return spending;
  };
  return {
    spend: (table, kind, units) => {
      of(table, kind).tableUnits += units;
    },
    spendOnIndexes: (table, kind, units) => {
      if (units.length === 0) return;
      const { indexUnits } = of(table, kind);
      for (const { index, units: spent } of units) indexUnits.set(index, (indexUnits.get(index) ?? 0) + spent);
    },
    heat: (partitionKey, units) => {
      heat.set(partitionKey, (heat.get(partitionKey) ?? 0) + units);
    },
    spendings: () => spendings,
    heated: () => heat,
  };
}

const total = (units: Iterable<number>): number => {
  let sum = 0;
  for (const unit of units) sum += unit;
  return sum;
};

type Report = Record<string, unknown>;

/** `ConsumedCapacity` of one table; `transactional` names the kind of units too, as transactions do. */
function reportOf(spending: SpentUnits, mode: string | undefined, transactional = false): Report | undefined {
  if (mode !== "TOTAL" && mode !== "INDEXES") return undefined;
  const { table, kind, tableUnits, indexUnits } = spending;
  const units = (amount: number): Report => ({
    CapacityUnits: amount,
    ...(transactional && { [kind === "read" ? "ReadCapacityUnits" : "WriteCapacityUnits"]: amount }),
  });
  const report: Report = { TableName: table.name, ...units(tableUnits + total(indexUnits.values())) };
  if (mode === "TOTAL") return report;
  report.Table = units(tableUnits);
  const parts = table.indexes
    .filter((index) => indexUnits.has(index.name))
    .map((index): [string, Report] => [index.name, units(indexUnits.get(index.name)!)]);
  if (parts.length > 0) report.GlobalSecondaryIndexes = Object.fromEntries(parts);
  return report;
}

/** `{ ConsumedCapacity }` for a call on one table, if requested. */
export function consumed(bill: Bill, mode: unknown): Report {
  const [spending] = bill.spendings();
  const report = spending && reportOf(spending, mode as string | undefined);
  return report ? { ConsumedCapacity: report } : {};
}

/** `{ ConsumedCapacity: [...] }` for a call on several tables, if requested. */
export function consumedByTable(bill: Bill, mode: unknown, transactional = false): Report {
  if (mode !== "TOTAL" && mode !== "INDEXES") return {};
  return { ConsumedCapacity: bill.spendings().map((spending) => reportOf(spending, mode, transactional)) };
}

export interface DynamoDbMeter {
  requests: number;
  /** Write units, with those of indexes. */
  wcu: number;
  rcu: number;
  by_operation: Record<string, { requests: number; wcu: number; rcu: number }>;
  /** The ten partition key values that took the most write units of their tables. */
  hottest: { key: string; wcu: number }[];
  index_wcu: number;
}

interface Meter {
  count(operation: string, bill: Bill): void;
  read(): DynamoDbMeter;
  reset(): void;
}

const HEAT_LIMIT = 20_000;
const HOTTEST = 10;

export function openMeter(): Meter {
  let meter = emptyMeter();
  let heat = new Map<string, number>();

  const hottest = (count: number) => [...heat].sort(([, a], [, b]) => b - a).slice(0, count);

  return {
    count: (operation, bill) => {
      meter.by_operation[operation] ??= { requests: 0, wcu: 0, rcu: 0 };
      const own = meter.by_operation[operation];
      meter.requests++;
      own.requests++;
      for (const { kind, tableUnits, indexUnits } of bill.spendings()) {
        const onIndexes = indexUnits.size === 0 ? 0 : total(indexUnits.values());
        const unit = kind === "read" ? "rcu" : "wcu";
        meter[unit] += tableUnits + onIndexes;
        own[unit] += tableUnits + onIndexes;
        if (kind === "write") meter.index_wcu += onIndexes;
      }
      for (const [key, units] of bill.heated()) heat.set(key, (heat.get(key) ?? 0) + units);
      if (heat.size > HEAT_LIMIT) heat = new Map(hottest(HEAT_LIMIT / 4));
    },
    read: () => ({
      ...structuredClone(meter),
      hottest: hottest(HOTTEST).map(([key, wcu]) => ({ key, wcu })),
    }),
    reset: () => {
      meter = emptyMeter();
      heat = new Map();
    },
  };
}

export const emptyMeter = (): DynamoDbMeter => ({
  requests: 0,
  wcu: 0,
  rcu: 0,
  by_operation: {},
  hottest: [],
  index_wcu: 0,
});
