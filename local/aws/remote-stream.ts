// Reads a table's stream from another process, shard by shard, from any sequence number on.
import type { StreamRecord } from "./dynamodb.ts";
import { isAwsFailure, type Wire } from "./stand-in.ts";

/** A call of an operation, as JSON. */
export type Ask = (operation: string, input: Wire) => Promise<Wire>;

interface Shard {
  ShardId: string;
  SequenceNumberRange: { StartingSequenceNumber: string; EndingSequenceNumber?: string };
}

/** Where reading continues: `iterator` returns what follows the record `after`. */
interface ShardPosition {
  arn: string;
  after: string;
  shard: Shard;
  iterator: string;
}

/** A stream's errors for a position that is too old. Reading then restarts from the oldest record. */
const LOST = new Set(["ExpiredIteratorException", "TrimmedDataAccessException"]);

export function createRemoteStream(ask: Ask, streamArn: (table: string) => Promise<string>) {
  const arns = new Map<string, Promise<string>>();
  const places = new Map<string, ShardPosition>();

  const shardsOf = async (StreamArn: string): Promise<Shard[]> => {
    const shards: Shard[] = [];
    let ExclusiveStartShardId: unknown;
    do {
      const from = ExclusiveStartShardId === undefined ? {} : { ExclusiveStartShardId };
      const { StreamDescription } = await ask("DescribeStream", { StreamArn, ...from });
      const page = StreamDescription as { Shards: Shard[]; LastEvaluatedShardId?: string };
      shards.push(...page.Shards);
      ExclusiveStartShardId = page.LastEvaluatedShardId;
    } while (ExclusiveStartShardId !== undefined);
    return shards.sort((a, b) => (startOf(a) < startOf(b) ? -1 : 1));
  };

  /** The first position after a record (empty text: the very first), in a shard that begins later than `beyond`. */
  const seek = async (arn: string, after: string, beyond = -1n): Promise<ShardPosition | undefined> => {
    const found = after === "" ? -1n : BigInt(after);
    const shard = (await shardsOf(arn)).find((each) => startOf(each) > beyond && endOf(each) > found);
    if (!shard) return undefined;
    const exact = { ShardIteratorType: "AFTER_SEQUENCE_NUMBER", SequenceNumber: after };
    const begin = { ShardIteratorType: "TRIM_HORIZON" };
    const iteratorOf = (kind: Wire) => ask("GetShardIterator", { StreamArn: arn, ShardId: shard.ShardId, ...kind });
    const within = found >= startOf(shard);
    const { ShardIterator } = await iteratorOf(within ? exact : begin).catch((error: unknown) => {
      if (isLost(error)) return iteratorOf(begin);
      throw error;
    });
    return { arn, after, shard, iterator: String(ShardIterator) };
  };

  const readFrom = async (table: string, arn: string, after: string, limit: number): Promise<StreamRecord[]> => {
    const remembered = places.get(table);
    let place = remembered?.after === after ? remembered : await seek(arn, after);
    while (place) {
      const { Records, NextShardIterator } = await ask("GetRecords", { ShardIterator: place.iterator, Limit: limit });
      const records = (Records as Wire[]).map((record) => recordOf(record, arn));
      const last = records.at(-1)?.dynamodb.SequenceNumber ?? after;
      if (NextShardIterator) places.set(table, { ...place, after: last, iterator: String(NextShardIterator) });
      else places.delete(table);
      if (records.length > 0 || NextShardIterator) return records;
      place = await seek(arn, after, startOf(place.shard));
    }
    return [];
  };

  return {
    /** Records after a sequence number (empty text: from the first one), oldest first. */
    read: async (table: string, after: string, limit: number): Promise<StreamRecord[]> => {
      if (!arns.has(table)) arns.set(table, streamArn(table));
      const arn = await arns.get(table)!.catch((error: unknown) => {
        arns.delete(table);
        throw error;
      });
      return readFrom(table, arn, after, limit).catch((error: unknown) => {
        places.delete(table);
        if (!isLost(error)) throw error;
        return readFrom(table, arn, after, limit);
      });
    },
  };
}

const startOf = ({ SequenceNumberRange }: Shard): bigint => BigInt(SequenceNumberRange.StartingSequenceNumber);

/** An open shard has no end, so it always matches. */
const endOf = ({ SequenceNumberRange: { EndingSequenceNumber } }: Shard): bigint =>
  EndingSequenceNumber === undefined ? 2n ** 256n : BigInt(EndingSequenceNumber);

const isLost = (error: unknown): boolean => isAwsFailure(error) && LOST.has(error.name);

/** A record as a function gets it: the API names the members of an identity differently. */
function recordOf({ userIdentity, ...record }: Wire, arn: string): StreamRecord {
  const identity = userIdentity as { PrincipalId: string; Type: string } | undefined;
  return {
    ...record,
    ...(identity && { userIdentity: { type: identity.Type, principalId: identity.PrincipalId } }),
    eventSourceARN: arn,
  } as unknown as StreamRecord;
}
