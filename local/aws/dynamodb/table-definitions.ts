// Validates the definition of a table and of its indexes as DynamoDB does.
import type { Wire } from "../stand-in.ts";
import { invalidParameter, validation } from "./errors.ts";
import { choice, flag, list, listOf, long, NAME, needed, type Rule, type Shape, structure } from "./parameters.ts";
import { EXTRAS } from "./table-extras.ts";
import type { IndexDefinition, KeyElement, StreamView, Throughput } from "./tables.ts";
import type { KeyType } from "./values.ts";

/** Table operations report a missing or short name with another message than item operations do. */
export const TABLE_NAME: Rule = { type: "String", form: /^[a-zA-Z0-9_.-]+$/ };

export const THROUGHPUT = structure(
  { ReadCapacityUnits: needed(long(1)), WriteCapacityUnits: needed(long(1)) },
  "ProvisionedThroughput",
);

/** Applies to key attributes and to attributes projected by name; other names may be longer. */
const KEY_NAME: Rule = { type: "String", min: 1, max: 255 };

const KEY_SCHEMA: Rule = {
  ...listOf(
    structure({ AttributeName: needed(KEY_NAME), KeyType: needed(choice("HASH", "RANGE")) }, "KeySchemaElement"),
  ),
  min: 1,
  max: 2,
  required: true,
};

export const ATTRIBUTES = listOf(
  structure({ AttributeName: needed(KEY_NAME), AttributeType: needed(choice("B", "N", "S")) }, "AttributeDefinition"),
);

const PROJECTION = structure(
  {
    ProjectionType: choice("ALL", "INCLUDE", "KEYS_ONLY"),
    NonKeyAttributes: { ...listOf(KEY_NAME), min: 1 },
  },
  "Projection",
);

const LOCAL_INDEX = { IndexName: needed(NAME), KeySchema: KEY_SCHEMA, Projection: needed(PROJECTION) } satisfies Shape;
export const GLOBAL_INDEX = { ...LOCAL_INDEX, ProvisionedThroughput: THROUGHPUT } satisfies Shape;

export const STREAM = structure({
  StreamEnabled: needed(flag),
  StreamViewType: choice("NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES", "KEYS_ONLY"),
});

export const BILLING = choice("PROVISIONED", "PAY_PER_REQUEST");
export const TABLE_CLASS = choice("STANDARD", "STANDARD_INFREQUENT_ACCESS");

export const CREATE_SHAPE = {
  AttributeDefinitions: needed(ATTRIBUTES),
  TableName: NAME,
  KeySchema: KEY_SCHEMA,
  GlobalSecondaryIndexes: listOf(structure(GLOBAL_INDEX, "GlobalSecondaryIndex")),
  LocalSecondaryIndexes: listOf(structure(LOCAL_INDEX, "LocalSecondaryIndex")),
  BillingMode: BILLING,
  ProvisionedThroughput: THROUGHPUT,
  StreamSpecification: STREAM,
  Tags: list,
  TableClass: TABLE_CLASS,
  DeletionProtectionEnabled: flag,
  ...EXTRAS,
} satisfies Shape;

export interface StreamInput {
  StreamEnabled: boolean;
  StreamViewType?: StreamView;
}

export interface CreateInput extends Wire {
  TableName: string;
  AttributeDefinitions: { AttributeName: string; AttributeType: KeyType }[];
  KeySchema: KeyElement[];
  GlobalSecondaryIndexes?: IndexDefinition[];
  LocalSecondaryIndexes?: IndexDefinition[];
  BillingMode?: "PROVISIONED" | "PAY_PER_REQUEST";
  ProvisionedThroughput?: Throughput;
  StreamSpecification?: StreamInput;
  Tags?: { Key: string; Value: string }[];
  TableClass?: string;
  DeletionProtectionEnabled?: boolean;
}

const MAX_LOCAL = 5;
const MAX_GLOBAL = 20;
const MAX_UNITS = 1_000_000_000_000;
const MAX_PROJECTED = 100;

/** Rejects a name before any other check. */
export function checkTableName(name: unknown): void {
  if (name === undefined || name === null)
    throw validation("The parameter 'TableName' is required but was not present in the request");
  if (typeof name === "string" && !name.startsWith("arn:") && (name.length < 3 || name.length > 255))
    throw validation("TableName must be at least 3 characters long and at most 255 characters long");
}

export function checkCreate(input: CreateInput): void {
  checkThroughput(input);
  refuseRedefined(input.AttributeDefinitions);
  checkKeySchema(input.KeySchema, input.AttributeDefinitions);
  const { LocalSecondaryIndexes: locals, GlobalSecondaryIndexes: globals } = input;
  if (!locals && !globals && input.KeySchema.length !== input.AttributeDefinitions.length)
    throw invalidParameter(
      "Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions",
    );
  if (locals) checkLocalIndexes(locals, input);
  if (globals) checkGlobalIndexes(globals, input);
  refuseDuplicates([...(globals ?? []), ...(locals ?? [])]);
  checkDefinitions(input);
  checkStream(input.StreamSpecification);
}

function checkThroughput({ BillingMode, ProvisionedThroughput }: CreateInput): void {
  if (BillingMode === "PAY_PER_REQUEST") {
    if (ProvisionedThroughput)
      throw invalidParameter(
        "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST",
      );
    return;
  }
  if (!ProvisionedThroughput)
    throw invalidParameter(
      "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED",
    );
  checkUnits(ProvisionedThroughput);
}

export function checkUnits(throughput: Throughput): void {
  for (const unit of ["ReadCapacityUnits", "WriteCapacityUnits"] as const)
    if (throughput[unit] > MAX_UNITS) throw validation(`Given value ${throughput[unit]} for ${unit} is out of bounds`);
}

type Definitions = CreateInput["AttributeDefinitions"];

export function refuseRedefined(definitions: Definitions): void {
  const names = definitions.map(({ AttributeName }) => AttributeName);
  const repeat = names.find((name, at) => names.indexOf(name) < at);
  if (repeat !== undefined) throw invalidParameter(`Duplicate AttributeName in AttributeDefinitions: ${repeat}`);
}

function checkKeySchema(schema: KeyElement[], definitions: Definitions): void {
  const keys = schema.map(({ AttributeName }) => AttributeName);
  const found = definitions.map(({ AttributeName }) => AttributeName);
  if (keys.length > found.length) throw validation("Invalid KeySchema: Some index key attribute have no definition");
  checkDefined(keys, found);
  checkKeyOrder(schema);
}

function checkDefined(keys: string[], found: string[]): void {
  if (keys.some((key) => !found.includes(key)))
    throw invalidParameter(
      `Some index key attributes are not defined in AttributeDefinitions. Keys: [${keys.join(", ")}], AttributeDefinitions: [${found.join(", ")}]`,
    );
}

function checkKeyOrder([first, second]: KeyElement[]): void {
  if (first?.AttributeName === second?.AttributeName)
    throw validation("Both the Hash Key and the Range Key element in the KeySchema have the same name");
  if (first?.KeyType !== "HASH")
    throw validation("Invalid KeySchema: The first KeySchemaElement is not a HASH key type");
  if (second && second.KeyType !== "RANGE")
    throw validation("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type");
}

/** Every attribute that is defined must be part of some key. */
function checkDefinitions(input: CreateInput): void {
  const indexes = [...(input.LocalSecondaryIndexes ?? []), ...(input.GlobalSecondaryIndexes ?? [])];
  const used = new Set([input, ...indexes].flatMap(({ KeySchema }) => KeySchema.map((key) => key.AttributeName)));
  const spare = input.AttributeDefinitions.filter(({ AttributeName }) => !used.has(AttributeName));
  if (spare.length > 0)
    throw invalidParameter(
      `Some AttributeDefinitions are not used. AttributeDefinitions: [${input.AttributeDefinitions.map(({ AttributeName }) => AttributeName).join(", ")}], keys used: [${[...used].join(", ")}]`,
    );
}

function checkLocalIndexes(indexes: IndexDefinition[], input: CreateInput): void {
  if (indexes.length === 0) throw invalidParameter("List of LocalSecondaryIndexes is empty");
  if (input.KeySchema.length !== 2)
    throw invalidParameter(
      "Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex",
    );
  const tableHash = input.KeySchema[0]!.AttributeName;
  for (const index of indexes) {
    checkIndexKeys(index, input.AttributeDefinitions);
    if (index.KeySchema.length !== 2)
      throw invalidParameter(`Index KeySchema does not have a range key for index: ${index.IndexName}`);
    const hash = index.KeySchema[0]!.AttributeName;
    if (hash !== tableHash)
      throw invalidParameter(
        `Index KeySchema does not have the same leading hash key as table KeySchema for index: ${index.IndexName}. index hash key: ${hash}, table hash key: ${tableHash}`,
      );
    checkProjection(index);
  }
  refuseDuplicates(indexes);
  if (indexes.length > MAX_LOCAL)
    throw invalidParameter(`Number of LocalSecondaryIndexes exceeds per-table limit of ${MAX_LOCAL}`);
}

function checkGlobalIndexes(indexes: IndexDefinition[], input: CreateInput): void {
  if (indexes.length === 0) throw invalidParameter("List of GlobalSecondaryIndexes is empty");
  for (const index of indexes) checkGlobalIndex(index, input.AttributeDefinitions, input.BillingMode);
  refuseDuplicates(indexes);
  if (indexes.length > MAX_GLOBAL)
    throw invalidParameter(`GlobalSecondaryIndex count exceeds the per-table limit of ${MAX_GLOBAL}`);
}

export function checkGlobalIndex(index: IndexDefinition, definitions: Definitions, billing: unknown): void {
  checkIndexKeys(index, definitions);
  checkProjection(index);
  if (billing === "PAY_PER_REQUEST" && index.ProvisionedThroughput)
    throw invalidParameter(
      `ProvisionedThroughput should not be specified for index: ${index.IndexName} when BillingMode is PAY_PER_REQUEST`,
    );
  if (billing !== "PAY_PER_REQUEST" && !index.ProvisionedThroughput)
    throw invalidParameter(`ProvisionedThroughput must be specified for index: ${index.IndexName}`);
}

function checkIndexKeys({ KeySchema }: IndexDefinition, definitions: Definitions): void {
  checkDefined(
    KeySchema.map(({ AttributeName }) => AttributeName),
    definitions.map(({ AttributeName }) => AttributeName),
  );
  checkKeyOrder(KeySchema);
}

function checkProjection({ Projection: { ProjectionType, NonKeyAttributes } }: IndexDefinition): void {
  if (ProjectionType === undefined) throw invalidParameter("Unknown ProjectionType: null");
  if (NonKeyAttributes && ProjectionType !== "INCLUDE")
    throw invalidParameter(`ProjectionType is ${ProjectionType}, but NonKeyAttributes is specified`);
  if (!NonKeyAttributes && ProjectionType === "INCLUDE")
    throw invalidParameter("ProjectionType is INCLUDE, but NonKeyAttributes is not specified");
  if (NonKeyAttributes && NonKeyAttributes.length > MAX_PROJECTED)
    throw invalidParameter(`Number of NonKeyAttributes exceeds the limit of ${MAX_PROJECTED}`);
  const repeat = NonKeyAttributes?.find((name, at) => NonKeyAttributes.indexOf(name) < at);
  if (repeat !== undefined) throw invalidParameter(`Duplicate value in NonKeyAttributes: ${repeat}`);
}

function refuseDuplicates(indexes: IndexDefinition[]): void {
  const seen = new Set<string>();
  for (const { IndexName } of indexes) {
    if (seen.has(IndexName)) throw invalidParameter(`Duplicate index name: ${IndexName}`);
    seen.add(IndexName);
  }
}

function checkStream(stream: StreamInput | undefined): void {
  if (stream?.StreamEnabled && !stream.StreamViewType)
    throw invalidParameter("Table is being created with a stream but StreamViewType is not specified");
  if (stream && !stream.StreamEnabled && stream.StreamViewType)
    throw invalidParameter("Table is being created with a stream disabled, UpdateViewType should not be specified");
}
