// A DynamoDB of another process instead of the embedded one: calls are forwarded unchanged, and its streams are polled.
import { Agent, request } from "node:http";
import { emptyMeter } from "./dynamodb/capacity.ts";
import type { DynamoDb } from "./dynamodb.ts";
import { type Ask, createRemoteStream } from "./remote-stream.ts";
import { awsFailure, type Wire } from "./stand-in.ts";
import { SECOND } from "./time.ts";

interface RemoteDynamoDb extends Omit<DynamoDb, "records"> {
  records(table: string, after: string, limit: number): ReturnType<ReturnType<typeof createRemoteStream>["read"]>;
  /** The stream of a table, distinct from those of its predecessors. */
  streamArn(table: string): Promise<string>;
  close(): void;
}

const STREAM_OPERATIONS = new Set(["DescribeStream", "GetRecords", "GetShardIterator", "ListStreams"]);
/** Operations that return consumed capacity on request. */
const METERED = /^((Batch)?(Get|Write)Item|(Put|Update|Delete)Item|Query|Scan|Transact(Get|Write)Items)$/;
const TIMEOUT_MS = 30_000;
/** How often streams are polled for other writers: a stream does not notify of new records. */
const POLL_MS = SECOND;
/** Local endpoints do not check signatures; Amazon's DynamoDB Local reads the access key from them. */
const AUTHORIZATION =
  "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host;x-amz-target, Signature=00";

/** @param endpoint a loopback URL. */
export function createRemoteDynamoDb(endpoint: string): RemoteDynamoDb {
  const agent = new Agent({ keepAlive: true });
  const listeners = new Set<Parameters<DynamoDb["onWrite"]>[0]>();
  const tables = new Set<string>();
  /** Units by partition key are not reported, so `hottest` is empty. */
  let meter = emptyMeter();

  const ask: Ask = async (operation, input) => {
    const api = STREAM_OPERATIONS.has(operation) ? "DynamoDBStreams_20120810" : "DynamoDB_20120810";
    const { status, text } = await post(endpoint, agent, `${api}.${operation}`, JSON.stringify(input));
    const answer = readObject(text);
    if (status === 200) return answer;
    const { __type, message, Message, ...fields } = answer;
    const name = String(__type ?? "InternalServerError")
      .split("#")
      .at(-1)!;
    throw awsFailure(name, String(message ?? Message ?? text), { status, fields });
  };

  const count = (operation: string, consumed: CapacityReport[]) => {
    meter.by_operation[operation] ??= { requests: 0, wcu: 0, rcu: 0 };
    const own = meter.by_operation[operation];
    meter.requests++;
    own.requests++;
    const unit = /Put|Update|Delete|Write/.test(operation) ? "wcu" : "rcu";
    for (const { CapacityUnits = 0, GlobalSecondaryIndexes = {} } of consumed) {
      meter[unit] += CapacityUnits;
      own[unit] += CapacityUnits;
      if (unit === "wcu")
        for (const index of Object.values(GlobalSecondaryIndexes)) meter.index_wcu += index.CapacityUnits;
    }
  };

  const operate = async (operation: string, input: Wire): Promise<Wire> => {
    const unasked = METERED.test(operation) && input.ReturnConsumedCapacity === undefined;
    const answer = await ask(operation, unasked ? { ...input, ReturnConsumedCapacity: "INDEXES" } : input);
    const { ConsumedCapacity, ...rest } = answer;
    count(operation, [ConsumedCapacity ?? []].flat() as CapacityReport[]);
    for (const [table, partition] of writtenBy(operation, input))
      for (const listener of listeners) listener(table, partition);
    return unasked ? rest : answer;
  };

  const streamArn = async (table: string): Promise<string> => {
    const { Table } = (await ask("DescribeTable", { TableName: table })) as { Table: { LatestStreamArn?: string } };
    if (!Table.LatestStreamArn) throw new Error(`The table ${table} has no stream.`);
    tables.add(table);
    return Table.LatestStreamArn;
  };
  const stream = createRemoteStream(ask, streamArn);
  const poll = setInterval(() => {
    for (const table of tables) for (const listener of listeners) listener(table, "");
  }, POLL_MS);
  poll.unref();

  return {
    operate,
    streamArn,
    records: stream.read,
    // The other process trims records and expires items.
    keepRecords: () => undefined,
    expire: () => 0,
    onWrite: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    limit: () => undefined,
    throughput: () => [],
    meter: () => structuredClone(meter),
    resetMeter: () => {
      meter = emptyMeter();
    },
    close: () => {
      clearInterval(poll);
      agent.destroy();
    },
  };
}

interface CapacityReport {
  CapacityUnits?: number;
  GlobalSecondaryIndexes?: Record<string, { CapacityUnits: number }>;
}

/** Through `node:http`, whose requests an advance of time can detect and wait for. */
function post(endpoint: string, agent: Agent, target: string, body: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = {
      "content-type": "application/x-amz-json-1.0",
      "content-length": Buffer.byteLength(body),
      "x-amz-target": target,
      authorization: AUTHORIZATION,
    };
    const sent = request(endpoint, { method: "POST", agent, headers, timeout: TIMEOUT_MS }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
    });
    sent.on("timeout", () => sent.destroy(new Error("no answer in time")));
    sent.on("error", reject);
    sent.end(body);
  });
}

function readObject(text: string): Wire {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value as Wire;
  } catch {
    // Reported below, with the actual response.
  }
  throw new Error(`This is not a DynamoDB endpoint: it answered ${text.slice(0, 80)}`);
}

type WrittenItem = {
  TableName?: string;
  Item?: Wire;
  Key?: Wire;
  PutRequest?: { Item: Wire };
  DeleteRequest?: { Key: Wire };
};

/** Table and partition key of each item that a call writes, if the key attribute is named as in our table. */
function writtenBy(operation: string, input: Wire): [table: string, partition: string][] {
  const place = (table: unknown, item: Wire | undefined): [string, string] => [
    String(table),
    String((item?.pk as { S?: string } | undefined)?.S ?? ""),
  ];
  if (operation === "BatchWriteItem")
    return Object.entries(input.RequestItems as Record<string, WrittenItem[]>).flatMap(([table, writes]) =>
      writes.map(({ PutRequest, DeleteRequest }) => place(table, PutRequest?.Item ?? DeleteRequest?.Key)),
    );
  if (operation === "TransactWriteItems")
    return (input.TransactItems as Record<string, WrittenItem>[]).flatMap((step) =>
      Object.values(step).map(({ TableName, Item, Key }) => place(TableName, Item ?? Key)),
    );
  if (!/^(Put|Update|Delete)Item$/.test(operation)) return [];
  return [place(input.TableName, (input.Item ?? input.Key) as Wire)];
}
