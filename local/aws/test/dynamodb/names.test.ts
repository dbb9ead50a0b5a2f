// Names: of attributes in every parameter that takes them, of keys, of tables.
import { expect, test } from "vitest";
import { invalid, key, N, S, tableInput, world } from "../support/dynamodb-world.ts";

test.each([
  ["an empty name", "", "Empty attribute name"],
  ["a name of 64 KB", "x".repeat(65_536), "Attribute name is too large, must be less than 65536 bytes"],
])("PutItem refuses an item with %s", async (_, name, message) => {
  const { refused } = await world();

  expect(await refused("PutItem", { Item: { ...key("a"), [name]: N(1) } })).toContain(message);
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
