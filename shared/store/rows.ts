// Requests to the one table, by raw keys and items. A guard says which partition keys are allowed.
import {
  type AttributeValue,
  BatchGetItemCommand,
  BatchWriteItemCommand,
  DeleteItemCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  type TransactWriteItem,
  TransactWriteItemsCommand,
  UpdateItemCommand,
  type WriteRequest,
} from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { type Deps, setting } from "../deps.ts";
import type { Condition } from "./conditions.ts";
import { type Change, changeOf, conditionOf, type QueryRange, queryInput } from "./expressions.ts";
import type { Item, Key } from "./model.ts";
import { isConflict, transactionErrorOf, writeErrorOf } from "./refusals.ts";

export interface RawPage {
  items: Item[];
  /** Where the next page begins; absent on the last one. */
  next?: Key;
}

/** One write of a transaction. */
export type RawWrite =
  | { put: Item; when?: Condition | undefined }
  | { update: Key; change: Change; when?: Condition | undefined }
  | { remove: Key; when?: Condition | undefined }
  | { check: Key; when: Condition };

interface ReadOptions {
  eventual?: boolean;
}

/** What `table.ts` is made of; see there for what each does. */
export interface Rows {
  get(key: Key, options?: ReadOptions): Promise<Item | undefined>;
  getAll(keys: readonly Key[], options?: ReadOptions): Promise<(Item | undefined)[]>;
  query(range: QueryRange): Promise<RawPage>;
  count(range: QueryRange): Promise<number>;
  put(item: Item, when?: Condition): Promise<void>;
  update(key: Key, change: Change, when?: Condition): Promise<Item>;
  remove(key: Key, when?: Condition): Promise<Item | undefined>;
  writeAll(writes: readonly ({ put: Item } | { remove: Key })[]): Promise<void>;
  transact(writes: readonly RawWrite[]): Promise<void>;
}

type Wire = Record<string, AttributeValue>;

const MAX_ATTEMPTS = 8;
const FIRST_PAUSE_MS = 20;

const toWire = (value: object): Wire => marshall(value, { removeUndefinedValues: true });
const fromWire = (item: Wire): Item => unmarshall(item) as Item;

/** Opens the table once; the result binds it to a guard that throws on a foreign partition key. */
export function openRows(deps: Deps): (mayTouch: (pk: string) => boolean) => Rows {
  const client = deps.aws(DynamoDBClient);
  const TableName = setting(deps, "TABLE_NAME");
  const pause = (attempt: number) => {
    const max = FIRST_PAUSE_MS * 2 ** attempt;
    return deps.clock.sleep(max / 2 + (deps.ids.bytes(1)[0]! / 255) * (max / 2));
  };

  return (mayTouch) => {
    const own = <K extends Key>(key: K): K => {
      if (!mayTouch(key.pk)) throw new Error(`A key outside the bound tenant was refused: ${key.pk.slice(0, 40)}`);
      return key;
    };
    const keyOf = ({ pk, sk }: Key) => toWire(own({ pk, sk }));
    /** One write of one item: a transaction under way at it is waited for, a failed condition is a refusal. */
    const writeOne = async <T>(send: () => Promise<T>): Promise<T> => {
      for (let attempt = 0; ; attempt++) {
        try {
          return await send();
        } catch (error) {
          if (!isConflict(error)) throw writeErrorOf(error, fromWire);
          if (attempt === MAX_ATTEMPTS) throw tooBusy();
          await pause(attempt);
        }
      }
    };

    const transactItemOf = (write: RawWrite): TransactWriteItem => {
      const shared = { TableName, ...returnOldItem };
      if ("put" in write) return { Put: { ...shared, Item: toWire(own(write.put)), ...conditionOf(write.when) } };
      if ("remove" in write) return { Delete: { ...shared, Key: keyOf(write.remove), ...conditionOf(write.when) } };
      if ("check" in write)
        return { ConditionCheck: { ...shared, Key: keyOf(write.check), ...conditionOf(write.when) } };
      return { Update: { ...shared, Key: keyOf(write.update), ...changeOf(write.change, write.when) } };
    };

    return {
      get: async (key, { eventual = false } = {}) => {
        const { Item } = await client.send(
          new GetItemCommand({ TableName, Key: keyOf(key), ConsistentRead: !eventual }),
        );
        return Item && fromWire(Item);
      },

      getAll: async (wanted, { eventual = false } = {}) => {
        const distinct = [...new Map(wanted.map((key) => [`${key.pk}\n${key.sk}`, keyOf(key)])).values()];
        const found = new Map<string, Item>();
        const fetchAll = async (batch: Wire[]) => {
          let pending = batch;
          for (let attempt = 0; pending.length > 0; attempt++) {
            if (attempt === MAX_ATTEMPTS) throw tooBusy();
            if (attempt > 0) await pause(attempt);
            const answer = await client.send(
              new BatchGetItemCommand({ RequestItems: { [TableName]: { Keys: pending, ConsistentRead: !eventual } } }),
            );
            for (const wire of answer.Responses?.[TableName] ?? []) {
              const item = fromWire(wire);
              found.set(`${item.pk}\n${item.sk}`, item);
            }
            pending = answer.UnprocessedKeys?.[TableName]?.Keys ?? [];
          }
        };
        await Promise.all(chunksOf(distinct, 100).map(fetchAll));
        return wanted.map(({ pk, sk }) => found.get(`${pk}\n${sk}`));
      },

      query: async (range) => {
        if (!mayTouch(range.pk)) own({ pk: range.pk, sk: "" });
        const answer = await client.send(new QueryCommand({ TableName, ...queryInput(range, toWire) }));
        const items = (answer.Items ?? []).map(fromWire);
        return answer.LastEvaluatedKey ? { items, next: fromWire(answer.LastEvaluatedKey) } : { items };
      },

      count: async (range) => {
        if (!mayTouch(range.pk)) own({ pk: range.pk, sk: "" });
        let found = 0;
        let after = range.after;
        do {
          const input = { TableName, ...queryInput({ ...range, after }, toWire), Select: "COUNT" } as const;
          const { Count = 0, LastEvaluatedKey } = await client.send(new QueryCommand(input));
          found += Count;
          after = LastEvaluatedKey && fromWire(LastEvaluatedKey);
        } while (after);
        return found;
      },

      put: async (item, when) => {
        const input = { TableName, Item: toWire(own(item)), ...conditionOf(when), ...returnOldItem };
        await writeOne(() => client.send(new PutItemCommand(input)));
      },

      update: async (key, change, when) => {
        const input = {
          TableName,
          Key: keyOf(key),
          ...changeOf(change, when),
          ...returnOldItem,
          ReturnValues: "ALL_NEW",
        } as const;
        const { Attributes } = await writeOne(() => client.send(new UpdateItemCommand(input)));
        return fromWire(Attributes ?? {});
      },

      remove: async (key, when) => {
        const input = {
          TableName,
          Key: keyOf(key),
          ...conditionOf(when),
          ...returnOldItem,
          ReturnValues: "ALL_OLD",
        } as const;
        const { Attributes } = await writeOne(() => client.send(new DeleteItemCommand(input)));
        return Attributes && fromWire(Attributes);
      },

      writeAll: async (writes) => {
        const requests = writes.map(
          (write): WriteRequest =>
            "put" in write
              ? { PutRequest: { Item: toWire(own(write.put)) } }
              : { DeleteRequest: { Key: keyOf(write.remove) } },
        );
        const writeBatch = async (batch: WriteRequest[]) => {
          let pending = batch;
          for (let attempt = 0; pending.length > 0; attempt++) {
            if (attempt === MAX_ATTEMPTS) throw tooBusy();
            if (attempt > 0) await pause(attempt);
            const answer = await client.send(new BatchWriteItemCommand({ RequestItems: { [TableName]: pending } }));
            pending = answer.UnprocessedItems?.[TableName] ?? [];
          }
        };
        await Promise.all(chunksOf(requests, 25).map(writeBatch));
      },

      transact: async (writes) => {
        const TransactItems = writes.map(transactItemOf);
        for (let attempt = 0; ; attempt++) {
          try {
            await client.send(new TransactWriteItemsCommand({ TransactItems }));
            return;
          } catch (error) {
            const refusal = transactionErrorOf(error, fromWire);
            if (refusal !== "conflict") throw refusal;
            if (attempt === MAX_ATTEMPTS) throw tooBusy();
            await pause(attempt);
          }
        }
      },
    };
  };
}

const returnOldItem = { ReturnValuesOnConditionCheckFailure: "ALL_OLD" } as const;

const tooBusy = () =>
  Object.assign(new Error("The table did not take the whole batch."), { name: "ThrottlingException" });

function chunksOf<T>(list: readonly T[], size: number): T[][] {
  const chunks: T[][] = [];
  for (let start = 0; start < list.length; start += size) chunks.push(list.slice(start, start + size));
  return chunks;
}
