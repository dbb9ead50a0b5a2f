// The streams API: every stream has one shard.
import { awsFailure, type Wire } from "../stand-in.ts";
import { MINUTE, SECOND } from "../time.ts";
import type { Engine, Operations } from "./engine.ts";
import { validation } from "./errors.ts";
import { choice, count, needed, type Rule, structure, text } from "./parameters.ts";
import { type Stream, type StreamRecord, sequenceText } from "./streams.ts";
import { keyNames, streamArn, type Table } from "./tables.ts";

const SHARD = "shardId-00000000000000000000-00000001";
const ITERATOR_LIFE = 15 * MINUTE;
const MAX_RECORDS = 1000;
const SHARD_ID: Rule = { type: "String", required: true, min: 28, max: 65 };
const SHARD_FILTER = structure({ Type: needed(choice("CHILD_SHARDS")), ShardId: SHARD_ID });
const ARN: Rule = { type: "String", required: true, min: 37, max: 1024 };

export function streamOf({ name, record }: Table): Stream | undefined {
  return (
    record.stream && { table: name, tableId: record.TableId, label: record.stream.label, view: record.stream.view }
  );
}

interface StreamMatch {
  table: Table;
  stream: Stream;
}

export function streamOperations(engine: Engine): Operations {
  const { tables, streams, clock } = engine;
  const streamed = (): StreamMatch[] =>
    tables.names().flatMap((name) => {
      const table = tables.need(name);
      const stream = streamOf(table);
      return stream ? [{ table, stream }] : [];
    });
  const find = (arn: unknown): StreamMatch => {
    checkArn(arn);
    const found = streamed().find(({ table, stream }) => streamArn(table.name, stream.label) === arn);
    if (found) return found;
    throw awsFailure("ResourceNotFoundException", `Requested resource not found: Stream: ${arn} not found`);
  };
  const summary = ({ table, label }: Stream): Wire => ({
    StreamArn: streamArn(table, label),
    TableName: table,
    StreamLabel: label,
  });

  return {
    ListStreams: {
      shape: { TableName: text, Limit: count(1, 100), ExclusiveStartStreamArn: text },
      writes: false,
      run: ({ TableName, Limit, ExclusiveStartStreamArn: start }) => {
        if (start !== undefined) checkArn(start);
        const all = streamed()
          .filter(({ table }) => TableName === undefined || table.name === TableName)
          .map(({ stream }) => summary(stream))
          .filter(({ StreamArn }) => start === undefined || String(StreamArn) > String(start));
        const page = all.slice(0, Number(Limit ?? 100));
        return { Streams: page, ...(page.length < all.length && { LastEvaluatedStreamArn: page.at(-1)!.StreamArn }) };
      },
    },
    DescribeStream: {
      shape: { StreamArn: ARN, Limit: count(1, 100), ExclusiveStartShardId: text, ShardFilter: SHARD_FILTER },
      writes: false,
      run: ({ StreamArn, ExclusiveStartShardId, ShardFilter }) => {
        const { table, stream } = find(StreamArn);
        const shard = { ShardId: SHARD, SequenceNumberRange: { StartingSequenceNumber: sequenceText(1) } };
        return {
          StreamDescription: {
            ...summary(stream),
            StreamStatus: "ENABLED",
            StreamViewType: stream.view,
            CreationRequestDateTime: Date.parse(`${stream.label}Z`) / SECOND,
            KeySchema: keyNames(table.keys).map((name, at) => ({
              AttributeName: name,
              KeyType: at ? "RANGE" : "HASH",
            })),
            // The one shard has no children.
            Shards: ExclusiveStartShardId === undefined && ShardFilter === undefined ? [shard] : [],
          },
        };
      },
    },
    GetShardIterator: {
      shape: {
        StreamArn: ARN,
        ShardId: SHARD_ID,
        ShardIteratorType: needed(choice("AFTER_SEQUENCE_NUMBER", "LATEST", "AT_SEQUENCE_NUMBER", "TRIM_HORIZON")),
        SequenceNumber: { type: "String", min: 21, max: 40 },
      },
      writes: false,
      run: ({ StreamArn, ShardId, ShardIteratorType: type, SequenceNumber: sequence }) => {
        find(StreamArn);
        if (ShardId !== SHARD)
          throw awsFailure("ResourceNotFoundException", `Requested resource not found: Shard does not exist`);
        const isAtSequence = String(type).endsWith("SEQUENCE_NUMBER");
        if (isAtSequence && sequence === undefined)
          throw validation("Sequence number must be provided for the shard iterator type");
        if (!isAtSequence && sequence !== undefined)
          throw validation(`Sequence number must not be provided for the shard iterator type ${type}`);
        const begins: Record<string, () => string> = {
          TRIM_HORIZON: () => "",
          LATEST: streams.latest,
          AT_SEQUENCE_NUMBER: () => sequenceText(Number(sequence) - 1),
          AFTER_SEQUENCE_NUMBER: () => sequenceText(Number(sequence)),
        };
        return { ShardIterator: iteratorText(String(StreamArn), begins[String(type)]!(), clock.now()) };
      },
    },
    GetRecords: {
      shape: { ShardIterator: needed(text), Limit: count(1, MAX_RECORDS) },
      writes: false,
      run: ({ ShardIterator, Limit }) => {
        const [arn, after, at] = readIterator(String(ShardIterator));
        if (at + ITERATOR_LIFE < clock.now())
          throw awsFailure("ExpiredIteratorException", "The iterator has expired; ask for a new one.");
        const { stream } = find(arn);
        const records = streams.read(stream, after, Number(Limit ?? MAX_RECORDS));
        const next = records.at(-1)?.dynamodb.SequenceNumber ?? after;
        return { Records: records.map(apiRecord), NextShardIterator: iteratorText(arn, next, clock.now()) };
      },
    },
  };
}

/** Rejects a malformed stream ARN, whether or not such a stream exists. */
function checkArn(arn: unknown): void {
  if (!/^arn:aws:dynamodb:[^:]+:\d+:table\/[^/]+\/stream\/[^/]+$/.test(String(arn)))
    throw validation(`Invalid StreamArn: ${arn}`);
}

const iteratorText = (arn: string, after: string, at: number): string =>
  `${arn}|1|${Buffer.from(JSON.stringify([after, at])).toString("base64")}`;

function readIterator(text: string): [arn: string, after: string, at: number] {
  const [arn, , position] = text.split("|");
  if (!arn || !position) throw validation("Invalid ShardIterator");
  const [after, at] = JSON.parse(Buffer.from(position, "base64").toString()) as [string, number];
  return [arn, after, at];
}

/** The API capitalizes the members of an identity, unlike the Lambda event, and omits the stream's ARN. */
function apiRecord({ eventSourceARN: _arn, userIdentity, ...record }: StreamRecord): Wire {
  return {
    ...record,
    ...(userIdentity && { userIdentity: { PrincipalId: userIdentity.principalId, Type: userIdentity.type } }),
  };
}
