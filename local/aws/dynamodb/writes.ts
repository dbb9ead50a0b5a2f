// Prepares the writes of one item: a put, update, delete or condition check, validated and ready to run.
import type { Wire } from "../stand-in.ts";
import { invalidParameter, unenveloped, validation } from "./errors.ts";
import { type ExpressionInput, readExpressions } from "./expressions.ts";
import {
  checkItemKeys,
  checkKey,
  checkScalarKeys,
  checkUpdatedIndexKeys,
  indexTypeMismatch,
  type StoredKey,
  storedKey,
} from "./keys.ts";
import type { Predicate } from "./predicates.ts";
import { freeze, itemOf, type StoredItem } from "./stored.ts";
import { keyNames, keyParts, partitionOf, type Table } from "./tables.ts";
import type { UpdatePlan } from "./update-plans.ts";
import { type Item, MAX_ITEM_BYTES, normalizeItem, sizeOfItem } from "./values.ts";

export interface WriteInput extends ExpressionInput, Wire {
  TableName: string;
  Key?: Item;
  Item?: Item;
  ConditionExpression?: string;
  UpdateExpression?: string;
  ReturnValuesOnConditionCheckFailure?: string;
}

/** A write of one item whose table is known. */
export interface Write {
  table: Table;
  key: StoredKey;
  /** The partition key value, as text. */
  partition: string;
  condition: Predicate | undefined;
  update?: UpdatePlan;
  /** The new item. @throws if the write is invalid for the item. */
  after(before: StoredItem | undefined): StoredItem | undefined;
  /** Whether a failed condition shows the item. */
  showsOld: boolean;
  /** A condition check writes nothing. */
  checkOnly: boolean;
}

/** A write checked as far as it can be without its table. */
export interface PreparedWrite {
  tableName: string;
  /** The item or key as given, in its stored form. */
  given: Item;
  on(table: Table): Write;
}

const CONDITION = ["ConditionExpression"];
const UPDATE = ["UpdateExpression", "ConditionExpression"];

export function preparePut(input: WriteInput, older = false): PreparedWrite {
  const item = normalizeItem(input.Item!);
  const expressions = readExpressions(input, CONDITION, { older });
  const condition = expressions.condition(input.ConditionExpression);
  const nested = expressions.finish();
  const size = sizeOfItem(item);
  if (size > MAX_ITEM_BYTES) throw unenveloped("Item size has exceeded the maximum allowed size");
  return {
    tableName: input.TableName,
    given: item,
    on: (table) => {
      checkItemKeys(item, table);
      checkScalarKeys(nested, table);
      const stored = freeze(item, size);
      return { ...target(table, item, input), condition, after: () => stored };
    },
  };
}

export function prepareDelete(input: WriteInput, older = false): PreparedWrite {
  return prepareByKey(input, older, false, () => undefined);
}

export function prepareCheck(input: WriteInput, older = false): PreparedWrite {
  return prepareByKey(input, older, true, (before) => before);
}

function prepareByKey(input: WriteInput, older: boolean, checkOnly: boolean, after: Write["after"]): PreparedWrite {
  const key = normalizeItem(input.Key!);
  const expressions = readExpressions(input, CONDITION, { older });
  const condition = expressions.condition(input.ConditionExpression);
  const nested = expressions.finish();
  return {
    tableName: input.TableName,
    given: key,
    on: (table) => {
      checkKey(key, table);
      checkScalarKeys(nested, table);
      return { ...target(table, key, input), condition, after, checkOnly };
    },
  };
}

export function prepareUpdate(input: WriteInput, older = false): PreparedWrite {
  const key = normalizeItem(input.Key!);
  const expressions = readExpressions(input, UPDATE, { older });
  const update = expressions.update(input.UpdateExpression);
  const condition = expressions.condition(input.ConditionExpression);
  const nested = expressions.finish();
  return {
    tableName: input.TableName,
    given: key,
    on: (table) => {
      checkKey(key, table);
      if (update) checkUpdatedPaths(update, table);
      checkScalarKeys(nested, table);
      const after = (before: StoredItem | undefined) => updated(before, key, update, table);
      return { ...target(table, key, input), condition, after, ...(update && { update }) };
    },
  };
}

function target(table: Table, item: Item, input: WriteInput) {
  return {
    table,
    key: storedKey(item, table.keys),
    partition: partitionOf(item, table.keys),
    showsOld: input.ReturnValuesOnConditionCheckFailure === "ALL_OLD",
    checkOnly: false,
  };
}

function updated(
  before: StoredItem | undefined,
  key: Item,
  update: UpdatePlan | undefined,
  table: Table,
): StoredItem | undefined {
  if (!before && update?.takesOnly) return undefined;
  const old = before ? itemOf(before) : key;
  if (!update) return before ?? freeze(key, sizeOfItem(key));
  const item = update.apply(before ? old : { ...key });
  checkUpdatedIndexKeys(old, item, table);
  const size = sizeOfItem(item);
  if (size > MAX_ITEM_BYTES) throw validation("Item size to update has exceeded the maximum allowed size");
  return freeze(item, size);
}

function checkUpdatedPaths({ types }: UpdatePlan, table: Table): void {
  const own = keyNames(table.keys);
  for (const name of own)
    if (types.some(({ path }) => path[0] === name))
      throw invalidParameter(`Cannot update attribute ${name}. This attribute is part of the key`);
  for (const index of table.indexes)
    for (const part of keyParts(index.keys))
      for (const { path, type } of types)
        if (path.length === 1 && path[0] === part.name && type && type !== part.type)
          throw indexTypeMismatch(part, type, index);
}
