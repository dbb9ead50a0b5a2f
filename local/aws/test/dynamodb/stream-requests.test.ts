// Requests to streams that make no sense.
import { expect, test } from "vitest";
import type { Wire } from "../../stand-in.ts";
import { world } from "../support/dynamodb-world.ts";

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
