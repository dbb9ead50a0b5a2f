// What is judged first: what the parser cannot read, then the request by itself, then the table and its keys.
import { expect, test } from "vitest";
import type { Wire } from "../../stand-in.ts";
import { invalid, key, N, S, world } from "../support/dynamodb-world.ts";

const MODEL = "com.amazonaws.dynamodb.v20120810";
const CAST = /^Serialization: class sun\.reflect\..* cannot be cast/;
const serialization = (message: string) => `Serialization: ${message}`;

test.each<[string, Wire, string | RegExp]>([
  ["CreateTable", { KeySchema: "x" }, serialization("Unexpected field type")],
  ["CreateTable", { KeySchema: ["x"] }, serialization("Unexpected value type in payload")],
  ["CreateTable", { KeySchema: [[]] }, serialization(`Unrecognized collection type class ${MODEL}.KeySchemaElement`)],
  [
    "BatchGetItem",
    { RequestItems: [] },
    serialization(`Unrecognized collection type java.util.Map<java.lang.String, ${MODEL}.KeysAndAttributes>`),
  ],
  ["BatchGetItem", { RequestItems: { things: { Keys: ["x"] } } }, CAST],
  ["BatchWriteItem", { RequestItems: { things: "x" } }, CAST],
  [
    "BatchWriteItem",
    { RequestItems: { things: [{ PutRequest: { Item: { a: "x" } } }] } },
    serialization("Unexpected value type in payload"),
  ],
  ["PutItem", { Item: { a: { B: "ab==" } } }, serialization("Invalid last non-pad Base64 character dectected")],
  ["PutItem", { Item: { a: { BS: ["abd="] } } }, serialization("Invalid last non-pad Base64 character dectected")],
])("%s %j is not read at all, whatever else is wrong with it", async (operation, input, message) => {
  const { db } = await world({ table: false });
  const said = await db.operate(operation, input).then(
    () => "nothing",
    (error: Error) => `${error.name.replace("Exception", "")}: ${error.message}`,
  );
  if (typeof message === "string") expect(said).toBe(message);
  else expect(said).toMatch(message);
});

test("the condition of a key is judged after the table, the index and the start key", async () => {
  const { refused } = await world();
  const query = (more: Wire) =>
    refused("Query", { KeyConditionExpression: "z = :z", ExpressionAttributeValues: { ":z": S("z") }, ...more });
  expect(await query({ TableName: "nowhere" })).toMatch(/^ResourceNotFound/);
  expect(await query({ IndexName: "nowhere" })).toBe(invalid("The table does not have the specified index: nowhere"));
  expect(await query({ ExclusiveStartKey: { pk: S("a") } })).toBe(invalid("The provided starting key is invalid"));
  expect(await query({})).toBe(invalid("Query condition missed key schema element: pk"));
  // The start key's sort key is looked at after the condition of the partition key.
  expect(await query({ ExclusiveStartKey: { ...key("a"), sk: N(1) } })).toBe(
    invalid("Query condition missed key schema element: pk"),
  );
});

test("of several faults of paths an overlap is reported before a conflict", async () => {
  const { refused } = await world();
  expect(await refused("GetItem", { Key: key("a"), ProjectionExpression: "b[1], b.a, a.b, a" })).toBe(
    invalid(
      "Invalid ProjectionExpression: Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a, b], path two: [a]",
    ),
  );
});

test("a path may go on after its parentheses, which are redundant when doubled", async () => {
  const { put, call, refused } = await world();
  await put({ ...key("a"), m: { M: { l: { L: [N(7)] } } } });
  const values = { ExpressionAttributeValues: { ":v": N(7) } };
  expect((await call("Scan", { FilterExpression: "(m.l)[0] = :v", ...values })).Count).toBe(1);
  expect((await call("Scan", { FilterExpression: "((m).l)[0] = :v", ...values })).Count).toBe(1);
  expect(await refused("Scan", { FilterExpression: "((m.l))[0] = :v", ...values })).toBe(
    invalid("Invalid FilterExpression: The expression has redundant parentheses;"),
  );
});

test("empty lists of indexes are reported before too many attributes", async () => {
  const { refused } = await world({ table: false });
  const table = {
    TableName: "things",
    BillingMode: "PAY_PER_REQUEST",
    KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }],
    AttributeDefinitions: ["pk", "spare"].map((AttributeName) => ({ AttributeName, AttributeType: "S" })),
  };
  const told = "One or more parameter values were invalid: ";
  expect(await refused("CreateTable", { ...table, GlobalSecondaryIndexes: [] })).toBe(
    invalid(`${told}List of GlobalSecondaryIndexes is empty`),
  );
  expect(await refused("CreateTable", table)).toMatch(/Number of attributes in KeySchema/);
});

test("a batch write names tables as tables are named", async () => {
  const { refused } = await world();
  expect(await refused("BatchWriteItem", { RequestItems: { aa: [{ DeleteRequest: { Key: key("a") } }] } })).toMatch(
    /^Validation: .*Map keys must satisfy constraint/,
  );
});
