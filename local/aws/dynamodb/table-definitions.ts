// Validates the definition of a table and of its indexes as DynamoDB does.
import type { Wire } from "../stand-in.ts";
import { invalidParameter, validation } from "./errors.ts";
import { choice, flag, listOf, NAME, needed, type Rule, type Shape, structure } from "./parameters.ts";
import type { IndexDefinition, KeyElement, StreamView } from "./tables.ts";
import type { KeyType } from "./values.ts";

/** Table operations report a missing or short name with another message than item operations do. */
export const TABLE_NAME: Rule = { type: "String", form: /^[a-zA-Z0-9_.-]+$/ };

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

const ATTRIBUTES = listOf(
  structure({ AttributeName: needed(KEY_NAME), AttributeType: needed(choice("B", "N", "S")) }, "AttributeDefinition"),
);

const PROJECTION = structure(
  {
    ProjectionType: choice("ALL", "INCLUDE", "KEYS_ONLY"),
    NonKeyAttributes: { ...listOf(KEY_NAME), min: 1 },
  },
  "Projection",
);

const GLOBAL_INDEX = {
  IndexName: needed(NAME),
  KeySchema: KEY_SCHEMA,
  Projection: needed(PROJECTION),
} satisfies Shape;

const STREAM = structure({
  StreamEnabled: needed(flag),
  StreamViewType: choice("NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES", "KEYS_ONLY"),
});

export const CREATE_SHAPE = {
  AttributeDefinitions: needed(ATTRIBUTES),
  TableName: NAME,
  KeySchema: KEY_SCHEMA,
  GlobalSecondaryIndexes: listOf(structure(GLOBAL_INDEX, "GlobalSecondaryIndex")),
  BillingMode: choice("PROVISIONED", "PAY_PER_REQUEST"),
  StreamSpecification: STREAM,
} satisfies Shape;

interface StreamInput {
  StreamEnabled: boolean;
  StreamViewType?: StreamView;
}

export interface CreateInput extends Wire {
  TableName: string;
  AttributeDefinitions: { AttributeName: string; AttributeType: KeyType }[];
  KeySchema: KeyElement[];
  GlobalSecondaryIndexes?: IndexDefinition[];
  BillingMode?: string;
  StreamSpecification?: StreamInput;
}

const MAX_GLOBAL = 20;
const MAX_PROJECTED = 100;

/** Rejects a name before any other check. */
export function checkTableName(name: unknown): void {
  if (name === undefined || name === null)
    throw validation("The parameter 'TableName' is required but was not present in the request");
  if (typeof name === "string" && !name.startsWith("arn:") && (name.length < 3 || name.length > 255))
    throw validation("TableName must be at least 3 characters long and at most 255 characters long");
}

export function checkCreate(input: CreateInput): void {
  if (input.BillingMode !== "PAY_PER_REQUEST")
    throw invalidParameter("The embedded service has on-demand tables only: BillingMode must be PAY_PER_REQUEST");
  refuseRedefined(input.AttributeDefinitions);
  checkKeySchema(input.KeySchema, input.AttributeDefinitions);
  const { GlobalSecondaryIndexes: globals } = input;
  if (!globals && input.KeySchema.length !== input.AttributeDefinitions.length)
    throw invalidParameter(
      "Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions",
    );
  if (globals) checkGlobalIndexes(globals, input);
  checkDefinitions(input);
  checkStream(input.StreamSpecification);
}

type Definitions = CreateInput["AttributeDefinitions"];

function refuseRedefined(definitions: Definitions): void {
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
  const holders = [input, ...(input.GlobalSecondaryIndexes ?? [])];
  const used = new Set(holders.flatMap(({ KeySchema }) => KeySchema.map((key) => key.AttributeName)));
  const spare = input.AttributeDefinitions.filter(({ AttributeName }) => !used.has(AttributeName));
  if (spare.length > 0)
    throw invalidParameter(
      `Some AttributeDefinitions are not used. AttributeDefinitions: [${input.AttributeDefinitions.map(({ AttributeName }) => AttributeName).join(", ")}], keys used: [${[...used].join(", ")}]`,
    );
}

function checkGlobalIndexes(indexes: IndexDefinition[], input: CreateInput): void {
  if (indexes.length === 0) throw invalidParameter("List of GlobalSecondaryIndexes is empty");
  for (const index of indexes) {
    checkIndexKeys(index, input.AttributeDefinitions);
    checkProjection(index);
  }
  refuseDuplicates(indexes);
  if (indexes.length > MAX_GLOBAL)
    throw invalidParameter(`GlobalSecondaryIndex count exceeds the per-table limit of ${MAX_GLOBAL}`);
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
