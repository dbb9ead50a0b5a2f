// Tables: made, described, listed, deleted, and what is refused on the way.
import { expect, test } from "vitest";
import type { Wire } from "../../stand-in.ts";
import { invalid, key, S, START, tableInput, world } from "../support/dynamodb-world.ts";

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

test("the description of a deleted table has no keys, indexes or creation time", async () => {
  const { call } = await world({ table: { indexes: { byG: { hash: ["g", "S"] } } } });
  const { TableDescription } = await call("DeleteTable", { TableName: "things" });
  expect(TableDescription).toMatchObject({ TableName: "things", TableStatus: "DELETING", ItemCount: 0 });
  for (const gone of ["KeySchema", "AttributeDefinitions", "GlobalSecondaryIndexes", "CreationDateTime"])
    expect(TableDescription).not.toHaveProperty(gone);
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
    "provisioned throughput",
    { BillingMode: "PROVISIONED" },
    `${WRONG}The embedded service has on-demand tables only: BillingMode must be PAY_PER_REQUEST`,
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
  [
    "an attribute defined twice",
    { AttributeDefinitions: [definition("pk"), definition("sk"), definition("sk", "N")] },
    `${WRONG}Duplicate AttributeName in AttributeDefinitions: sk`,
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
    "an attribute projected twice",
    {
      GlobalSecondaryIndexes: [
        index("some", { Projection: { ProjectionType: "INCLUDE", NonKeyAttributes: ["a", "a"] } }),
      ],
    },
    `${WRONG}Duplicate value in NonKeyAttributes: a`,
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
  expect(await refused("DescribeTable", { TableName: "nowhere" })).toBe(
    "ResourceNotFound: Requested resource not found: Table: nowhere not found",
  );
});

test("what no table of ours has is refused loudly", async () => {
  const { refused } = await world({ table: false });
  for (const member of ["LocalSecondaryIndexes", "Tags", "SSESpecification", "ProvisionedThroughput"])
    expect(await refused("CreateTable", tableInput({ more: { [member]: [] } }))).toBe(
      invalid(`The embedded service does not support the parameter ${member} of CreateTable.`),
    );
});
