// Batches: their limits, and the items they leave unprocessed.
import { expect, test } from "vitest";
import type { Wire } from "../../stand-in.ts";
import { type Item, invalid, key, N, S, tableInput, world } from "../support/dynamodb-world.ts";

const puts = (count: number, more: Item = {}) =>
  Array.from({ length: count }, (_, at) => ({ PutRequest: { Item: { ...key(`p${at}`), ...more } } }));
const keys = (count: number) => Array.from({ length: count }, (_, at) => key(`p${at}`));

test("a batch writes and deletes in several tables", async () => {
  const { call, put } = await world();
  await call("CreateTable", tableInput({ name: "more", range: undefined }));
  await put(key("gone"));
  const answer = await call("BatchWriteItem", {
    RequestItems: {
      things: [{ PutRequest: { Item: { ...key("a"), n: N("1.0") } } }, { DeleteRequest: { Key: key("gone") } }],
      more: [{ PutRequest: { Item: { pk: S("m") } } }],
    },
  });
  expect(answer).toEqual({ UnprocessedItems: {} });
  const read = await call("BatchGetItem", {
    RequestItems: {
      things: { Keys: [key("a"), key("gone")], ConsistentRead: true },
      more: { Keys: [{ pk: S("m") }] },
    },
  });
  expect(read).toEqual({
    Responses: { things: [{ ...key("a"), n: N(1) }], more: [{ pk: S("m") }] },
    UnprocessedKeys: {},
  });
});

const DUPLICATES = "Provided list of item keys contains duplicates";

test.each<[string, Wire, string]>([
  ["nothing", {}, "The requestItems parameter is required for BatchWriteItem"],
  ["the same item twice", { things: [...puts(1), { DeleteRequest: { Key: key("p0") } }] }, DUPLICATES],
  [
    "a request of no kind",
    { things: [{}] },
    "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes",
  ],
  [
    "a key of another type",
    { things: [{ PutRequest: { Item: { pk: N(1), sk: S("1") } } }] },
    "The provided key element does not match the schema",
  ],
  [
    "an item without its key",
    { things: [{ PutRequest: { Item: { pk: S("a") } } }] },
    "The provided key element does not match the schema",
  ],
  ["a bad number", { things: puts(1, { n: N("") }) }, "The parameter cannot be converted to a numeric value"],
  [
    "a repeat in a set",
    { things: puts(1, { s: { SS: ["b", "a", "b"] } }) },
    "One or more parameter values were invalid: Input collection [b, a, b] contains duplicates.",
  ],
])("a batch write of %s is refused, and nothing written", async (_, RequestItems, message) => {
  const { refused, call } = await world();
  expect(await refused("BatchWriteItem", { RequestItems })).toBe(invalid(message));
  expect((await call("Scan")).Count).toBe(0);
});

test("25 writes and 100 keys are taken, one more is refused", async () => {
  const { call, refused } = await world();
  await call("BatchWriteItem", { RequestItems: { things: puts(25) } });
  expect(await refused("BatchWriteItem", { RequestItems: { things: puts(26) } })).toMatch(
    /^Validation: 1 validation error detected: Value '\{things=\[.+\]\}' at 'requestItems' failed to satisfy constraint: Map value must satisfy constraint: \[Member must have length less than or equal to 25, Member must have length greater than or equal to 1\]$/,
  );
  await call("BatchGetItem", { RequestItems: { things: { Keys: keys(100) } } });
  expect(await refused("BatchGetItem", { RequestItems: { things: { Keys: keys(101) } } })).toBe(
    invalid(
      "1 validation error detected: Value at 'RequestItems.things.member.Keys' failed to satisfy constraint: Member must have length less than or equal to 100",
    ),
  );
  await call("CreateTable", tableInput({ name: "more" }));
  const both = { things: { Keys: keys(60) }, more: { Keys: keys(60) } };
  expect(await refused("BatchGetItem", { RequestItems: both })).toBe(
    invalid("Too many items requested for the BatchGetItem call"),
  );
});

test("a batch read of the same key twice, or of nothing, is refused", async () => {
  const { refused } = await world();
  const read = (Keys: Item[]) => refused("BatchGetItem", { RequestItems: { things: { Keys } } });
  expect(await read([key("a"), key("a")])).toBe(invalid(DUPLICATES));
  expect(await refused("BatchGetItem", { RequestItems: {} })).toBe(
    invalid(
      "1 validation error detected: Value at 'RequestItems' failed to satisfy constraint: Member must have length greater than or equal to 1",
    ),
  );
  expect(await refused("BatchGetItem", { RequestItems: { nowhere: { Keys: [key("a")] } } })).toBe(
    "ResourceNotFound: Requested resource not found",
  );
});

test("a batch read stops at 16 MB and leaves the rest to ask for again", async () => {
  const { call } = await world();
  for (let at = 0; at < 50; at++) await call("PutItem", { Item: { ...key(`p${at}`), v: S("x".repeat(390 * 1024)) } });
  const answer = await call("BatchGetItem", { RequestItems: { things: { Keys: keys(50), ConsistentRead: true } } });
  const read = (answer.Responses as Record<string, Item[]>).things!;
  const left = (answer.UnprocessedKeys as Record<string, { Keys: Item[]; ConsistentRead: boolean }>).things!;
  expect(read.length + left.Keys.length).toBe(50);
  expect(read.length).toBe(42);
  expect(left.ConsistentRead).toBe(true);
});

test("a fault leaves the last items of a batch unprocessed", async () => {
  let skip = 2;
  const { call } = await world({ faults: { unprocessed: () => skip } });
  const written = await call("BatchWriteItem", { RequestItems: { things: puts(5) } });
  expect(written.UnprocessedItems).toEqual({ things: puts(5).slice(3) });
  expect((await call("Scan")).Count).toBe(3);
  skip = 1;
  const read = await call("BatchGetItem", { RequestItems: { things: { Keys: keys(3) } } });
  expect(read).toEqual({ Responses: { things: keys(2) }, UnprocessedKeys: { things: { Keys: [key("p2")] } } });
});

test.each<[string, Wire]>([
  ["BatchWriteItem", { RequestItems: { things: null } }],
  ["BatchWriteItem", { RequestItems: { things: [null] } }],
  ["BatchWriteItem", { RequestItems: { things: [{ PutRequest: {} }] } }],
  ["BatchWriteItem", { RequestItems: { things: [{ DeleteRequest: { Key: null } }] } }],
  ["BatchGetItem", { RequestItems: { things: null } }],
  ["BatchGetItem", { RequestItems: { things: { Keys: [null] } } }],
])("%s of %j is refused: what is not there is no item", async (operation, input) => {
  const { refused } = await world();
  expect(await refused(operation, input)).toMatch(/^Validation: /);
});
