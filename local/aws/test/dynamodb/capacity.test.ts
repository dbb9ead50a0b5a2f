// Capacity as DynamoDB bills it, in responses and in the meter.
import { expect, test } from "vitest";
import type { Wire } from "../../stand-in.ts";
import { key, N, S, world } from "../support/dynamodb-world.ts";

const KB = 1024;
/** An item of exactly that many bytes. */
const sized = (bytes: number, pk = "a", more: Record<string, Record<string, unknown>> = {}) => {
  const base = { ...key(pk), ...more };
  const overhead = "pkask1v".length + pk.length - 1;
  const extra = Object.entries(more).reduce((sum, [name, { S: text }]) => sum + name.length + String(text).length, 0);
  return { ...base, v: S("x".repeat(bytes - overhead - extra)) };
};

const TOTAL = { ReturnConsumedCapacity: "TOTAL" };
const INDEXES = { ReturnConsumedCapacity: "INDEXES" };

const units = (answer: Wire): number => (answer.ConsumedCapacity as { CapacityUnits: number }).CapacityUnits;

test("a put costs the larger of the old and the new item, in whole kilobytes", async () => {
  const { put } = await world();
  expect(units(await put(sized(1 * KB), TOTAL))).toBe(1);
  expect(units(await put(sized(1 * KB + 1), TOTAL))).toBe(2);
  expect(units(await put(sized(5 * KB), TOTAL))).toBe(5);
  expect(units(await put(sized(100), TOTAL))).toBe(5);
  expect(units(await put(sized(100), TOTAL))).toBe(1);
});

test("an update costs by the whole item, a delete by the old one, at least one", async () => {
  const { put, update, call } = await world();
  await put(sized(3 * KB));
  expect(units(await update(key("a"), "SET n = :n", { ":n": N(1) }, TOTAL))).toBe(4);
  expect(units(await update(key("a"), "SET v = :n", { ":n": N(1) }, TOTAL))).toBe(4);
  await put(sized(3 * KB));
  expect(units(await call("DeleteItem", { Key: key("a"), ...TOTAL }))).toBe(3);
  expect(units(await call("DeleteItem", { Key: key("a"), ...TOTAL }))).toBe(1);
});

test("a read costs 4 KB blocks, half when it may be stale, and one block for nothing", async () => {
  const { put, call } = await world();
  await put(sized(4 * KB + 1));
  const get = async (pk: string, ConsistentRead: boolean) =>
    units(await call("GetItem", { Key: key(pk), ConsistentRead, ...TOTAL }));
  expect([await get("a", true), await get("a", false), await get("none", true), await get("none", false)]).toEqual([
    2, 1, 1, 0.5,
  ]);
});

test("a query sums the sizes of what it read, before filter and rounding", async () => {
  const { put, call } = await world();
  for (let at = 0; at < 8; at++) await put({ ...sized(1 * KB), sk: S(String(at)) });
  const query = async (more: Wire = {}) =>
    units(
      await call("Query", {
        KeyConditionExpression: "pk = :p",
        ExpressionAttributeValues: { ":p": S("a"), ...(more.FilterExpression ? { ":n": N(1) } : {}) },
        ...TOTAL,
        ...more,
      }),
    );
  expect(await query()).toBe(1);
  expect(await query({ ConsistentRead: true })).toBe(2);
  expect(await query({ FilterExpression: "n = :n" })).toBe(1);
  expect(await query({ Limit: 1 })).toBe(0.5);
});

test("a whole scan of a table paid per request is billed for each of its four partitions", async () => {
  const { put, call } = await world();
  const scan = async (more: Wire = {}) => units(await call("Scan", { ...TOTAL, ...more }));
  expect([await scan(), await scan({ ConsistentRead: true })]).toEqual([2, 4]);
  await put(sized(100, "a"));
  expect([await scan(), await scan({ ConsistentRead: true })]).toEqual([2, 4]);
  await put(sized(9 * KB, "a"));
  expect([await scan(), await scan({ ConsistentRead: true })]).toEqual([3, 6]);
  expect(await scan({ Limit: 1 })).toBe(1.5);
  expect(await scan({ Segment: 0, TotalSegments: 1 })).toBe(1.5);
});

const indexes = {
  all: { hash: ["g", "S"] as [string, string] },
  keys: { hash: ["g", "S"] as [string, string], projection: { ProjectionType: "KEYS_ONLY" } },
};

test("an index costs nothing when its view stays, one to write it, two to move it", async () => {
  const { put, update, call } = await world({ table: { indexes } });
  const consumed = (answer: Wire) => answer.ConsumedCapacity;
  const parts = (table: number, all?: number, keysOnly?: number) => ({
    TableName: "things",
    CapacityUnits: table + (all ?? 0) + (keysOnly ?? 0),
    Table: { CapacityUnits: table },
    ...((all ?? keysOnly) !== undefined && {
      GlobalSecondaryIndexes: {
        ...(all !== undefined && { all: { CapacityUnits: all } }),
        ...(keysOnly !== undefined && { keys: { CapacityUnits: keysOnly } }),
      },
    }),
  });
  expect(consumed(await put(sized(3 * KB), INDEXES))).toEqual(parts(3));
  expect(consumed(await put(sized(3 * KB, "a", { g: S("x") }), INDEXES))).toEqual(parts(3, 3, 1));
  expect(consumed(await update(key("a"), "SET n = :n", { ":n": N(1) }, INDEXES))).toEqual(parts(4, 4));
  expect(consumed(await update(key("a"), "SET n = :n", { ":n": N(1) }, INDEXES))).toEqual(parts(4));
  expect(consumed(await update(key("a"), "SET g = :g", { ":g": S("y") }, INDEXES))).toEqual(parts(4, 8, 2));
  expect(consumed(await call("DeleteItem", { Key: key("a"), ...INDEXES }))).toEqual(parts(4, 4, 1));
});

test("a query of an index is billed to the index, by the projected sizes", async () => {
  const { put, call } = await world({ table: { indexes } });
  await put(sized(9 * KB, "a", { g: S("x") }));
  const query = async (IndexName: string) =>
    (
      await call("Query", {
        IndexName,
        KeyConditionExpression: "g = :g",
        ExpressionAttributeValues: { ":g": S("x") },
        ...INDEXES,
      })
    ).ConsumedCapacity;
  expect(await query("all")).toEqual({
    TableName: "things",
    CapacityUnits: 1.5,
    Table: { CapacityUnits: 0 },
    GlobalSecondaryIndexes: { all: { CapacityUnits: 1.5 } },
  });
  expect((await query("keys"))!.CapacityUnits).toBe(0.5);
});

test("a transaction doubles the table's part, not that of indexes", async () => {
  const { call } = await world({ table: { indexes } });
  const item = sized(3 * KB, "a", { g: S("x") });
  const written = await call("TransactWriteItems", {
    TransactItems: [{ Put: { TableName: "things", Item: item } }],
    ClientRequestToken: "token",
    ...INDEXES,
  });
  const both = (amount: number) => ({ CapacityUnits: amount, WriteCapacityUnits: amount });
  expect(written.ConsumedCapacity).toEqual([
    { TableName: "things", ...both(10), Table: both(6), GlobalSecondaryIndexes: { all: both(3), keys: both(1) } },
  ]);
  const again = await call("TransactWriteItems", {
    TransactItems: [{ Put: { TableName: "things", Item: item } }],
    ClientRequestToken: "token",
    ...TOTAL,
  });
  expect(again.ConsumedCapacity).toEqual([{ TableName: "things", CapacityUnits: 2, ReadCapacityUnits: 2 }]);
  const read = await call("TransactGetItems", {
    TransactItems: [{ Get: { TableName: "things", Key: key("a") } }, { Get: { TableName: "things", Key: key("b") } }],
    ...TOTAL,
  });
  expect(read.ConsumedCapacity).toEqual([{ TableName: "things", CapacityUnits: 4, ReadCapacityUnits: 4 }]);
});

test("a batch rounds item by item", async () => {
  const { call } = await world();
  const written = await call("BatchWriteItem", {
    RequestItems: { things: [sized(100, "a"), sized(1 * KB + 1, "b")].map((Item) => ({ PutRequest: { Item } })) },
    ...TOTAL,
  });
  expect(written.ConsumedCapacity).toEqual([{ TableName: "things", CapacityUnits: 3 }]);
  const read = await call("BatchGetItem", {
    RequestItems: { things: { Keys: [key("a"), key("b"), key("none")] } },
    ...TOTAL,
  });
  expect(read.ConsumedCapacity).toEqual([{ TableName: "things", CapacityUnits: 1.5 }]);
});

test("the meter sums requests and units by operation, and knows the hottest keys", async () => {
  const { db, put, get, refused } = await world({ table: { indexes } });
  db.resetMeter();
  await put(sized(2 * KB, "hot", { g: S("x") }));
  await put(sized(100, "cold"));
  await get(key("hot"));
  await refused("PutItem", { Item: key("hot"), ConditionExpression: "attribute_not_exists(pk)" });
  await refused("DeleteItem", { Key: key("none"), ConditionExpression: "attribute_exists(pk)" });
  expect(db.meter()).toEqual({
    requests: 5,
    wcu: 2 + 2 + 1 + 1 + 2 + 1,
    rcu: 0.5,
    by_operation: {
      PutItem: { requests: 3, wcu: 8, rcu: 0 },
      GetItem: { requests: 1, wcu: 0, rcu: 0.5 },
      DeleteItem: { requests: 1, wcu: 1, rcu: 0 },
    },
    hottest: [
      { key: "hot", wcu: 4 },
      { key: "cold", wcu: 1 },
      { key: "none", wcu: 1 },
    ],
    index_wcu: 3,
  });
  db.resetMeter();
  expect(db.meter()).toEqual({ requests: 0, wcu: 0, rcu: 0, by_operation: {}, hottest: [], index_wcu: 0 });
});

test("the meter tells the ten hottest keys of very many", async () => {
  const { db, put } = await world();
  for (let at = 0; at < 25_000; at++) await put(key(`p${at}`));
  for (let at = 0; at < 20; at++) for (let times = 0; times < 3 + at; times++) await put(key(`h${at}`));
  const { hottest } = db.meter();
  expect(hottest.map((entry) => entry.key)).toEqual(Array.from({ length: 10 }, (_, at) => `h${19 - at}`));
});
