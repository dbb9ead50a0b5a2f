// How a table is described to its caller.
import type { Wire } from "../stand-in.ts";
import type { Storage } from "./storage.ts";
import { type IndexDefinition, streamArn, type Table, type TableRecord, tableArn } from "./tables.ts";

const NO_PROVISION: Wire = { NumberOfDecreasesToday: 0, ReadCapacityUnits: 0, WriteCapacityUnits: 0 };

/** `TableDescription`; `status` shows a change in progress that is in fact done. */
export function describe(storage: Storage, table: Table, status = "ACTIVE"): Wire {
  const { record } = table;
  const measure = status === "CREATING" ? () => NOTHING : storage.measure;
  const { items, bytes } = measure(table.storage);
  const onDemandSince = { LastUpdateToPayPerRequestDateTime: record.CreationDateTime };
  const globals = record.globalIndexes.map((definition) => ({
    ...describeIndex(measure, table, definition),
    IndexStatus: status,
    ProvisionedThroughput: NO_PROVISION,
  }));
  return {
    AttributeDefinitions: record.AttributeDefinitions,
    TableName: record.TableName,
    KeySchema: record.KeySchema,
    TableStatus: status,
    CreationDateTime: record.CreationDateTime,
    ProvisionedThroughput: NO_PROVISION,
    TableSizeBytes: bytes,
    ItemCount: items,
    TableArn: tableArn(record.TableName),
    TableId: record.TableId,
    BillingModeSummary: { BillingMode: "PAY_PER_REQUEST", ...onDemandSince },
    TableThroughputModeSummary: { TableThroughputMode: "PAY_PER_REQUEST", ...onDemandSince },
    ...(globals.length > 0 && { GlobalSecondaryIndexes: globals }),
    ...streamOf(record),
    DeletionProtectionEnabled: false,
    WarmThroughput: { ReadUnitsPerSecond: 12_000, WriteUnitsPerSecond: 4_000, Status: "ACTIVE" },
  };
}

function streamOf({ TableName, stream }: TableRecord): Wire {
  if (!stream) return {};
  return {
    StreamSpecification: { StreamEnabled: true, StreamViewType: stream.view },
    LatestStreamLabel: stream.label,
    LatestStreamArn: streamArn(TableName, stream.label),
  };
}

const NOTHING = { items: 0, bytes: 0 };

function describeIndex(measure: Storage["measure"], table: Table, definition: IndexDefinition): Wire {
  const { storage } = table.indexes.find(({ name }) => name === definition.IndexName)!;
  const { items, bytes } = measure(storage);
  return {
    IndexName: definition.IndexName,
    KeySchema: definition.KeySchema,
    Projection: definition.Projection,
    IndexSizeBytes: bytes,
    ItemCount: items,
    IndexArn: `${tableArn(table.name)}/index/${definition.IndexName}`,
  };
}
