// Requests to the one table, by raw keys and rows: retries of conflicts and of the unprocessed part of a batch, and a
// guard that restricts the partition keys.
import { isDeepStrictEqual } from "node:util";
import {
  BatchGetCommand,
  BatchWriteCommand,
  type BatchWriteCommandInput,
  DeleteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import { type Deps, setting } from "../kernel/deps.ts";
import { namedError } from "../kernel/errors.ts";
import { chunksOf } from "../rules/chunks.ts";
import { absent, type Condition } from "./conditions.ts";
import { type Change, changeOf, conditionOf, type QueryRange, queryInput } from "./expressions.ts";
import type { Item, Key } from "./model.ts";
import { isConflict, isUnderWay, onConditionFailed, transactionErrorOf, writeErrorOf } from "./refusals.ts";
import { countingSend, TableClient } from "./table-client.ts";

export interface RawPage {
  items: Item[];
  /** Where the next page begins; absent on the last one. */
  next?: Key;
}

export type BatchWrite = { kind: "put"; item: Item } | { kind: "remove"; key: Key };

export type RawWrite =
  | (BatchWrite & { when?: Condition | undefined })
  | { kind: "change"; key: Key; change: Change; when?: Condition | undefined }
  | { kind: "check"; key: Key; when: Condition };

export interface ReadOptions {
  /** Eventually consistent, at half the price. */
  eventual?: boolean;
}

/** The operations below `table.ts`, which describes each. */
export interface Rows {
  get(key: Key, options?: ReadOptions): Promise<Item | undefined>;
  getAll(keys: readonly Key[], options?: ReadOptions): Promise<(Item | undefined)[]>;
  query(range: QueryRange): Promise<RawPage>;
  count(range: QueryRange): Promise<number>;
  put(item: Item, when?: Condition): Promise<void>;
  update(key: Key, change: Change, when?: Condition): Promise<Item>;
  remove(key: Key, when?: Condition): Promise<Item | undefined>;
  writeAll(writes: readonly BatchWrite[]): Promise<void>;
  insertAll(items: readonly Item[]): Promise<(Item | undefined)[]>;
  transact(writes: readonly RawWrite[]): Promise<void>;
}

type WriteRequest = NonNullable<BatchWriteCommandInput["RequestItems"]>[string][number];
type TransactItem = NonNullable<TransactWriteCommandInput["TransactItems"]>[number];

const MAX_ATTEMPTS = 8;
const FIRST_PAUSE_MS = 20;
const GET_BATCH = 100;
const WRITE_BATCH = 25;
/** As many as the client has connections. */
const CONCURRENT_INSERTS = 50;

const returnOldItem = { ReturnValuesOnConditionCheckFailure: "ALL_OLD" } as const;

/** Every row of the table has a key, and holds what was put there. */
const itemOf = (row: object): Item => row as Item;

interface Requests {
  client: { send: TableClient["send"] };
  TableName: string;
  /** Waits with jitter before the next attempt. */
  pause(attempt: number): Promise<void>;
  /** Names a transaction: what comes again under one name is done once. */
  newToken(): string;
  /** The same key or item. @throws where its partition key is not allowed. */
  allowed<K extends Pick<Key, "pk">>(key: K): K;
}

/** Opens the table once; the result binds it to a guard. An operation on a partition key that it refuses throws. */
export function openRows(deps: Deps): (isAllowed: (pk: string) => boolean) => Rows {
  const client: Requests["client"] = countingSend(deps.aws(TableClient));
  const TableName = setting(deps, "TABLE_NAME");
  const pause = (attempt: number) => {
    const half = (FIRST_PAUSE_MS * 2 ** attempt) / 2;
    const wait = deps.pauseBeforeRetry ?? deps.clock.sleep;
    return wait(half + (deps.ids.bytes(1).readUInt8() / 255) * half);
  };
  return (isAllowed) => {
    const allowed: Requests["allowed"] = (key) => {
      if (!isAllowed(key.pk)) throw new Error(`A key outside the bound tenant was refused: ${key.pk.slice(0, 40)}`);
      return key;
    };
    const requests = { client, TableName, pause, newToken: deps.ids.uuid, allowed };
    return { ...readsOf(requests), ...writesOf(requests) };
  };
}

function readsOf(requests: Requests): Pick<Rows, "get" | "getAll" | "query" | "count"> {
  const { client, TableName, allowed } = requests;
  return {
    get: async (key, { eventual = false } = {}) => {
      const input = { TableName, Key: keyOf(allowed(key)), ConsistentRead: !eventual };
      const { Item } = await client.send(new GetCommand(input));
      return Item && itemOf(Item);
    },

    getAll: async (wanted, { eventual = false } = {}) => {
      const distinct = new Map(wanted.map((key) => [nameOf(key), keyOf(allowed(key))]));
      const found = new Map<string, Item>();
      const batches = chunksOf([...distinct.values()], GET_BATCH);
      await Promise.all(batches.map((batch) => getBatch(requests, batch, eventual, found)));
      return wanted.map((key) => found.get(nameOf(key)));
    },

    query: async (range) => {
      allowed(range);
      const { Items = [], LastEvaluatedKey } = await client.send(new QueryCommand({ TableName, ...queryInput(range) }));
      const items = Items.map(itemOf);
      return LastEvaluatedKey ? { items, next: itemOf(LastEvaluatedKey) } : { items };
    },

    count: async (range) => {
      allowed(range);
      let found = 0;
      let after = range.after;
      do {
        const input = { TableName, ...queryInput({ ...range, after }), Select: "COUNT" } as const;
        const { Count = 0, LastEvaluatedKey } = await client.send(new QueryCommand(input));
        found += Count;
        after = LastEvaluatedKey && itemOf(LastEvaluatedKey);
      } while (after);
      return found;
    },
  };
}

function writesOf(requests: Requests): Omit<Rows, "get" | "getAll" | "query" | "count"> {
  const { client, TableName, allowed } = requests;
  const target = { TableName, ...returnOldItem };
  return {
    put: async (item, when) => {
      const input = { ...target, Item: allowed(item), ...conditionOf(when) };
      await writeOne(requests, () => client.send(new PutCommand(input)));
    },

    update: async (key, change, when) => {
      const input = {
        ...target,
        Key: keyOf(allowed(key)),
        ...changeOf(change, when),
        ReturnValues: "ALL_NEW",
      } as const;
      const { Attributes } = await writeOne(requests, () => client.send(new UpdateCommand(input)));
      return itemOf(Attributes ?? {});
    },

    remove: async (key, when) => {
      const input = { ...target, Key: keyOf(allowed(key)), ...conditionOf(when), ReturnValues: "ALL_OLD" } as const;
      const { Attributes } = await writeOne(requests, () => client.send(new DeleteCommand(input)));
      return Attributes && itemOf(Attributes);
    },

    writeAll: async (writes) => {
      const requested = writes.map((write) => writeRequestOf(requests, write));
      const batches = chunksOf(requested, WRITE_BATCH);
      await allEnded(batches.map((batch) => writeBatch(requests, batch)));
    },

    insertAll: async (items) => {
      const found: (Item | undefined)[] = [];
      for (const batch of chunksOf(items, CONCURRENT_INSERTS))
        found.push(...(await allEnded(batch.map((item) => insert(requests, item)))));
      return found;
    },

    transact: async (writes) => {
      const TransactItems = writes.map((write) => transactItemOf(requests, write));
      let ClientRequestToken = requests.newToken();
      for (let attempt = 0; ; attempt++) {
        try {
          await client.send(new TransactWriteCommand({ TransactItems, ClientRequestToken }));
          return;
        } catch (error) {
          const failure = transactionErrorOf(error);
          if (failure !== "conflict") throw failure;
          if (attempt === MAX_ATTEMPTS) throw tooBusy();
          // A request in progress may succeed in the end: under another token it would be done twice.
          if (!isUnderWay(error)) ClientRequestToken = requests.newToken();
          await requests.pause(attempt);
        }
      }
    },
  };
}

const keyOf = ({ pk, sk }: Key): Key => ({ pk, sk });
const nameOf = ({ pk, sk }: Key): string => `${pk}\n${sk}`;

/** One write of one item. Retries on a transaction conflict; a failed condition is thrown with the row as it was. */
async function writeOne<T>({ pause }: Requests, send: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await send();
    } catch (error) {
      if (!isConflict(error)) throw writeErrorOf(error);
      if (attempt === MAX_ATTEMPTS) throw tooBusy();
      await pause(attempt);
    }
  }
}

/** All results in order. An error is thrown only after every write has ended: nothing is stored after it. */
async function allEnded<T>(writes: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(writes);
  return Promise.all(writes);
}

/** Inserts a row. @returns the existing row; undefined if this one was stored, even if the reply was lost */
async function insert(requests: Requests, item: Item): Promise<Item | undefined> {
  const { client, TableName, allowed } = requests;
  const input = { TableName, ...returnOldItem, Item: allowed(item), ...conditionOf(absent()) };
  return writeOne(requests, () => client.send(new PutCommand(input))).then(
    () => undefined,
    onConditionFailed((old) => (old && isDeepStrictEqual(old, asStored(item)) ? undefined : old)),
  );
}

/** Attributes and members that are `undefined` are not stored. */
const asStored = (item: Item): unknown => JSON.parse(JSON.stringify(item));

async function getBatch(
  { client, TableName, pause }: Requests,
  batch: Key[],
  eventual: boolean,
  found: Map<string, Item>,
): Promise<void> {
  await untilProcessed(pause, batch, async (Keys) => {
    const RequestItems = { [TableName]: { Keys, ConsistentRead: !eventual } };
    const { Responses, UnprocessedKeys } = await client.send(new BatchGetCommand({ RequestItems }));
    for (const row of Responses?.[TableName] ?? []) found.set(nameOf(itemOf(row)), itemOf(row));
    return UnprocessedKeys?.[TableName]?.Keys?.map(itemOf);
  });
}

const writeBatch = ({ client, TableName, pause }: Requests, batch: WriteRequest[]): Promise<void> =>
  untilProcessed(pause, batch, async (requests) => {
    const { UnprocessedItems } = await client.send(new BatchWriteCommand({ RequestItems: { [TableName]: requests } }));
    return UnprocessedItems?.[TableName];
  });

/** Sends a batch, then again the part of it that the table did not process. @param send returns that part */
async function untilProcessed<T>(
  pause: Requests["pause"],
  batch: T[],
  send: (pending: T[]) => Promise<T[] | undefined>,
): Promise<void> {
  let pending = batch;
  for (let attempt = 0; pending.length > 0; attempt++) {
    if (attempt === MAX_ATTEMPTS) throw tooBusy();
    if (attempt > 0) await pause(attempt);
    pending = (await send(pending)) ?? [];
  }
}

const writeRequestOf = ({ allowed }: Requests, write: BatchWrite): WriteRequest =>
  write.kind === "put"
    ? { PutRequest: { Item: allowed(write.item) } }
    : { DeleteRequest: { Key: keyOf(allowed(write.key)) } };

function transactItemOf({ TableName, allowed }: Requests, write: RawWrite): TransactItem {
  const target = { TableName, ...returnOldItem };
  switch (write.kind) {
    case "put":
      return { Put: { ...target, Item: allowed(write.item), ...conditionOf(write.when) } };
    case "change":
      return { Update: { ...target, Key: keyOf(allowed(write.key)), ...changeOf(write.change, write.when) } };
    case "remove":
      return { Delete: { ...target, Key: keyOf(allowed(write.key)), ...conditionOf(write.when) } };
    case "check":
      return { ConditionCheck: { ...target, Key: keyOf(allowed(write.key)), ...conditionOf(write.when) } };
  }
}

const tooBusy = () => namedError("ThrottlingException", "The table did not take the whole batch.");
