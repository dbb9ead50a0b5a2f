// UpdateTable: billing, stream, deletion protection and global indexes, applied at once.
import { DAY, SECOND } from "../../../shared/kernel/clock.ts";
import { awsFailure, type Wire } from "../stand-in.ts";
import type { Engine, Operation } from "./engine.ts";
import { invalidParameter, noSuchResource, validation } from "./errors.ts";
import { flag, listOf, NAME, needed, structure } from "./parameters.ts";
import {
  ATTRIBUTES,
  BILLING,
  checkGlobalIndex,
  checkUnits,
  GLOBAL_INDEX,
  refuseRedefined,
  STREAM,
  type StreamInput,
  TABLE_CLASS,
  THROUGHPUT,
} from "./table-definitions.ts";
import { describe } from "./table-descriptions.ts";
import { EXTRAS, keepExtras } from "./table-extras.ts";
import { findTable, onTable } from "./table-lookup.ts";
import type { IndexDefinition, Table, TableRecord, Throughput } from "./tables.ts";

const SHAPE = {
  AttributeDefinitions: ATTRIBUTES,
  BillingMode: BILLING,
  ProvisionedThroughput: THROUGHPUT,
  GlobalSecondaryIndexUpdates: listOf(
    structure(
      {
        Create: structure(GLOBAL_INDEX, "CreateGlobalSecondaryIndexAction"),
        Update: structure(
          { IndexName: needed(NAME), ProvisionedThroughput: THROUGHPUT },
          "UpdateGlobalSecondaryIndexAction",
        ),
        Delete: structure({ IndexName: needed(NAME) }, "DeleteGlobalSecondaryIndexAction"),
      },
      "GlobalSecondaryIndexUpdate",
    ),
  ),
  StreamSpecification: STREAM,
  TableClass: TABLE_CLASS,
  DeletionProtectionEnabled: flag,
  ...EXTRAS,
};

interface IndexUpdate {
  Create?: IndexDefinition;
  Update?: { IndexName: string; ProvisionedThroughput?: Throughput };
  Delete?: { IndexName: string };
}

interface UpdateInput extends Wire {
  TableName: string;
  AttributeDefinitions?: TableRecord["AttributeDefinitions"];
  BillingMode?: TableRecord["BillingMode"];
  ProvisionedThroughput?: Throughput;
  GlobalSecondaryIndexUpdates?: IndexUpdate[];
  StreamSpecification?: StreamInput;
  TableClass?: string;
  DeletionProtectionEnabled?: boolean;
}

export const updateTable = (engine: Engine): Operation =>
  onTable(SHAPE, true, (wire) => {
    const input = wire as UpdateInput;
    checkUpdate(input);
    const table = findTable(engine, input.TableName);
    const record = structuredClone(table.record);
    changeBilling(engine, record, input);
    changeStream(engine, record, input.StreamSpecification);
    if (input.DeletionProtectionEnabled !== undefined)
      record.DeletionProtectionEnabled = input.DeletionProtectionEnabled;
    if (input.TableClass) record.TableClass = input.TableClass;
    keepExtras(record, input);
    const created = changeIndexes(engine, { ...table, record }, input);
    const updated = engine.tables.save({ ...table, record });
    for (const index of updated.indexes) {
      if (!created.includes(index.name)) continue;
      engine.storage.indexing.create(index);
      engine.storage.indexing.fill(updated, index);
    }
    return { TableDescription: describe(engine.storage, updated, "UPDATING", created) };
  });

function checkUpdate(input: UpdateInput): void {
  const changes = [
    input.ProvisionedThroughput,
    input.BillingMode,
    input.StreamSpecification,
    input.GlobalSecondaryIndexUpdates?.length,
    input.SSESpecification,
    input.DeletionProtectionEnabled,
    input.TableClass,
    input.OnDemandThroughput,
    input.WarmThroughput,
  ];
  if (changes.every((change) => change === undefined || change === 0))
    throw validation(
      "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates or SSESpecification or ReplicaUpdates is required",
    );
  if (input.BillingMode === "PROVISIONED" && !input.ProvisionedThroughput)
    throw invalidParameter("ProvisionedThroughput must be specified when BillingMode is PROVISIONED");
  if (input.ProvisionedThroughput) checkUnits(input.ProvisionedThroughput);
  refuseRedefined(input.AttributeDefinitions ?? []);
  const names = new Set<string>();
  for (const { Create, Update, Delete } of input.GlobalSecondaryIndexUpdates ?? []) {
    if ([Create, Update, Delete].filter((action) => action).length > 1)
      throw invalidParameter(
        "Only one of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Delete may be specified",
      );
    const name = (Create ?? Update ?? Delete)?.IndexName;
    if (name === undefined)
      throw invalidParameter(
        "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Delete must not be null",
      );
    if (names.has(name))
      throw invalidParameter(
        `Only one global secondary index update per index is allowed simultaneously. Index: ${name}`,
      );
    names.add(name);
  }
}

function changeBilling({ clock }: Engine, record: TableRecord, { BillingMode, ProvisionedThroughput }: UpdateInput) {
  const mode = BillingMode ?? record.BillingMode;
  if (mode === "PAY_PER_REQUEST" && ProvisionedThroughput)
    throw invalidParameter(
      "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST",
    );
  const current = record.ProvisionedThroughput;
  if (ProvisionedThroughput && record.BillingMode === mode && sameThroughput(current, ProvisionedThroughput))
    throw validation(
      `The provisioned throughput for the table will not change. The requested value equals the current value. Current ReadCapacityUnits provisioned for the table: ${current.ReadCapacityUnits}. Requested ReadCapacityUnits: ${ProvisionedThroughput.ReadCapacityUnits}. Current WriteCapacityUnits provisioned for the table: ${current.WriteCapacityUnits}. Requested WriteCapacityUnits: ${ProvisionedThroughput.WriteCapacityUnits}. Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits.`,
    );
  if (mode === "PAY_PER_REQUEST" && record.BillingMode !== mode) record.payPerRequestSince = clock.now() / SECOND;
  record.BillingMode = mode;
  if (mode === "PAY_PER_REQUEST") {
    record.ProvisionedThroughput = { ReadCapacityUnits: 0, WriteCapacityUnits: 0 };
    for (const index of record.globalIndexes) delete index.ProvisionedThroughput;
  } else if (ProvisionedThroughput) record.ProvisionedThroughput = ProvisionedThroughput;
}

const sameThroughput = (a: Throughput, b: Throughput): boolean =>
  a.ReadCapacityUnits === b.ReadCapacityUnits && a.WriteCapacityUnits === b.WriteCapacityUnits;

function changeStream(engine: Engine, record: TableRecord, wanted: StreamInput | undefined): void {
  if (!wanted) return;
  const enabled = record.stream?.enabled === true;
  if (wanted.StreamEnabled && !wanted.StreamViewType)
    throw invalidParameter("StreamViewType must be specified when a stream is being enabled");
  if (wanted.StreamEnabled && enabled)
    throw validation(`Table already has an enabled stream: TableName: ${record.TableName}`);
  if (!wanted.StreamEnabled && !enabled)
    throw validation(`Table has no stream to disable: TableName: ${record.TableName}`);
  setStream(engine, record, wanted);
}

/** Deletes, changes and defines indexes. @returns the names of new ones. */
function changeIndexes(engine: Engine, table: Table, input: UpdateInput): string[] {
  const { record } = table;
  const updates = input.GlobalSecondaryIndexUpdates ?? [];
  if (updates.filter(({ Update }) => !Update).length > 1)
    throw awsFailure(
      "LimitExceededException",
      "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table",
    );
  const created: string[] = [];
  for (const { Create, Update, Delete } of updates) {
    if (Create) created.push(defineIndex(table, Create, input.AttributeDefinitions ?? []));
    if (Update) changeIndex(record, Update);
    if (Delete) deleteIndex(engine, table, Delete.IndexName);
  }
  return created;
}

function defineIndex(table: Table, definition: IndexDefinition, given: TableRecord["AttributeDefinitions"]): string {
  const { record } = table;
  const { IndexName: name } = definition;
  if (record.indexStorage[name]) throw validation(`Attempting to create an index which already exists`);
  checkGlobalIndex(definition, given, record.BillingMode);
  const found = new Map(record.AttributeDefinitions.map((one) => [one.AttributeName, one.AttributeType]));
  const other = given.find((one) => (found.get(one.AttributeName) ?? one.AttributeType) !== one.AttributeType);
  if (other) throw redefined(record, other, definition);
  record.AttributeDefinitions.push(...given.filter(({ AttributeName }) => !found.has(AttributeName)));
  record.globalIndexes.push(named(table, definition));
  return name;
}

/** An attribute has the same type in all indexes. */
function redefined(
  { AttributeDefinitions, globalIndexes, localIndexes, ...table }: TableRecord,
  { AttributeName: name, AttributeType }: TableRecord["AttributeDefinitions"][number],
  fresh: IndexDefinition,
) {
  const schemaOf = (type: string | undefined, { KeySchema }: Pick<IndexDefinition, "KeySchema">) =>
    `Schema:[SchemaElement: key{${name}:${type}:${KeySchema.find((key) => key.AttributeName === name)?.KeyType}}]`;
  const found = AttributeDefinitions.find((one) => one.AttributeName === name)?.AttributeType;
  const holder = [table, ...globalIndexes, ...localIndexes].find(({ KeySchema }) =>
    KeySchema.some((key) => key.AttributeName === name),
  );
  return invalidParameter(
    `Attributes cannot be redefined. Please check that your attribute has the same type as previously defined. Existing schema: ${schemaOf(found, holder ?? fresh)} New schema: ${schemaOf(AttributeType, fresh)}`,
  );
}

function changeIndex(record: TableRecord, { IndexName, ProvisionedThroughput }: NonNullable<IndexUpdate["Update"]>) {
  const index = record.globalIndexes.find((found) => found.IndexName === IndexName);
  if (!index)
    throw validation(
      "This operation cannot be performed with given input values. Please contact DynamoDB service team for more info: Action Blocked: IndexUpdate",
    );
  if (ProvisionedThroughput) index.ProvisionedThroughput = ProvisionedThroughput;
}

function deleteIndex({ storage }: Engine, { indexes, record }: Table, name: string): void {
  const index = indexes.find((found) => found.name === name && !found.local);
  if (!index) throw noSuchResource();
  storage.indexing.drop(index);
  delete record.indexStorage[name];
  record.globalIndexes = record.globalIndexes.filter(({ IndexName }) => IndexName !== name);
  const schemas = [
    record.KeySchema,
    ...[...record.globalIndexes, ...record.localIndexes].map((kept) => kept.KeySchema),
  ];
  const used = new Set(schemas.flat().map(({ AttributeName }) => AttributeName));
  record.AttributeDefinitions = record.AttributeDefinitions.filter(({ AttributeName }) => used.has(AttributeName));
}

/** Gives an index definition its place in the storage. */
export function named({ id, record }: Table, definition: IndexDefinition): IndexDefinition {
  record.indexesMade++;
  record.indexStorage[definition.IndexName] = `dynamodb_index_${id}_${record.indexesMade}`;
  return definition;
}

/** Enables the stream of a table (with a new label) or disables it. */
export function setStream({ clock }: Engine, record: TableRecord, wanted: StreamInput | undefined): void {
  if (!wanted) return;
  if (!wanted.StreamEnabled) {
    if (record.stream) record.stream.enabled = false;
    return;
  }
  const started = new Date(clock.now()).toISOString().slice(0, -1);
  if (record.stream)
    record.formerStreams = [
      ...(record.formerStreams ?? []).filter(({ until }) => until > clock.now() - DAY),
      { label: record.stream.label, view: record.stream.view, until: clock.now() },
    ];
  const label = record.stream?.label === started ? `${started.slice(0, -3)}${Number(started.slice(-3)) + 1}` : started;
  record.stream = { label, view: wanted.StreamViewType!, enabled: true };
}
