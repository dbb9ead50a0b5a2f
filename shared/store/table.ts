// The one table: every read and write of the product passes here, guarded by the tenant it is bound to.
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
import { type Parts, setting } from "../parts.ts";
import type { Condition } from "./conditions.ts";
import { type Change, changeOf, conditionOf, type QueryRange, queryInput } from "./expressions.ts";
import type { Item, Key } from "./model.ts";
import { conditionRefused, isConflict, transactionRefused } from "./refusals.ts";

export interface Page {
  items: Item[];
  /** Where the next page begins; absent on the last one. */
  next?: Key;
}

/** One step of a transaction. */
export type Step =
  | { put: Item; when?: Condition }
  | { update: Key; change: Change; when?: Condition }
  | { remove: Key; when?: Condition }
  | { check: Key; when: Condition };

export interface Reader {
  /** One item, strongly consistent unless `eventual`. */
  get(key: Key, options?: { eventual?: boolean }): Promise<Item | undefined>;
  /** Items in the order of their keys (repeats allowed), 100 a request; nothing is left unprocessed. */
  getAll(keys: readonly Key[], options?: { eventual?: boolean }): Promise<(Item | undefined)[]>;
  query(range: QueryRange): Promise<Page>;
  /** How many items lie in a range, however many pages they are. */
  count(range: QueryRange): Promise<number>;
}

export interface Table extends Reader {
  /** @throws a refusal that `refused` catches, with the item as it was. */
  put(item: Item, when?: Condition): Promise<void>;
  /** The item after the change. @throws a refusal that `refused` catches. */
  update(key: Key, change: Change, when?: Condition): Promise<Item>;
  /** The item as it was. @throws a refusal that `refused` catches. */
  remove(key: Key, when?: Condition): Promise<Item | undefined>;
  /** Unconditional puts and removals, 25 a request; nothing is left unprocessed. */
  writeAll(writes: readonly ({ put: Item } | { remove: Key })[]): Promise<void>;
  /** All or nothing; conflicts are tried again. @throws a refusal that `refusedAt` reads. */
  transact(steps: readonly Step[]): Promise<void>;
}

type Wire = Record<string, AttributeValue>;

const TRIES = 8;
const FIRST_PAUSE_MS = 20;

const toWire = (value: object): Wire => marshall(value, { removeUndefinedValues: true });
const fromWire = (item: Wire): Item => unmarshall(item) as Item;

/** Opens the table once; the result binds it to a guard that throws on a foreign partition key. */
export function openTable(parts: Parts): (mayTouch: (pk: string) => boolean) => Table {
  const client = parts.aws(DynamoDBClient);
  const TableName = setting(parts, "TABLE_NAME");
  const pause = (attempt: number) => {
    const most = FIRST_PAUSE_MS * 2 ** attempt;
    return parts.clock.sleep(most / 2 + (parts.ids.bytes(1)[0]! / 255) * (most / 2));
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
          if (!isConflict(error)) throw conditionRefused(error, fromWire);
          if (attempt === TRIES) throw tooBusy();
          await pause(attempt);
        }
      }
    };

    const stepOf = (step: Step): TransactWriteItem => {
      const shared = { TableName, ...tellOld };
      if ("put" in step) return { Put: { ...shared, Item: toWire(own(step.put)), ...conditionOf(step.when) } };
      if ("remove" in step) return { Delete: { ...shared, Key: keyOf(step.remove), ...conditionOf(step.when) } };
      if ("check" in step) return { ConditionCheck: { ...shared, Key: keyOf(step.check), ...conditionOf(step.when) } };
      return { Update: { ...shared, Key: keyOf(step.update), ...changeOf(step.change, step.when) } };
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
            if (attempt === TRIES) throw tooBusy();
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
        const input = { TableName, Item: toWire(own(item)), ...conditionOf(when), ...tellOld };
        await writeOne(() => client.send(new PutItemCommand(input)));
      },

      update: async (key, change, when) => {
        const input = {
          TableName,
          Key: keyOf(key),
          ...changeOf(change, when),
          ...tellOld,
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
          ...tellOld,
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
            if (attempt === TRIES) throw tooBusy();
            if (attempt > 0) await pause(attempt);
            const answer = await client.send(new BatchWriteItemCommand({ RequestItems: { [TableName]: pending } }));
            pending = answer.UnprocessedItems?.[TableName] ?? [];
          }
        };
        await Promise.all(chunksOf(requests, 25).map(writeBatch));
      },

      transact: async (steps) => {
        const TransactItems = steps.map(stepOf);
        for (let attempt = 0; ; attempt++) {
          try {
            await client.send(new TransactWriteItemsCommand({ TransactItems }));
            return;
          } catch (error) {
            const refusal = transactionRefused(error, fromWire);
            if (refusal !== "conflict") throw refusal;
            if (attempt === TRIES) throw tooBusy();
            await pause(attempt);
          }
        }
      },
    };
  };
}

const tellOld = { ReturnValuesOnConditionCheckFailure: "ALL_OLD" } as const;

const tooBusy = () =>
  Object.assign(new Error("The table did not take the whole batch."), { name: "ThrottlingException" });

export function chunksOf<T>(list: readonly T[], size: number): T[][] {
  const chunks: T[][] = [];
  for (let start = 0; start < list.length; start += size) chunks.push(list.slice(start, start + size));
  return chunks;
}
