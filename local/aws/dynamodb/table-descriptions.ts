// How a table is described to its caller.
import type { Wire } from "../stand-in.ts";
import type { Storage } from "./storage.ts";
import { describeExtras } from "./table-extras.ts";
import { type IndexDefinition, streamArn, type Table, type TableRecord, type Throughput, tableArn } from "./tables.ts";

const throughputOf = (throughput: Throughput | undefined): Wire => ({
  NumberOfDecreasesToday: 0,
  ReadCapacityUnits: throughput?.ReadCapacityUnits ?? 0,
  WriteCapacityUnits: throughput?.WriteCapacityUnits ?? 0,
});

const warmThroughputOf = ({ ReadCapacityUnits, WriteCapacityUnits }: Throughput): Wire => ({
  ReadUnitsPerSecond: ReadCapacityUnits || 12_000,
  WriteUnitsPerSecond: WriteCapacityUnits || 4_000,
  Status: "ACTIVE",
});

/** `TableDescription`; `status` shows a change in progress that is in fact done. */
export function describe(storage: Storage, table: Table, status = "ACTIVE", changing: readonly string[] = []): Wire {
  const { record } = table;
  const measure = status === "CREATING" ? () => NOTHING : storage.measure;
  const { items, bytes } = measure(table.storage);
  const index = (definition: IndexDefinition) => describeIndex(measure, table, definition);
  const globals = record.globalIndexes.map((definition) => ({
    ...index(definition),
    IndexStatus: changing.includes(definition.IndexName) ? "CREATING" : "ACTIVE",
    ProvisionedThroughput: throughputOf(definition.ProvisionedThroughput),
  }));
  return {
    AttributeDefinitions: record.AttributeDefinitions,
    TableName: record.TableName,
    KeySchema: record.KeySchema,
    TableStatus: status,
    CreationDateTime: record.CreationDateTime,
    ProvisionedThroughput: throughputOf(record.ProvisionedThroughput),
    TableSizeBytes: bytes,
    ItemCount: items,
    TableArn: tableArn(record.TableName),
    TableId: record.TableId,
    ...(record.BillingMode === "PAY_PER_REQUEST" && billingOf(record)),
    ...(record.localIndexes.length > 0 && { LocalSecondaryIndexes: record.localIndexes.map(index) }),
    ...(globals.length > 0 && { GlobalSecondaryIndexes: globals }),
    ...streamOf(record),
    ...(record.TableClass && { TableClassSummary: { TableClass: record.TableClass } }),
    DeletionProtectionEnabled: record.DeletionProtectionEnabled,
    ...describeExtras(record),
    WarmThroughput: { ...warmThroughputOf(record.ProvisionedThroughput), ...record.warmThroughput },
  };
}

const billingOf = ({ payPerRequestSince }: TableRecord): Wire => {
  const since = { LastUpdateToPayPerRequestDateTime: payPerRequestSince };
  return {
    BillingModeSummary: { BillingMode: "PAY_PER_REQUEST", ...since },
    TableThroughputModeSummary: { TableThroughputMode: "PAY_PER_REQUEST", ...since },
  };
};

function streamOf({ TableName, stream }: TableRecord): Wire {
  if (!stream) return {};
  return {
    ...(stream.enabled && { StreamSpecification: { StreamEnabled: true, StreamViewType: stream.view } }),
    LatestStreamLabel: stream.label,
    LatestStreamArn: streamArn(TableName, stream.label),
  };
}

const NOTHING = { items: 0, bytes: 0 };

function describeIndex(measure: Storage["measure"], table: Table, definition: IndexDefinition): Wire {
  const { items, bytes } = measure(table.record.indexStorage[definition.IndexName]!);
  return {
    IndexName: definition.IndexName,
    KeySchema: definition.KeySchema,
    Projection: definition.Projection,
    IndexSizeBytes: bytes,
    ItemCount: items,
    IndexArn: `${tableArn(table.name)}/index/${definition.IndexName}`,
  };
}
