// Names: of attributes in every parameter that takes them, of keys, of tables; and the tags of a table.
import { expect, test } from "vitest";
import type { Wire } from "../../../local/aws/stand-in.ts";
import { type Item, invalid, key, N, S, tableInput, world } from "./world.ts";

const EMPTY = "Empty attribute name";
const LONG = "x".repeat(65_536);
const TOO_LONG = "Attribute name is too large, must be less than 65536 bytes";
const update = (AttributeUpdates: object) => ({ Key: key("a"), AttributeUpdates });
const one = { ComparisonOperator: "EQ", AttributeValueList: [N(1)] };

test.each<[string, string, (name: string) => Wire]>([
  ["GetItem", "AttributesToGet", (name) => ({ Key: key("a"), AttributesToGet: [name] })],
  ["UpdateItem", "AttributeUpdates", (name) => update({ [name]: { Value: N(1) } })],
  ["PutItem", "Expected", (name) => ({ Item: key("a"), Expected: { [name]: { Exists: false } } })],
  ["Scan", "ScanFilter", (name) => ({ ScanFilter: { [name]: one } })],
  ["PutItem", "Item", (name) => ({ Item: { ...key("a"), [name]: N(1) } as Item })],
])("%s takes no empty name and none of 64 KB in %s", async (operation, _, input) => {
  const { refused } = await world();
  expect(await refused(operation, input(""))).toContain(EMPTY);
  expect(await refused(operation, input(LONG))).toContain(TOO_LONG);
});

test("a table name of two letters is refused before the table is looked for", async () => {
  const { refused } = await world();
  const short =
    "Value 'xx' at 'tableName' failed to satisfy constraint: Member must have length greater than or equal to 3";
  expect(await refused("PutItem", { TableName: "xx", Item: key("a") })).toBe(
    invalid(`1 validation error detected: ${short}`),
  );
});

const longest = "k".repeat(255);
const attributes = (...names: string[]) => names.map((AttributeName) => ({ AttributeName, AttributeType: "S" }));
const indexOf = (name: string, Projection: object = { ProjectionType: "ALL" }) => ({
  IndexName: "byIt",
  KeySchema: [{ AttributeName: name, KeyType: "HASH" }],
  Projection,
});

test("a key has a name of 255 characters at most, in tables, indexes and what they project by name", async () => {
  const { call, refused } = await world({ table: false });
  await call("CreateTable", tableInput({ name: "long", hash: [longest, "S"], range: undefined }));
  const much = `${longest}k`;
  const constraint = "failed to satisfy constraint: Member must have length less than or equal to 255";
  const table = { ...tableInput({ name: "other", range: undefined }), AttributeDefinitions: attributes("pk", "g") };
  const included = { ProjectionType: "INCLUDE", NonKeyAttributes: [much] };
  for (const input of [
    { ...table, KeySchema: [{ AttributeName: much, KeyType: "HASH" }] },
    { ...table, AttributeDefinitions: attributes(much) },
    { ...table, GlobalSecondaryIndexes: [indexOf(much)] },
    { ...table, GlobalSecondaryIndexes: [indexOf("g", included)] },
  ])
    expect(await refused("CreateTable", input)).toContain(constraint);
  const Create = indexOf(much);
  expect(
    await refused("UpdateTable", {
      TableName: "long",
      AttributeDefinitions: attributes("g"),
      GlobalSecondaryIndexUpdates: [{ Create }],
    }),
  ).toContain(constraint);
});

test("tags: 128 and 256 characters of letters, numbers and a few signs, whatever their bytes", async () => {
  const { call, refused } = await world();
  const { Table } = (await call("DescribeTable", { TableName: "things" })) as { Table?: { TableArn: string } };
  const ResourceArn = Table!.TableArn;
  const tag = (...Tags: object[]) => ({ ResourceArn, Tags });
  const good = { Key: "א".repeat(128), Value: `a-b_c.d:e/f=g+h@i ${"א".repeat(238)}` };
  expect(await call("TagResource", tag(good, { Key: "empty", Value: "" }))).toEqual({});
  expect(await call("ListTagsOfResource", { ResourceArn })).toEqual({ Tags: [good, { Key: "empty", Value: "" }] });
  for (const wrong of [
    { Key: "", Value: "v" },
    { Key: "k" },
    { Key: "k".repeat(129), Value: "v" },
    { Key: "k", Value: "v".repeat(257) },
    { Key: "k!", Value: "v" },
    { Key: "k", Value: '"v"' },
  ])
    expect(await refused("TagResource", tag(wrong))).toMatch(/^Validation: 1 validation error detected: Value/);
  expect(await refused("TagResource", { ResourceArn: "things", Tags: [{ Key: "k", Value: "v" }] })).toBe(
    invalid("One or more parameter values were invalid: ARNs must start with 'arn:': things"),
  );
});

test("a start key of a partition that holds one item at most is refused", async () => {
  const { refused } = await world({ table: { range: undefined } });
  const query = {
    KeyConditionExpression: "pk = :p",
    ExpressionAttributeValues: { ":p": S("a") },
    ExclusiveStartKey: { pk: S("a") },
  };
  expect(await refused("Query", query)).toBe(
    invalid("The provided exclusive start key is invalid: ExclusiveStartKey: {pk=AttributeValue: {S:a}}"),
  );
});
