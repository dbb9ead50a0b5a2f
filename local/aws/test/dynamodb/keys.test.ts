// Keys: what is demanded of them, and the order they give.
import { expect, test } from "vitest";
import { invalid, key, N, S, type Value, world } from "../support/dynamodb-world.ts";

const MISMATCH = invalid("The provided key element does not match the schema");
const EMPTY =
  "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: pk";

test.each([
  ["missing", { pk: S("a") }],
  ["one too many", { ...key("a"), x: S("b") }],
  ["another name", { pk: S("a"), x: S("b") }],
  ["another type", { pk: S("a"), sk: N(1) }],
  ["not a scalar", { pk: { L: [] }, sk: S("1") }],
  ["nothing at all", {}],
])("a Key with a part %s is refused alike by get, update and delete", async (_, Key) => {
  const { refused } = await world();
  expect(await refused("GetItem", { Key })).toBe(MISMATCH);
  expect(await refused("DeleteItem", { Key })).toBe(MISMATCH);
  expect(await refused("UpdateItem", { Key, UpdateExpression: "REMOVE a" })).toBe(MISMATCH);
});

test("a put without its key, or with a key of another type, says which", async () => {
  const { refused } = await world();
  const wrong = "One or more parameter values were invalid: ";
  expect(await refused("PutItem", { Item: { pk: S("a") } })).toBe(invalid(`${wrong}Missing the key sk in the item`));
  expect(await refused("PutItem", { Item: { pk: N(1), sk: S("1") } })).toBe(
    invalid(`${wrong}Type mismatch for key pk expected: S actual: N`),
  );
});

test("empty and oversized keys are refused", async () => {
  const { refused, put } = await world();
  const wrong = "One or more parameter values were invalid: ";
  expect(await refused("GetItem", { Key: key("") })).toBe(invalid(EMPTY));
  expect(await refused("PutItem", { Item: key("") })).toBe(invalid(EMPTY));
  expect(await refused("PutItem", { Item: key("x".repeat(2049)) })).toBe(
    invalid(`${wrong}Size of hashkey has exceeded the maximum size limit of2048 bytes`),
  );
  expect(await refused("PutItem", { Item: key("a", "x".repeat(1025)) })).toBe(
    invalid(`${wrong}Aggregated size of all range keys has exceeded the size limit of 1024 bytes`),
  );
  await put(key("x".repeat(2048), "x".repeat(1024)));
});

test("binary keys that are empty are refused by their kind", async () => {
  const { refused } = await world({ table: { hash: ["pk", "B"], range: undefined } });
  expect(await refused("PutItem", { Item: { pk: { B: "" } } })).toBe(invalid(EMPTY.replace("string", "binary")));
});

const ordered: [string, string, Value[]][] = [
  ["text by its UTF-8 bytes", "S", ["A", "a", "a\u0000", "aa", "b", "é", "\uffee", "😀"].map(S)],
  [
    "numbers over the whole range",
    "N",
    [
      "-9.9e125",
      "-1e100",
      "-123",
      "-12.5",
      "-12",
      "-1.2",
      "-1e-130",
      "0",
      "1e-130",
      "0.00123",
      "0.012",
      "1",
      "1.0000000000000000000000000000000000001",
      "2",
      "9.99",
      "10",
      "12345678901234567890123456789012345678",
      "1e100",
      "9.9e125",
    ].map(N),
  ],
  ["binary by its bytes", "B", ["AA==", "AAA=", "AP8=", "AQ==", "fw==", "gA==", "/w=="].map((B) => ({ B }))],
];

test.each(ordered)("sort keys order %s, both ways", async (_, type, values) => {
  const { put, call } = await world({ table: { range: ["sk", type] } });
  for (const value of values.toReversed()) await put({ pk: S("p"), sk: value });
  const query = async (more = {}) => {
    const answer = await call("Query", {
      KeyConditionExpression: "pk = :p",
      ExpressionAttributeValues: { ":p": S("p") },
      ...more,
    });
    return answer.Items!.map(({ sk }) => sk);
  };
  const stored = await query();
  expect(stored).toHaveLength(values.length);
  expect(await query({ ScanIndexForward: false })).toEqual(stored.toReversed());
  for (const [at, value] of values.entries()) {
    const after = await call("Query", {
      KeyConditionExpression: "pk = :p AND sk > :s",
      ExpressionAttributeValues: { ":p": S("p"), ":s": value },
    });
    expect(after.Count).toBe(values.length - at - 1);
  }
});

test("the same number written differently is the same key", async () => {
  const { put, get } = await world({ table: { hash: ["pk", "N"], range: undefined } });
  await put({ pk: N("1.0"), v: S("first") });
  await put({ pk: N("10e-1"), v: S("second") });
  expect(await get({ pk: N("1") })).toEqual({ pk: N("1"), v: S("second") });
});
