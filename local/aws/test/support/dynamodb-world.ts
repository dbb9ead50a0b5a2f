// A DynamoDB of its own for each test: empty, in memory, on a frozen clock.
import { type Database, openDatabase } from "../../database.ts";
import type { CapacitySettings } from "../../dynamodb/throughput.ts";
import { createDynamoDb, type DynamoDb, type DynamoDbFaults } from "../../dynamodb.ts";
import { createRemoteDynamoDb } from "../../remote-dynamodb.ts";
import { isAwsFailure, type Wire } from "../../stand-in.ts";
import { frozenClock, ids } from "./clock.ts";

export const START = Date.UTC(2026, 0, 1);

export type Value = Record<string, unknown>;
export type Item = Record<string, Value>;

export const S = (text: string): Value => ({ S: text });
export const N = (number: number | string): Value => ({ N: String(number) });

/** A table `things` with `pk` and `sk`, by default. */
export interface TableOptions {
  name?: string;
  hash?: [name: string, type: string];
  range?: [name: string, type: string] | undefined;
  /** Global indexes by name: hash, range and projection. */
  indexes?: Record<string, { hash: [string, string]; range?: [string, string]; projection?: Wire }>;
  stream?: string;
  more?: Wire;
}

const element = (AttributeName: string, KeyType: string) => ({ AttributeName, KeyType });

const schema = (hash: [string, string], range?: [string, string]) => [
  element(hash[0], "HASH"),
  ...(range ? [element(range[0], "RANGE")] : []),
];

export function tableInput(options: TableOptions = {}): Wire {
  const { name = "things", hash = ["pk", "S"], indexes = {}, stream, more = {} } = options;
  const range: [string, string] | undefined = "range" in options ? options.range : ["sk", "S"];
  const keys = [hash, range, ...Object.values(indexes).flatMap((index) => [index.hash, index.range])];
  const types = new Map(keys.filter((key) => key !== undefined));
  return {
    TableName: name,
    BillingMode: "PAY_PER_REQUEST",
    AttributeDefinitions: [...types].map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType })),
    KeySchema: schema(hash, range),
    ...(Object.keys(indexes).length > 0 && {
      GlobalSecondaryIndexes: Object.entries(indexes).map(([IndexName, index]) => ({
        IndexName,
        KeySchema: schema(index.hash, index.range),
        Projection: index.projection ?? { ProjectionType: "ALL" },
      })),
    }),
    ...(stream && { StreamSpecification: { StreamEnabled: true, StreamViewType: stream } }),
    ...more,
  };
}

export interface WorldOptions {
  table?: TableOptions | false;
  faults?: DynamoDbFaults;
  database?: Database;
  /** Turns the capacity model on. */
  capacity?: Partial<CapacitySettings>;
}

export async function world({
  table = {},
  faults,
  capacity,
  // Items lie elsewhere in a file than in memory: `EMBEDDED_FILE=` (an empty name) tests a file that passes.
  database = openDatabase(process.env.EMBEDDED_FILE ?? ":memory:"),
}: WorldOptions = {}) {
  const clock = frozenClock(START);
  const endpoint = process.env.PARITY_ENDPOINT;
  const db = endpoint
    ? await elsewhere(endpoint)
    : createDynamoDb({ clock, ids, database, capacity, ...(faults && { faults }) });

  const call = async (operation: string, input: Wire = {}): Promise<Answer> => {
    const named = table !== false && ITEM_OPERATIONS.has(operation) ? { TableName: table.name ?? "things" } : {};
    return (await db.operate(operation, { ...named, ...input })) as Answer;
  };

  /** The refusal of a call: `Name: message`. */
  const refused = async (operation: string, input: Wire = {}): Promise<string> => {
    const { name, message } = await failure(operation, input);
    return `${name.replace("Exception", "")}: ${message}`;
  };

  const failure = async (
    operation: string,
    input: Wire = {},
  ): Promise<{ name: string; message: string; fields: Wire }> => {
    try {
      await call(operation, input);
    } catch (error) {
      if (isAwsFailure(error)) return error;
      throw error;
    }
    throw new Error(`${operation} was not refused`);
  };

  const put = (item: Item, more: Wire = {}) => call("PutItem", { Item: item, ...more });
  const get = async (key: Item, more: Wire = {}) => (await call("GetItem", { Key: key, ...more })).Item;
  const update = (key: Item, expression: string, values?: Item, more: Wire = {}) =>
    call("UpdateItem", {
      Key: key,
      UpdateExpression: expression,
      ...(values && { ExpressionAttributeValues: values }),
      ...more,
    });

  if (table !== false) await call("CreateTable", tableInput(table));
  return { db, clock, database, call, refused, failure, put, get, update };
}

/** Another engine in place of ours (`npm run parity`, which reads the error): emptied, and without what only ours has. */
async function elsewhere(endpoint: string): Promise<DynamoDb> {
  const { operate } = createRemoteDynamoDb(endpoint);
  const { TableNames } = await operate("ListTables", {});
  for (const TableName of TableNames as string[]) await operate("DeleteTable", { TableName });
  const onlyOurs = () => {
    throw new Error("Only the embedded service has this.");
  };
  const absent = { records: onlyOurs, keepRecords: onlyOurs, onWrite: onlyOurs, expire: onlyOurs };
  return { operate, ...absent, limit: onlyOurs, throughput: onlyOurs, meter: onlyOurs, resetMeter: onlyOurs };
}

const ITEM_OPERATIONS = new Set(["PutItem", "GetItem", "UpdateItem", "DeleteItem", "Query", "Scan"]);

/** The members of answers that tests look at. */
export interface Answer extends Wire {
  Item?: Item;
  Items?: Item[];
  Attributes?: Item;
  Count?: number;
  ScannedCount?: number;
  LastEvaluatedKey?: Item;
  ConsumedCapacity?: Wire & { CapacityUnits: number };
}

export const key = (pk: string, sk = "1"): Item => ({ pk: S(pk), sk: S(sk) });
export const invalid = (message: string): string => `Validation: ${message}`;
/** How PutItem, UpdateItem and DeleteItem word what is wrong with the request itself. */
export const enveloped = (message: string): string =>
  invalid(process.env.PARITY_ENDPOINT ? message : `1 validation error detected: ${message}`);
