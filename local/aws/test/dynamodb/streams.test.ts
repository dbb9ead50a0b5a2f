// Streams: a record per change, in commit order, for 24 hours.
import { describe, expect, test } from "vitest";
import type { Wire } from "../../stand-in.ts";
import { DAY, HOUR, SECOND } from "../../time.ts";
import { key, N, S, START, tableInput, world } from "../support/dynamodb-world.ts";

const streamed = (stream = "NEW_AND_OLD_IMAGES") => world({ table: { stream } });
const ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/things/stream/2026-01-01T00:00:00.000";

test("inserts, changes and removals are recorded with their images, in order", async () => {
  const { db, put, update, call } = await streamed();
  await put({ ...key("a"), n: N(1) });
  await update(key("a"), "SET n = :n", { ":n": N(2) });
  await call("DeleteItem", { Key: key("a") });
  const records = db.records("things", "", 10);
  expect(records.map(({ eventName, dynamodb }) => [eventName, dynamodb.OldImage?.n, dynamodb.NewImage?.n])).toEqual([
    ["INSERT", undefined, N(1)],
    ["MODIFY", N(1), N(2)],
    ["REMOVE", N(2), undefined],
  ]);
  expect(records[0]).toEqual({
    eventID: expect.stringMatching(/^[0-9a-f]{32}$/),
    eventName: "INSERT",
    eventVersion: "1.1",
    eventSource: "aws:dynamodb",
    awsRegion: "us-east-1",
    dynamodb: {
      ApproximateCreationDateTime: START / SECOND,
      Keys: key("a"),
      NewImage: { ...key("a"), n: N(1) },
      SequenceNumber: expect.stringMatching(/^\d{21}$/),
      SizeBytes: 6 + 9,
      StreamViewType: "NEW_AND_OLD_IMAGES",
    },
    eventSourceARN: ARN,
  });
});

test.each([
  ["KEYS_ONLY", false, false],
  ["NEW_IMAGE", true, false],
  ["OLD_IMAGE", false, true],
  ["NEW_AND_OLD_IMAGES", true, true],
])("a stream of %s shows no more", async (view, shows, showsOld) => {
  const { db, put } = await streamed(view);
  await put({ ...key("a"), n: N(1) });
  await put({ ...key("a"), n: N(2) });
  const { dynamodb } = db.records("things", "", 10)[1]!;
  expect([dynamodb.Keys, "NewImage" in dynamodb, "OldImage" in dynamodb]).toEqual([key("a"), shows, showsOld]);
});

test("a write that does not change the item is not recorded", async () => {
  const { db, put, update, call, refused } = await streamed();
  const item = { ...key("a"), s: { SS: ["x", "y"] }, n: N(1) };
  await put(item);
  await put(item);
  await put({ n: N("1.0"), s: { SS: ["y", "x"] }, ...key("a") });
  await update(key("a"), "SET n = :n REMOVE gone", { ":n": N(1) });
  await call("DeleteItem", { Key: key("none") });
  await refused("DeleteItem", { Key: key("a"), ConditionExpression: "attribute_exists(gone)" });
  expect(db.records("things", "", 10)).toHaveLength(1);
});

test("batches and transactions are recorded too, a canceled one is not", async () => {
  const { db, call, refused } = await streamed();
  await call("BatchWriteItem", { RequestItems: { things: [{ PutRequest: { Item: key("a") } }] } });
  const write = [{ Put: { TableName: "things", Item: key("b") } }, { Delete: { TableName: "things", Key: key("a") } }];
  await call("TransactWriteItems", { TransactItems: write });
  const check = { ConditionCheck: { TableName: "things", Key: key("z"), ConditionExpression: "attribute_exists(pk)" } };
  await refused("TransactWriteItems", { TransactItems: [{ Put: { TableName: "things", Item: key("c") } }, check] });
  expect(db.records("things", "", 10).map(({ eventName, dynamodb }) => [eventName, dynamodb.Keys.pk!.S])).toEqual([
    ["INSERT", "a"],
    ["INSERT", "b"],
    ["REMOVE", "a"],
  ]);
});

test("records are read on from a sequence number, and only for 24 hours", async () => {
  const { db, put, clock } = await streamed();
  for (const name of ["a", "b", "c"]) await put(key(name));
  const [first] = db.records("things", "", 1);
  const rest = db.records("things", first!.dynamodb.SequenceNumber, 10);
  expect(rest.map(({ dynamodb }) => dynamodb.Keys.pk!.S)).toEqual(["b", "c"]);
  expect(db.records("things", rest[1]!.dynamodb.SequenceNumber, 10)).toEqual([]);

  clock.jumpTo(clock.now() + DAY - 1);
  expect(db.records("things", "", 10)).toHaveLength(3);
  clock.jumpTo(clock.now() + 1);
  expect(db.records("things", "", 10)).toEqual([]);
  db.expire();
  await put(key("d"));
  const [later] = db.records("things", "", 10);
  expect(later!.dynamodb.SequenceNumber > rest[1]!.dynamodb.SequenceNumber).toBe(true);
});

test("what a reader has not read yet is kept, however old", async () => {
  const { db, put, clock } = await streamed();
  for (const name of ["a", "b", "c"]) await put(key(name));
  let checkpoint = db.records("things", "", 1)[0]!.dynamodb.SequenceNumber;
  db.keepRecords(() => checkpoint);
  clock.jumpTo(clock.now() + 3 * DAY);
  db.expire();
  const unread = db.records("things", "", 10);
  expect(unread.map(({ dynamodb }) => dynamodb.Keys.pk!.S)).toEqual(["b", "c"]);
  checkpoint = unread[1]!.dynamodb.SequenceNumber;
  expect(db.records("things", "", 10)).toEqual([]);
});

test("tables do not see each other's records, nor those of one that had their name", async () => {
  const { db, call, put } = await streamed();
  await call("CreateTable", tableInput({ name: "more", stream: "KEYS_ONLY" }));
  await put(key("a"));
  expect(db.records("more", "", 10)).toEqual([]);
  await call("DeleteTable", { TableName: "things" });
  expect(db.records("things", "", 10)).toEqual([]);
  await call("CreateTable", tableInput({ stream: "KEYS_ONLY" }));
  expect(db.records("things", "", 10)).toEqual([]);
});

test("listeners hear of every committed write, and of none that failed", async () => {
  const { db, put, call, refused } = await streamed();
  const heard: string[] = [];
  const stop = db.onWrite((table, partitionKey) => heard.push(`${table}/${partitionKey}`));
  await put(key("a"));
  await call("BatchWriteItem", { RequestItems: { things: [{ PutRequest: { Item: key("b") } }] } });
  await refused("PutItem", { Item: key("c"), ConditionExpression: "attribute_exists(pk)" });
  await call("TransactWriteItems", {
    TransactItems: [
      { Delete: { TableName: "things", Key: key("a") } },
      { ConditionCheck: { TableName: "things", Key: key("b"), ConditionExpression: "attribute_exists(pk)" } },
    ],
  });
  stop();
  await put(key("d"));
  expect(heard).toEqual(["things/a", "things/b", "things/a"]);
});

describe("the streams API", () => {
  test("the streams API lists the stream of a table", async () => {
    const { call } = await streamed();

    expect(await call("ListStreams", { TableName: "things" })).toEqual({
      Streams: [{ StreamArn: ARN, TableName: "things", StreamLabel: "2026-01-01T00:00:00.000" }],
    });
  });

  test("the streams API refuses a stream that there is not", async () => {
    const { refused } = await streamed();

    expect(await refused("DescribeStream", { StreamArn: `${ARN}x` })).toBe(
      `ResourceNotFound: Requested resource not found: Stream: ${ARN}x not found`,
    );
  });

  /** The one shard of the stream, which has `a`, `b` and, after the iterator `latest` was made, `c`. */
  async function withShard() {
    const { call, put, clock, refused } = await streamed();
    const { StreamDescription } = await call("DescribeStream", { StreamArn: ARN });
    const [shard] = (StreamDescription as { Shards: Wire[] }).Shards;
    const iterator = async (ShardIteratorType: string, more: Wire = {}) =>
      (await call("GetShardIterator", { StreamArn: ARN, ShardId: shard!.ShardId, ShardIteratorType, ...more }))
        .ShardIterator;
    const read = async (ShardIterator: unknown, more: Wire = {}) => {
      const { Records, NextShardIterator: next } = await call("GetRecords", { ShardIterator, ...more });
      const changes = (Records as { dynamodb: { Keys: Wire; SequenceNumber: string } }[]).map(
        ({ dynamodb }) => dynamodb,
      );
      return {
        next,
        names: changes.map(({ Keys }) => Keys.pk),
        numbers: changes.map((change) => change.SequenceNumber),
      };
    };
    for (const name of ["a", "b"]) await put(key(name));
    const latest = await iterator("LATEST");
    await put(key("c"));
    return { clock, refused, iterator, read, latest };
  }

  test("the streams API reads a shard from its beginning, page by page", async () => {
    const { iterator, read } = await withShard();
    const first = await read(await iterator("TRIM_HORIZON"), { Limit: 2 });

    expect(first.names).toEqual([S("a"), S("b")]);
    expect((await read(first.next)).names).toEqual([S("c")]);
  });

  test("the streams API reads what came after an iterator for the latest was made", async () => {
    const { read, latest } = await withShard();

    expect((await read(latest)).names).toEqual([S("c")]);
  });

  test.each([
    ["AT_SEQUENCE_NUMBER", [S("b"), S("c")]],
    ["AFTER_SEQUENCE_NUMBER", [S("c")]],
  ])("the streams API reads a shard from a record on: %s", async (type, names) => {
    const { iterator, read } = await withShard();
    const [, SequenceNumber] = (await read(await iterator("TRIM_HORIZON"))).numbers;

    expect((await read(await iterator(type, { SequenceNumber }))).names).toEqual(names);
  });

  test("an iterator of the streams API has expired after an hour", async () => {
    const { clock, refused, latest } = await withShard();
    clock.jumpTo(clock.now() + HOUR);

    expect(await refused("GetRecords", { ShardIterator: latest })).toMatch(/^ExpiredIterator: /);
  });
});

test("a reader far behind and one close by read the same records", async () => {
  const { db, put } = await streamed();
  for (let n = 0; n < 2_600; n++) await put({ ...key("a"), n: N(n) });
  const all = db.records("things", "", 10_000);
  expect(all.map(({ dynamodb }) => dynamodb.NewImage?.n)).toEqual(Array.from({ length: 2_600 }, (_, n) => N(n)));
  for (const at of [0, 1_000, 1_599, 1_600, 2_000, 2_598, 2_599])
    expect(db.records("things", all[at]!.dynamodb.SequenceNumber, 5)).toEqual(all.slice(at + 1, at + 6));
});
