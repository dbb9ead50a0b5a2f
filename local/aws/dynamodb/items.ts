// PutItem, GetItem, UpdateItem and DeleteItem.
import type { Wire } from "../stand-in.ts";
import { admitRead, admitWrite } from "./admission.ts";
import { consumed, readUnits, writeUnits } from "./capacity.ts";
import type { Call, Engine, Operation, Operations } from "./engine.ts";
import { conditionFailed, enveloped, validation } from "./errors.ts";
import { type ExpressionInput, readExpressions } from "./expressions.ts";
import { transactionConflict } from "./flights.ts";
import { checkKey, checkScalarKeys, type StoredKey, storedKey } from "./keys.ts";
import {
  CONSUMED,
  checkParameters,
  flag,
  ITEM_TABLE,
  map,
  NAMES,
  needed,
  ON_FAILURE,
  RETURN_VALUES,
  type Shape,
  text,
} from "./parameters.ts";
import { branchesOf, type Path, pick } from "./paths.ts";
import { itemOf, type StoredItem } from "./stored.ts";
import type { Table } from "./tables.ts";
import { type Item, normalizeItem } from "./values.ts";
import { prepareDelete, preparePut, prepareUpdate, type Write, type WriteInput } from "./writes.ts";

const WRITE = {
  ReturnConsumedCapacity: CONSUMED,
  TableName: ITEM_TABLE,
  ReturnValues: RETURN_VALUES,
  ReturnValuesOnConditionCheckFailure: ON_FAILURE,
  ConditionExpression: text,
  ExpressionAttributeNames: NAMES,
  ExpressionAttributeValues: map,
} satisfies Shape;

export interface GetInput extends ExpressionInput, Wire {
  TableName: string;
  Key: Item;
  ProjectionExpression?: string;
  ConsistentRead?: boolean;
}

const NO_ITEM: Item = {};

export const holds = ({ condition }: Write, before: StoredItem | undefined): boolean =>
  !condition || condition(before ? itemOf(before) : NO_ITEM);

/** Stores the result of a write whose condition holds, and bills it. */
export function commit(
  engine: Engine,
  call: Call,
  write: Write,
  before: StoredItem | undefined,
  after: StoredItem | undefined,
  factor = 1,
): void {
  const { table, key, partition } = write;
  if (write.checkOnly) {
    bill(engine, call, write, writeUnits(before?.size) * factor);
    return;
  }
  const bytes = (after?.size ?? 0) - (before?.size ?? 0);
  const { tableUnits, indexUnits } = engine.storage.write({ table, key, before, after }, (written) =>
    admitWrite(engine, call, write, { ...written, units: written.tableUnits * factor, bytes }),
  );
  call.bill.spend(table, "write", tableUnits * factor);
  call.bill.heat(partition, tableUnits * factor);
  call.bill.spendOnIndexes(table, "write", indexUnits);
  if (before || after) call.written.push([table.name, partition]);
}

/** Bills a write that stores nothing. */
export function bill(engine: Engine, call: Call, write: Write, units: number): void {
  admitWrite(engine, call, write, { units });
  call.bill.spend(write.table, "write", units);
  call.bill.heat(write.partition, units);
}

function perform(
  engine: Engine,
  call: Call,
  write: Write,
): { before: StoredItem | undefined; after: StoredItem | undefined } {
  if (engine.flights.meets(write)) throw transactionConflict();
  const before = engine.storage.read(write.table, write.key);
  if (!holds(write, before)) {
    bill(engine, call, write, writeUnits(before?.size));
    throw conditionFailed(write.showsOld && before ? itemOf(before) : undefined);
  }
  const after = write.after(before);
  commit(engine, call, write, before, after);
  return { before, after };
}

interface PreparedRead {
  key: StoredKey;
  paths?: Path[];
  read(engine: Engine): StoredItem | undefined;
}

/** Checks a read by key as far as possible without the table. The returned function needs the table. */
export function prepareGet(input: GetInput, older = false): (table: Table) => PreparedRead {
  const key = normalizeItem(input.Key);
  const expressions = readExpressions(input, ["ProjectionExpression"], { older });
  const paths = expressions.projection(input.ProjectionExpression);
  expressions.finish();
  return (table) => {
    checkKey(key, table);
    if (paths) checkScalarKeys(paths, table);
    const stored = storedKey(key, table.keys);
    return { key: stored, read: (engine) => engine.storage.read(table, stored), ...(paths && { paths }) };
  };
}

export const shownItem = (stored: StoredItem, paths: Path[] | undefined): Item =>
  paths ? pick(itemOf(stored), branchesOf(paths)) : itemOf(stored);

const attributes = (item: Item | undefined): Wire => (item && Object.keys(item).length > 0 ? { Attributes: item } : {});

export function itemOperations(engine: Engine): Operations {
  const { tables } = engine;
  /** A put or a delete: both replace the item, a delete by none. */
  const replace =
    (prepare: typeof preparePut | typeof prepareDelete): Operation["run"] =>
    (input, call) => {
      const prepared = enveloped(() => {
        refuseReturnValues(input);
        return prepare(input as WriteInput);
      });
      const table = tables.need(prepared.tableName);
      const { before } = perform(engine, call, prepared.on(table));
      return {
        ...(input.ReturnValues === "ALL_OLD" && attributes(before && itemOf(before))),
        ...consumed(call.bill, input.ReturnConsumedCapacity),
      };
    };

  return {
    PutItem: { shape: { ...WRITE, Item: needed(map) }, writes: true, run: replace(preparePut) },
    DeleteItem: { shape: { ...WRITE, Key: needed(map) }, writes: true, run: replace(prepareDelete) },
    UpdateItem: {
      shape: { ...WRITE, Key: needed(map), UpdateExpression: text },
      writes: true,
      before: ({ ReturnValues }) => checkParameters({ ReturnValues }, { ReturnValues: RETURN_VALUES }, "UpdateItem"),
      run: (input, call) => {
        const prepared = enveloped(() => prepareUpdate(input as WriteInput));
        const table = tables.need(prepared.tableName);
        const write = prepared.on(table);
        const { before, after } = perform(engine, call, write);
        return {
          ...attributes(updatedAttributes(String(input.ReturnValues), write, before, after)),
          ...consumed(call.bill, input.ReturnConsumedCapacity),
        };
      },
    },
    GetItem: {
      shape: {
        TableName: ITEM_TABLE,
        Key: needed(map),
        ConsistentRead: flag,
        ProjectionExpression: text,
        ExpressionAttributeNames: NAMES,
        ReturnConsumedCapacity: CONSUMED,
      },
      writes: false,
      run: (input, call) => {
        const prepared = prepareGet(input as GetInput);
        const table = tables.need(String(input.TableName));
        const { key, read, paths } = prepared(table);
        const stored = read(engine);
        const units = readUnits(stored?.size ?? 0, input.ConsistentRead === true);
        admitRead(engine, call, { table, key }, units);
        call.bill.spend(table, "read", units);
        return {
          ...(stored && { Item: shownItem(stored, paths) }),
          ...consumed(call.bill, input.ReturnConsumedCapacity),
        };
      },
    },
  };
}

function refuseReturnValues({ ReturnValues }: Wire): void {
  if (ReturnValues !== undefined && ReturnValues !== "ALL_OLD" && ReturnValues !== "NONE")
    throw validation("ReturnValues can only be ALL_OLD or NONE");
}

function updatedAttributes(
  mode: string,
  { update }: Write,
  before: StoredItem | undefined,
  after: StoredItem | undefined,
): Item | undefined {
  if (mode === "NONE") return undefined;
  const shown = mode.endsWith("_OLD") ? before : after;
  if (!shown || mode.startsWith("ALL_")) return shown && itemOf(shown);
  return update && pick(itemOf(shown), branchesOf(update.paths));
}
