// Requests to streams that make no sense, and a stream that another one took the place of.
import { expect, test } from "vitest";
import type { Wire } from "../../../local/aws/stand-in.ts";
import { DAY } from "../../../shared/kernel/clock.ts";
import { key, world } from "./world.ts";

const stream = "KEYS_ONLY";
type World = Awaited<ReturnType<typeof world>>;

async function arnsOf({ call }: World): Promise<string[]> {
  const { Streams } = (await call("ListStreams", { TableName: "things" })) as { Streams?: { StreamArn: string }[] };
  return Streams!.map(({ StreamArn }) => StreamArn);
}

async function shardsOf({ call }: World, StreamArn: string, more: Wire = {}) {
  const { StreamDescription } = (await call("DescribeStream", { StreamArn, ...more })) as {
    StreamDescription?: { StreamStatus: string; Shards: { ShardId: string; SequenceNumberRange: Wire }[] };
  };
  return StreamDescription!;
}

test("what is no ARN of a stream is refused, and what could be one is not found", async () => {
  const the = await world({ table: { stream } });
  const [arn] = (await arnsOf(the)) as [string];
  const wrong = "this-is-not-the-arn-of-a-stream-at-all";
  const ShardId = "shardId-00000000000000000000-00000001";
  expect(await the.refused("DescribeStream", { StreamArn: wrong })).toMatch(/^Validation/);
  expect(await the.refused("ListStreams", { ExclusiveStartStreamArn: wrong })).toMatch(/^Validation/);
  const iterator = { ShardId, ShardIteratorType: "LATEST" };
  expect(await the.refused("GetShardIterator", { StreamArn: wrong, ...iterator })).toMatch(/^Validation/);
  const other = arn.replace("table/things", "table/others");
  expect(await the.refused("DescribeStream", { StreamArn: other })).toMatch(/^ResourceNotFound/);
});

test("a sequence number goes with the two types of iterators that begin at one", async () => {
  const the = await world({ table: { stream } });
  const [StreamArn] = (await arnsOf(the)) as [string];
  const [shard] = (await shardsOf(the, StreamArn)).Shards;
  const { ShardId, SequenceNumberRange } = shard!;
  const SequenceNumber = SequenceNumberRange.StartingSequenceNumber;
  for (const ShardIteratorType of ["TRIM_HORIZON", "LATEST"])
    expect(await the.refused("GetShardIterator", { StreamArn, ShardId, ShardIteratorType, SequenceNumber })).toMatch(
      /^Validation/,
    );
});

test("the one shard has no children; a filter names its type and a shard", async () => {
  const the = await world({ table: { stream } });
  const [StreamArn] = (await arnsOf(the)) as [string];
  const [shard] = (await shardsOf(the, StreamArn)).Shards;
  const ShardFilter = { Type: "CHILD_SHARDS", ShardId: shard!.ShardId };
  expect((await shardsOf(the, StreamArn, { ShardFilter })).Shards).toEqual([]);
  for (const wrong of [
    { ...ShardFilter, Type: "PARENTS" },
    { ...ShardFilter, ShardId: "qwerty" },
    { ShardId: shard!.ShardId },
    { Type: "CHILD_SHARDS" },
  ])
    expect(await the.refused("DescribeStream", { StreamArn, ShardFilter: wrong })).toMatch(
      /shardFilter\.(type|shardId)/,
    );
});

test("a stream that was switched off can be read for a day, beside the one that took its place", async () => {
  const the = await world({ table: { stream } });
  const [former] = (await arnsOf(the)) as [string];
  await the.put(key("before"));
  const change = (StreamSpecification: Wire) => the.call("UpdateTable", { TableName: "things", StreamSpecification });
  await change({ StreamEnabled: false });
  the.clock.jumpTo(the.clock.now() + 1);
  await change({ StreamEnabled: true, StreamViewType: stream });
  await the.put(key("after"));
  const arns = await arnsOf(the);
  expect([arns.length, arns[0]]).toEqual([2, former]);
  const read = async (StreamArn: string) => {
    const { StreamStatus, Shards } = await shardsOf(the, StreamArn);
    const from = { StreamArn, ShardId: Shards[0]!.ShardId, ShardIteratorType: "TRIM_HORIZON" };
    const { ShardIterator } = await the.call("GetShardIterator", from);
    const { Records } = (await the.call("GetRecords", { ShardIterator })) as { Records?: { dynamodb: Wire }[] };
    return [StreamStatus, ...Records!.map(({ dynamodb }) => dynamodb.Keys)];
  };
  expect(await Promise.all(arns.map(read))).toEqual([
    ["DISABLED", key("before")],
    ["ENABLED", key("after")],
  ]);
  the.clock.jumpTo(the.clock.now() + DAY);
  expect(await arnsOf(the)).toEqual(arns.slice(1));
});
