// CreateTable, DescribeTable, DeleteTable and ListTables.
import { SECOND } from "../../../shared/kernel/clock.ts";
import type { Wire } from "../stand-in.ts";
import type { Engine, Operations } from "./engine.ts";
import { resourceInUse, validation } from "./errors.ts";
import { checkParameters, count, NAME } from "./parameters.ts";
import { CREATE_SHAPE, type CreateInput, checkCreate, checkTableName } from "./table-definitions.ts";
import { describe } from "./table-descriptions.ts";
import { keepExtras } from "./table-extras.ts";
import { findTable, onTable } from "./table-lookup.ts";
import { checkedTags } from "./table-settings.ts";
import { named, setStream, updateTable } from "./table-updates.ts";
import type { TableRecord } from "./tables.ts";

const LIST_LIMIT = 100;
/** Members that the description of a deleted table omits. */
const GONE = new Set([
  "AttributeDefinitions",
  "KeySchema",
  "CreationDateTime",
  "GlobalSecondaryIndexes",
  "LocalSecondaryIndexes",
]);

export function tableOperations(engine: Engine): Operations {
  const { tables, storage } = engine;
  return {
    CreateTable: {
      shape: CREATE_SHAPE,
      writes: true,
      before: ({ TableName }) => {
        if (TableName === undefined) checkTableName(TableName);
        checkParameters({ TableName }, { TableName: NAME }, "CreateTable");
      },
      run: (input) => createTable(engine, input as CreateInput),
    },
    UpdateTable: updateTable(engine),
    DescribeTable: onTable({}, false, ({ TableName }) => ({ Table: describe(storage, findTable(engine, TableName)) })),
    DeleteTable: onTable({}, true, ({ TableName }) => {
      const table = findTable(engine, TableName);
      if (table.record.DeletionProtectionEnabled)
        throw validation(
          `Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.`,
        );
      const described = Object.entries(describe(storage, table, "DELETING"));
      storage.drop(table);
      tables.remove(table);
      return { TableDescription: Object.fromEntries(described.filter(([name]) => !GONE.has(name))) };
    }),
    ListTables: {
      shape: { ExclusiveStartTableName: NAME, Limit: count(1, LIST_LIMIT) },
      writes: false,
      run: ({ ExclusiveStartTableName: start, Limit }) => {
        const names = tables.names().filter((name) => start === undefined || name > String(start));
        const page = names.slice(0, Number(Limit ?? LIST_LIMIT));
        return { TableNames: page, ...(page.length < names.length && { LastEvaluatedTableName: page.at(-1) }) };
      },
    },
  };
}

function createTable(engine: Engine, input: CreateInput): Wire {
  checkCreate(input);
  const { tables, storage, clock, ids } = engine;
  if (tables.find(input.TableName)) throw resourceInUse(`Table already exists: ${input.TableName}`);
  const now = clock.now() / SECOND;
  const record: TableRecord = {
    TableName: input.TableName,
    TableId: ids.uuid(),
    CreationDateTime: now,
    AttributeDefinitions: input.AttributeDefinitions,
    KeySchema: input.KeySchema,
    BillingMode: input.BillingMode ?? "PROVISIONED",
    ...(input.BillingMode === "PAY_PER_REQUEST" && { payPerRequestSince: now }),
    ProvisionedThroughput: input.ProvisionedThroughput ?? { ReadCapacityUnits: 0, WriteCapacityUnits: 0 },
    globalIndexes: [],
    localIndexes: [],
    DeletionProtectionEnabled: input.DeletionProtectionEnabled ?? false,
    ...(input.TableClass && { TableClass: input.TableClass }),
    tags: checkedTags(input.Tags),
    indexesMade: 0,
    indexStorage: {},
  };
  keepExtras(record, input);
  setStream(engine, record, input.StreamSpecification);
  const bare = tables.add(record);
  for (const definition of input.GlobalSecondaryIndexes ?? []) record.globalIndexes.push(named(bare, definition));
  for (const definition of input.LocalSecondaryIndexes ?? []) record.localIndexes.push(named(bare, definition));
  const table = record.indexesMade > 0 ? tables.save(bare) : bare;
  storage.create(table);
  for (const index of table.indexes) storage.indexing.create(index);
  const changing = record.globalIndexes.map(({ IndexName }) => IndexName);
  return { TableDescription: describe(storage, table, "CREATING", changing) };
}
