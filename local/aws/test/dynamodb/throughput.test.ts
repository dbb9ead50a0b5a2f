// The capacity model: throughput of partitions and tables, splits, and how each operation is refused.
import { expect, test } from "vitest";
import { openPartitions, placeOf } from "../../dynamodb/partitions.ts";
import { CAPACITY, type CapacitySettings, warm } from "../../dynamodb/throughput.ts";
import { MINUTE, SECOND } from "../../time.ts";
import { key, N, S, START, world } from "../support/dynamodb-world.ts";

const ONE = { partitions: 1, write: 10, read: 10, transactionMs: 0 };
const index = { byOwner: { hash: ["owner", "S"] as [string, string] } };
const open = (capacity: Partial<CapacitySettings> = ONE) => world({ capacity, table: { indexes: index } });
type World = Awaited<ReturnType<typeof open>>;

/** Puts items until one is refused. @returns how many were taken. */
async function fill({ put }: World, name = "p"): Promise<number> {
  for (let n = 0; ; n++)
    try {
      await put(key(`${name}${n}`));
    } catch (error) {
      expect(error).toMatchObject({ name: "ThrottlingException" });
      return n;
    }
}

test("a partition takes one second of its throughput at once, and then what each second brings", async () => {
  const own = await open();
  expect(await fill(own)).toBe(10);
  own.clock.jumpTo(START + 500);
  expect(await fill(own)).toBe(5);
  own.clock.jumpTo(START + 60 * SECOND);
  expect(await fill(own)).toBe(10);
  expect(await own.failure("PutItem", { Item: key("more") })).toMatchObject({
    fields: {
      throttlingReasons: [
        {
          reason: "TableWriteKeyRangeThroughputExceeded",
          resource: "arn:aws:dynamodb:us-east-1:000000000000:table/things",
        },
      ],
    },
  });
});

test("reads have a throughput of their own, and a refused write stores and costs nothing", async () => {
  const own = await open();
  await fill(own);
  for (let n = 0; n < 10; n++) await own.get(key("p0"), { ConsistentRead: true });
  expect(await own.failure("GetItem", { Key: key("p0") })).toMatchObject({
    fields: { throttlingReasons: [{ reason: "TableReadKeyRangeThroughputExceeded" }] },
  });
  expect(await own.failure("Scan")).toMatchObject({ name: "ThrottlingException" });
  own.clock.jumpTo(START + SECOND);
  expect(await own.get(key("p10"))).toBeUndefined();
});

test("a full index refuses the write of the item", async () => {
  const { db, put, update, failure, clock } = await open({ ...ONE, write: 4 });
  const move = (owner: string) =>
    update(key("a"), "SET #o = :o", { ":o": S(owner) }, { ExpressionAttributeNames: { "#o": "owner" } });
  for (let n = 0; n < 4; n++) await put({ ...key(n ? `p${n}` : "a"), owner: S("one") });
  clock.jumpTo(START + SECOND);
  await move("two");
  await move("three");
  expect(await failure("PutItem", { Item: { ...key("x"), owner: S("y") } })).toMatchObject({
    fields: {
      throttlingReasons: [
        {
          reason: "IndexWriteKeyRangeThroughputExceeded",
          resource: "arn:aws:dynamodb:us-east-1:000000000000:table/things/index/byOwner",
        },
      ],
    },
  });
  await put(key("x"));
  expect(db.throughput().map(({ name, throttled }) => [name, throttled])).toEqual([
    ["things", 0],
    ["things/byOwner", 1],
  ]);
});

test("a batch returns what was refused as unprocessed, and is refused itself where that is all of it", async () => {
  const { call, clock } = await open();
  const RequestItems = { things: Array.from({ length: 15 }, (_, n) => ({ PutRequest: { Item: key(`b${n}`) } })) };
  const { UnprocessedItems } = await call("BatchWriteItem", { RequestItems });
  expect(UnprocessedItems).toEqual({ things: RequestItems.things.slice(10) });
  await expect(call("BatchWriteItem", { RequestItems: UnprocessedItems })).rejects.toThrow(/Throughput exceeds/);
  clock.jumpTo(START + SECOND);
  const Keys = RequestItems.things.map(({ PutRequest: { Item } }) => Item);
  const read = await call("BatchGetItem", { RequestItems: { things: { Keys, ConsistentRead: true } } });
  expect(read).toMatchObject({
    Responses: { things: { length: 10 } },
    UnprocessedKeys: { things: { Keys: Keys.slice(10) } },
  });
});

test("a transaction that is refused is canceled as a whole and gives back what it took", async () => {
  const own = await open({ ...ONE, partitions: 2, write: 4 });
  const names = Array.from({ length: 40 }, (_, n) => `t${n}`);
  const isLow = (pk: string) => placeOf({ pk, sk: "1" }) < "1";
  const [low, high] = [names.filter(isLow), names.filter((name) => !isLow(name))];
  for (const name of high.slice(0, 4)) await own.put(key(name));
  const puts = [low[0]!, high[5]!].map((name) => ({ Put: { TableName: "things", Item: key(name) } }));
  expect(await own.failure("TransactWriteItems", { TransactItems: puts })).toMatchObject({
    name: "TransactionCanceledException",
    fields: { CancellationReasons: [{ Code: "None" }, { Code: "ThrottlingError" }] },
  });
  for (const name of low.slice(0, 4)) await own.put(key(name));
  expect(await own.failure("PutItem", { Item: key(low[5]!) })).toMatchObject({ name: "ThrottlingException" });
});

test("a write that meets a transaction in flight gets a conflict, until the transaction is answered", async () => {
  const own = await world({ faults: { inFlightMs: () => 10 } });
  const { call, failure, put, clock } = own;
  const put2 = (...names: string[]) => ({
    TransactItems: names.map((name) => ({ Put: { TableName: "things", Item: key(name) } })),
  });
  const answered = call("TransactWriteItems", put2("a", "b"));
  expect(await failure("PutItem", { Item: key("a") })).toMatchObject({ name: "TransactionConflictException" });
  expect(await failure("TransactWriteItems", put2("c", "b"))).toMatchObject({
    fields: { CancellationReasons: [{ Code: "None" }, { Code: "TransactionConflict" }] },
  });
  const requests = [{ PutRequest: { Item: key("a") } }, { PutRequest: { Item: key("d") } }];
  expect(await call("BatchWriteItem", { RequestItems: { things: requests } })).toEqual({
    UnprocessedItems: { things: [requests[0]] },
  });
  await put(key("c"));
  clock.jumpTo(START + 10);
  await answered;
  await put(key("a"));
});

test("a table takes twice its highest rate of half an hour before, its first limit at least, the account's at most", async () => {
  const own = await open({ ...ONE, ...warm(40), write: 1_000, tableWrite: 20, maximum: 60, transactionMs: 0 });
  const burst = async (second: number) => {
    own.clock.jumpTo(START + second * SECOND);
    return fill(own, `s${second}-`);
  };
  expect([await burst(1), await burst(2)]).toEqual([20, 20]);
  expect(await burst(1_801)).toBe(20);
  expect([await burst(1_802), await burst(3_700), await burst(3_702), await burst(6_000), await burst(6_002)]).toEqual([
    40, 40, 60, 60, 60,
  ]);
  expect((await own.failure("PutItem", { Item: key("x") })).fields).toMatchObject({
    throttlingReasons: [{ reason: "TableWriteAccountLimitExceeded" }],
  });
});

test("the hash spreads keys evenly over the partitions", () => {
  const parts = openPartitions({ ...CAPACITY, partitions: 8 }, START, () => 0.5);
  for (let n = 0; n < 8_000; n++) parts.take(placeOf({ pk: `T#x#U#${n}`, sk: "P" }), "write", 1, START);
  for (const { share } of parts.figures()) expect(share).toBeGreaterThan(0.1);
});

/** Five minutes of a load that a partition cannot take. @returns the figures after it. */
function heated(placeAt: (n: number) => string) {
  let n = 0;
  const draw = () => ((n * 16_807) % 2_147) / 2_147;
  const parts = openPartitions({ ...CAPACITY, partitions: 1, write: 10 }, START, draw);
  for (let second = 0; second <= 300; second++)
    for (let put = 0; put < 10; put++) {
      const at = START + second * SECOND;
      const place = placeAt(n++);
      if (parts.hasRoom(place, "write", at)) parts.take(place, "write", 1, at);
    }
  return parts;
}

test("a partition that is hot in four of five minutes is split at half of its load", () => {
  const parts = heated((n) => placeOf({ pk: `p${n % 400}`, sk: "1" }));
  expect(parts.splits()).toBe(1);
  const [low, high] = parts.figures().map(({ from }) => parts.hasRoom(`${from} `, "write", START + 6 * MINUTE));
  expect([low, high]).toEqual([true, true]);
});

test("one collection is split within its sort keys, but not one item, and not one that only grows at its end", () => {
  expect(heated((n) => placeOf({ pk: "one", sk: String(n % 400).padStart(5, "0") })).splits()).toBe(1);
  expect(heated((n) => placeOf({ pk: "one", sk: n % 3 ? "hot" : String(n) })).splits()).toBe(0);
  expect(heated((n) => placeOf({ pk: "one", sk: String(n).padStart(8, "0") })).splits()).toBe(0);
});

test("a partition that grows beyond its size is split, and the figures name each partition's part", async () => {
  const own = await open({ ...ONE, write: 100, splitBytes: 4_000 });
  for (let n = 0; n < 20; n++) await own.put({ ...key(`p${n}`), text: S("x".repeat(300)), n: N(n) });
  const [things] = own.db.throughput();
  expect(things).toMatchObject({ name: "things", peakWrite: 20, throttled: 0 });
  expect(things!.splits).toBeGreaterThan(0);
  expect(things!.partitions.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1);
  own.db.resetMeter();
  expect(own.db.throughput()[0]).toMatchObject({ peakWrite: 0, splits: 0 });
});
