// UpdateTable: global indexes, created or deleted at once.
import { awsFailure, type Wire } from "../stand-in.ts";
import type { Engine, Operation } from "./engine.ts";
import { invalidParameter, noSuchResource, validation } from "./errors.ts";
import { listOf, NAME, needed, structure } from "./parameters.ts";
import { ATTRIBUTES, checkGlobalIndex, GLOBAL_INDEX, refuseRedefined } from "./table-definitions.ts";
import { describe } from "./table-descriptions.ts";
import { findTable, onTable } from "./table-lookup.ts";
import type { IndexDefinition, Table, TableRecord } from "./tables.ts";

const SHAPE = {
  AttributeDefinitions: ATTRIBUTES,
  GlobalSecondaryIndexUpdates: listOf(
    structure(
      {
        Create: structure(GLOBAL_INDEX, "CreateGlobalSecondaryIndexAction"),
        Delete: structure({ IndexName: needed(NAME) }, "DeleteGlobalSecondaryIndexAction"),
      },
      "GlobalSecondaryIndexUpdate",
    ),
  ),
};

interface IndexUpdate {
  Create?: IndexDefinition;
  Delete?: { IndexName: string };
}

interface UpdateInput extends Wire {
  TableName: string;
  AttributeDefinitions?: TableRecord["AttributeDefinitions"];
  GlobalSecondaryIndexUpdates?: IndexUpdate[];
}

export const updateTable = (engine: Engine): Operation =>
  onTable(SHAPE, true, (wire) => {
    const input = wire as UpdateInput;
    checkUpdate(input);
    const table = findTable(engine, input.TableName);
    const record = structuredClone(table.record);
    const created = changeIndexes(engine, { ...table, record }, input);
    const updated = engine.tables.save({ ...table, record });
    for (const index of updated.indexes) {
      if (!created.includes(index.name)) continue;
      engine.storage.indexing.create(index);
      engine.storage.indexing.fill(updated, index);
    }
    return { TableDescription: describe(engine.storage, updated, "UPDATING", created) };
  });

function checkUpdate({ AttributeDefinitions, GlobalSecondaryIndexUpdates: updates = [] }: UpdateInput): void {
  if (updates.length === 0)
    throw validation(
      "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates or SSESpecification or ReplicaUpdates is required",
    );
  refuseRedefined(AttributeDefinitions ?? []);
  for (const { Create, Delete } of updates) {
    if (Create && Delete)
      throw invalidParameter(
        "Only one of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Delete may be specified",
      );
    if (!Create && !Delete)
      throw invalidParameter(
        "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Delete must not be null",
      );
  }
}

/** Deletes and defines indexes. @returns the names of new ones. */
function changeIndexes(engine: Engine, table: Table, input: UpdateInput): string[] {
  const updates = input.GlobalSecondaryIndexUpdates ?? [];
  if (updates.length > 1)
    throw awsFailure(
      "LimitExceededException",
      "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table",
    );
  const created: string[] = [];
  for (const { Create, Delete } of updates) {
    if (Create) created.push(defineIndex(table, Create, input.AttributeDefinitions ?? []));
    if (Delete) deleteIndex(engine, table, Delete.IndexName);
  }
  return created;
}

function defineIndex(table: Table, definition: IndexDefinition, given: TableRecord["AttributeDefinitions"]): string {
  const { record } = table;
  const { IndexName: name } = definition;
  if (record.indexStorage[name]) throw validation(`Attempting to create an index which already exists`);
  checkGlobalIndex(definition, given);
  const found = new Map(record.AttributeDefinitions.map((one) => [one.AttributeName, one.AttributeType]));
  const other = given.find((one) => (found.get(one.AttributeName) ?? one.AttributeType) !== one.AttributeType);
  if (other) throw redefined(record, other, definition);
  record.AttributeDefinitions.push(...given.filter(({ AttributeName }) => !found.has(AttributeName)));
  record.globalIndexes.push(named(table, definition));
  return name;
}

/** An attribute has the same type in all indexes. */
function redefined(
  { AttributeDefinitions, globalIndexes, ...table }: TableRecord,
  { AttributeName: name, AttributeType }: TableRecord["AttributeDefinitions"][number],
  fresh: IndexDefinition,
) {
  const schemaOf = (type: string | undefined, { KeySchema }: Pick<IndexDefinition, "KeySchema">) =>
    `Schema:[SchemaElement: key{${name}:${type}:${KeySchema.find((key) => key.AttributeName === name)?.KeyType}}]`;
  const found = AttributeDefinitions.find((one) => one.AttributeName === name)?.AttributeType;
  const holder = [table, ...globalIndexes].find(({ KeySchema }) => KeySchema.some((key) => key.AttributeName === name));
  return invalidParameter(
    `Attributes cannot be redefined. Please check that your attribute has the same type as previously defined. Existing schema: ${schemaOf(found, holder ?? fresh)} New schema: ${schemaOf(AttributeType, fresh)}`,
  );
}

function deleteIndex({ storage }: Engine, { indexes, record }: Table, name: string): void {
  const index = indexes.find((found) => found.name === name);
  if (!index) throw noSuchResource();
  storage.indexing.drop(index);
  delete record.indexStorage[name];
  record.globalIndexes = record.globalIndexes.filter(({ IndexName }) => IndexName !== name);
  const schemas = [record.KeySchema, ...record.globalIndexes.map((kept) => kept.KeySchema)];
  const used = new Set(schemas.flat().map(({ AttributeName }) => AttributeName));
  record.AttributeDefinitions = record.AttributeDefinitions.filter(({ AttributeName }) => used.has(AttributeName));
}

/** Gives an index definition its place in the storage. */
export function named({ id, record }: Table, definition: IndexDefinition): IndexDefinition {
  record.indexesMade++;
  record.indexStorage[definition.IndexName] = `dynamodb_index_${id}_${record.indexesMade}`;
  return definition;
}
