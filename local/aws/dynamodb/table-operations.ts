// CreateTable, DescribeTable, DeleteTable and ListTables.
import type { Wire } from "../stand-in.ts";
import { SECOND } from "../time.ts";
import type { Engine, Operations } from "./engine.ts";
import { resourceInUse } from "./errors.ts";
import { checkParameters, count, NAME } from "./parameters.ts";
import { CREATE_SHAPE, type CreateInput, checkCreate, checkTableName } from "./table-definitions.ts";
import { describe } from "./table-descriptions.ts";
import { findTable, onTable } from "./table-lookup.ts";
import type { TableRecord } from "./tables.ts";

const LIST_LIMIT = 100;
/** Members that the description of a deleted table omits. */
const GONE = new Set(["AttributeDefinitions", "KeySchema", "CreationDateTime", "GlobalSecondaryIndexes"]);

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
    DescribeTable: onTable({}, false, ({ TableName }) => ({ Table: describe(storage, findTable(engine, TableName)) })),
    DeleteTable: onTable({}, true, ({ TableName }) => {
      const table = findTable(engine, TableName);
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
  const { StreamEnabled, StreamViewType: view } = input.StreamSpecification ?? {};
  const label = new Date(clock.now()).toISOString().slice(0, -1);
  const record: TableRecord = {
    TableName: input.TableName,
    TableId: ids.uuid(),
    CreationDateTime: clock.now() / SECOND,
    AttributeDefinitions: input.AttributeDefinitions,
    KeySchema: input.KeySchema,
    globalIndexes: input.GlobalSecondaryIndexes ?? [],
    ...(StreamEnabled && view && { stream: { label, view } }),
  };
  const table = tables.add(record);
  storage.create(table);
  for (const index of table.indexes) storage.indexing.create(index);
  return { TableDescription: describe(storage, table, "CREATING") };
}
