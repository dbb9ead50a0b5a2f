// Tables: made, described, changed, listed, tagged, deleted, and what is refused on the way.
import { expect, test } from "vitest";
import type { Wire } from "../../../local/aws/stand-in.ts";
import { invalid, key, S, START, tableInput, world } from "./world.ts";

const WRONG = "One or more parameter values were invalid: ";
const table = async (the: Awaited<ReturnType<typeof world>>) =>
  (await the.call("DescribeTable", { TableName: "things" })).Table as Wire;

test("a new table says it is being made, is described as active, and works at once", async () => {
  const the = await world({ table: false });
  const { TableDescription } = await the.call("CreateTable", tableInput({ indexes: { more: { hash: ["g", "S"] } } }));
  expect(TableDescription).toMatchObject({
    TableName: "things",
    TableStatus: "CREATING",
    ItemCount: 0,
    TableSizeBytes: 0,
    TableArn: "arn:aws:dynamodb:us-east-1:000000000000:table/things",
    CreationDateTime: START / 1000,
    BillingModeSummary: { BillingMode: "PAY_PER_REQUEST" },
    DeletionProtectionEnabled: false,
    GlobalSecondaryIndexes: [{ IndexName: "more", IndexStatus: "CREATING" }],
  });
  await the.call("PutItem", { TableName: "things", Item: { ...key("a"), g: S("g") } });
  expect(await table(the)).toMatchObject({
    TableStatus: "ACTIVE",
    ItemCount: 1,
    TableSizeBytes: 8,
    GlobalSecondaryIndexes: [{ IndexStatus: "ACTIVE", ItemCount: 1 }],
  });
});

test("a name is used once, deleted, and free again, empty", async () => {
  const { call, refused, put } = await world();
  expect(await refused("CreateTable", tableInput())).toBe("ResourceInUse: Table already exists: things");
  await put(key("a"));
  const { TableDescription } = await call("DeleteTable", { TableName: "things" });
  expect(TableDescription).toMatchObject({ TableStatus: "DELETING" });
  for (const operation of ["DescribeTable", "DeleteTable", "DescribeTimeToLive"])
    expect(await refused(operation, { TableName: "things" })).toBe(
      "ResourceNotFound: Requested resource not found: Table: things not found",
    );
  await call("CreateTable", tableInput());
  expect((await call("Scan")).Count).toBe(0);
});

test("a protected table is not deleted", async () => {
  const { call, refused } = await world({ table: { more: { DeletionProtectionEnabled: true } } });
  expect(await refused("DeleteTable", { TableName: "things" })).toBe(
    invalid(
      "Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.",
    ),
  );
  await call("UpdateTable", { TableName: "things", DeletionProtectionEnabled: false });
  await call("DeleteTable", { TableName: "things" });
});

test("tables are listed in order, page by page", async () => {
  const { call } = await world({ table: false });
  for (const name of ["ccc", "aaa", "bbb"]) await call("CreateTable", tableInput({ name }));
  expect(await call("ListTables", { Limit: 2 })).toEqual({ TableNames: ["aaa", "bbb"], LastEvaluatedTableName: "bbb" });
  expect(await call("ListTables", { ExclusiveStartTableName: "bbb" })).toEqual({ TableNames: ["ccc"] });
});

const definition = (AttributeName: string, AttributeType = "S") => ({ AttributeName, AttributeType });
const part = (AttributeName: string, KeyType: string) => ({ AttributeName, KeyType });
const index = (IndexName: string, more: Wire = {}) => ({
  IndexName,
  KeySchema: [part("sk", "HASH")],
  Projection: { ProjectionType: "ALL" },
  ...more,
});

test.each<[string, Wire, string]>([
  ["no name", { TableName: undefined }, "The parameter 'TableName' is required but was not present in the request"],
  [
    "a short name",
    { TableName: "ab" },
    "1 validation error detected: Value 'ab' at 'tableName' failed to satisfy constraint: Member must have length greater than or equal to 3",
  ],
  [
    "a key type of no kind",
    { KeySchema: [part("pk", "MAIN")] },
    "1 validation error detected: Value 'MAIN' at 'keySchema.1.member.keyType' failed to satisfy constraint: Member must satisfy enum value set: [HASH, RANGE]",
  ],
  [
    "an attribute type of no kind",
    { AttributeDefinitions: [definition("pk", "BOOL"), definition("sk")] },
    "1 validation error detected: Value 'BOOL' at 'attributeDefinitions.1.member.attributeType' failed to satisfy constraint: Member must satisfy enum value set: [B, N, S]",
  ],
  [
    "three keys",
    { KeySchema: [part("pk", "HASH"), part("sk", "RANGE"), part("x", "RANGE")] },
    "1 validation error detected: Value '[KeySchemaElement(attributeName=pk, keyType=HASH), KeySchemaElement(attributeName=sk, keyType=RANGE), KeySchemaElement(attributeName=x, keyType=RANGE)]' at 'keySchema' failed to satisfy constraint: Member must have length less than or equal to 2",
  ],
  [
    "throughput on demand",
    { ProvisionedThroughput: { ReadCapacityUnits: 1, WriteCapacityUnits: 1 } },
    `${WRONG}Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST`,
  ],
  [
    "no throughput",
    { BillingMode: "PROVISIONED" },
    `${WRONG}ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED`,
  ],
  [
    "a key not defined",
    { AttributeDefinitions: [definition("pk"), definition("x")] },
    `${WRONG}Some index key attributes are not defined in AttributeDefinitions. Keys: [pk, sk], AttributeDefinitions: [pk, x]`,
  ],
  [
    "too few definitions",
    { AttributeDefinitions: [definition("pk")] },
    "Invalid KeySchema: Some index key attribute have no definition",
  ],
  [
    "a definition too many",
    { AttributeDefinitions: [definition("pk"), definition("sk"), definition("x")] },
    `${WRONG}Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions`,
  ],
  [
    "a range key first",
    { KeySchema: [part("pk", "RANGE"), part("sk", "HASH")] },
    "Invalid KeySchema: The first KeySchemaElement is not a HASH key type",
  ],
  [
    "two hash keys",
    { KeySchema: [part("pk", "HASH"), part("sk", "HASH")] },
    "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type",
  ],
  [
    "the same key twice",
    { KeySchema: [part("pk", "HASH"), part("pk", "RANGE")] },
    "Both the Hash Key and the Range Key element in the KeySchema have the same name",
  ],
  ["an empty list of indexes", { GlobalSecondaryIndexes: [] }, `${WRONG}List of GlobalSecondaryIndexes is empty`],
  [
    "two indexes of one name",
    { GlobalSecondaryIndexes: [index("same"), index("same")] },
    `${WRONG}Duplicate index name: same`,
  ],
  [
    "an index without a projection type",
    { GlobalSecondaryIndexes: [index("some", { Projection: {} })] },
    `${WRONG}Unknown ProjectionType: null`,
  ],
  [
    "attributes beside a projection of all",
    { GlobalSecondaryIndexes: [index("some", { Projection: { ProjectionType: "ALL", NonKeyAttributes: ["a"] } })] },
    `${WRONG}ProjectionType is ALL, but NonKeyAttributes is specified`,
  ],
  [
    "an index on something undefined",
    { GlobalSecondaryIndexes: [index("some", { KeySchema: [part("x", "HASH")] })] },
    `${WRONG}Some index key attributes are not defined in AttributeDefinitions. Keys: [x], AttributeDefinitions: [pk, sk]`,
  ],
  [
    "a stream without a view",
    { StreamSpecification: { StreamEnabled: true } },
    `${WRONG}Table is being created with a stream but StreamViewType is not specified`,
  ],
])("a table with %s is refused", async (_, more, message) => {
  const { refused } = await world({ table: false });
  expect(await refused("CreateTable", tableInput({ more }))).toBe(invalid(message));
});

test("table operations refuse a missing, a short and an unknown name", async () => {
  const { refused } = await world();
  expect(await refused("DescribeTable")).toBe(
    invalid("The parameter 'TableName' is required but was not present in the request"),
  );
  expect(await refused("DescribeTable", { TableName: "ab" })).toBe(
    invalid("TableName must be at least 3 characters long and at most 255 characters long"),
  );
  expect(await refused("UpdateTable", { TableName: "nowhere", DeletionProtectionEnabled: true })).toBe(
    "ResourceNotFound: Requested resource not found: Table: nowhere not found",
  );
});

test("billing is switched there and back", async () => {
  const the = await world();
  const provisioned = {
    BillingMode: "PROVISIONED",
    ProvisionedThroughput: { ReadCapacityUnits: 5, WriteCapacityUnits: 6 },
  };
  await the.call("UpdateTable", { TableName: "things", ...provisioned });
  expect(await table(the)).toMatchObject({ ProvisionedThroughput: { ReadCapacityUnits: 5, WriteCapacityUnits: 6 } });
  expect(await the.refused("UpdateTable", { TableName: "things", ...provisioned })).toContain("will not change");
  await the.call("UpdateTable", { TableName: "things", BillingMode: "PAY_PER_REQUEST" });
  expect(await table(the)).toMatchObject({ BillingModeSummary: { BillingMode: "PAY_PER_REQUEST" } });
});

test.each<[string, Wire, string]>([
  [
    "changes nothing",
    {},
    "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates or SSESpecification or ReplicaUpdates is required",
  ],
  [
    "names no throughput",
    { BillingMode: "PROVISIONED" },
    `${WRONG}ProvisionedThroughput must be specified when BillingMode is PROVISIONED`,
  ],
  [
    "does nothing to an index",
    { GlobalSecondaryIndexUpdates: [{}] },
    `${WRONG}One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Delete must not be null`,
  ],
  [
    "switches off a stream there is not",
    { StreamSpecification: { StreamEnabled: false } },
    "Table has no stream to disable: TableName: things",
  ],
])("an update that %s is refused", async (_, input, message) => {
  const { refused } = await world();
  expect(await refused("UpdateTable", { TableName: "things", ...input })).toBe(invalid(message));
});

test("tags are put, replaced, listed and taken away", async () => {
  const { call, refused } = await world({ table: { more: { Tags: [{ Key: "a", Value: "1" }] } } });
  const ResourceArn = "arn:aws:dynamodb:us-east-1:000000000000:table/things";
  await call("TagResource", {
    ResourceArn,
    Tags: [
      { Key: "a", Value: "2" },
      { Key: "b", Value: "3" },
    ],
  });
  await call("UntagResource", { ResourceArn, TagKeys: ["b", "none"] });
  expect(await call("ListTagsOfResource", { ResourceArn })).toEqual({ Tags: [{ Key: "a", Value: "2" }] });
  expect(await refused("TagResource", { ResourceArn, Tags: [] })).toBe(
    invalid("Atleast one Tag needs to be provided as Input."),
  );
  expect(await refused("ListTagsOfResource", { ResourceArn: `${ResourceArn}x` })).toBe(
    `ResourceNotFound: Requested resource not found: ResourcArn: ${ResourceArn}x not found`,
  );
});

test("backups, limits and endpoints are described", async () => {
  const { call } = await world();
  await call("UpdateContinuousBackups", {
    TableName: "things",
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
  });
  expect(await call("DescribeContinuousBackups", { TableName: "things" })).toMatchObject({
    ContinuousBackupsDescription: { PointInTimeRecoveryDescription: { PointInTimeRecoveryStatus: "ENABLED" } },
  });
  expect(await call("DescribeLimits")).toMatchObject({ AccountMaxReadCapacityUnits: 80_000 });
  expect(await call("DescribeEndpoints")).toMatchObject({ Endpoints: [{ CachePeriodInMinutes: 1440 }] });
});

test("encryption, ceilings and warm throughput are described as requested", async () => {
  const { call } = await world({
    table: {
      more: {
        SSESpecification: { Enabled: true, KMSMasterKeyId: "k1" },
        OnDemandThroughput: { MaxReadRequestUnits: 5 },
      },
    },
  });
  const { Table } = await call("DescribeTable", { TableName: "things" });
  expect(Table).toMatchObject({
    SSEDescription: { Status: "ENABLED", SSEType: "KMS", KMSMasterKeyArn: "arn:aws:kms:us-east-1:000000000000:key/k1" },
    OnDemandThroughput: { MaxReadRequestUnits: 5, MaxWriteRequestUnits: -1 },
  });
  const WarmThroughput = { ReadUnitsPerSecond: 20_000, WriteUnitsPerSecond: 9_000 };
  const { TableDescription } = await call("UpdateTable", {
    TableName: "things",
    SSESpecification: { Enabled: false },
    WarmThroughput,
  });
  expect(TableDescription).toMatchObject({ WarmThroughput });
  expect(TableDescription).not.toHaveProperty("SSEDescription");
});
