// Keys: DynamoDB's rules for them, and the form in which SQLite orders them as DynamoDB does.
import type { AwsFailure } from "../stand-in.ts";
import { invalidParameter, validation } from "./errors.ts";
import { sortableNumber } from "./numbers.ts";
import type { Path } from "./paths.ts";
import { type Index, type KeyPart, type Keys, keyNames, keyParts, type Table } from "./tables.ts";
import { type AttributeValue, attributeOf, equalValues, type Item, typeOf } from "./values.ts";

/** A key value in the storage form: text for S and N, bytes for B. */
export type Sortable = string | Uint8Array;

/** The columns of a key: partition and sort key, and in an index those of the item behind them. */
export type RowKey = readonly Sortable[];

export interface StoredKey {
  pk: Sortable;
  /** The empty text when there is no sort key. */
  sk: Sortable;
}

const MAX_HASH_BYTES = 2048;
const MAX_RANGE_BYTES = 1024;

export function sortable(value: AttributeValue): Sortable {
  if (value.S !== undefined) return value.S;
  return value.N !== undefined ? sortableNumber(value.N) : Buffer.from(value.B!, "base64");
}

/** The storage key of an item whose key was checked. */
export function storedKey(item: Item, { hash, range }: Keys): StoredKey {
  return { pk: sortable(item[hash.name]!), sk: range ? sortable(item[range.name]!) : "" };
}

/** The storage key of an item in an index, or undefined when the item is not in it. */
export function indexKey(item: Item, { hash, range }: Keys): StoredKey | undefined {
  const pk = attributeOf(item, hash.name);
  const sk = range && attributeOf(item, range.name);
  if (!pk || (range && !sk)) return undefined;
  return { pk: sortable(pk), sk: sk ? sortable(sk) : "" };
}

/** The item of a key among those of all tables, as text. */
export const targetText = (table: Table, { pk, sk }: StoredKey): string =>
  JSON.stringify([table.id, typeof pk === "string" ? pk : [...pk], typeof sk === "string" ? sk : [...sk]]);

export const schemaMismatch = (): AwsFailure => validation("The provided key element does not match the schema");

const keyTypeMismatch = (part: KeyPart, actual: string): AwsFailure =>
  invalidParameter(`Type mismatch for key ${part.name} expected: ${part.type} actual: ${actual}`);

/** Checks a `Key` parameter: exactly the key attributes, of the right types and sizes. */
export function checkKey(key: Item, table: Table): void {
  const parts = keyParts(table.keys);
  if (Object.keys(key).length !== parts.length) throw schemaMismatch();
  for (const part of parts) {
    const value = attributeOf(key, part.name);
    if (!value || typeOf(value) !== part.type) throw schemaMismatch();
  }
  for (const part of parts) checkPart(key[part.name]!, part, part === table.keys.hash);
}

/** Checks the keys within an item that is to be stored: the table's, then those of its indexes. */
export function checkItemKeys(item: Item, table: Table): void {
  for (const part of keyParts(table.keys)) {
    const value = attributeOf(item, part.name);
    if (!value) throw invalidParameter(`Missing the key ${part.name} in the item`);
    const type = typeOf(value);
    if (type !== part.type) throw keyTypeMismatch(part, type);
    checkPart(value, part, part === table.keys.hash);
  }
  checkIndexKeys(item, table);
}

function checkIndexKeys(item: Item, table: Table): void {
  for (const index of table.indexes) {
    for (const part of keyParts(index.keys)) {
      const value = attributeOf(item, part.name);
      if (!value) continue;
      const type = typeOf(value);
      if (type !== part.type) throw indexTypeMismatch(part, type, index);
      if (isEmpty(value))
        throw emptyKey(
          `A value specified for a secondary index key is not supported. The AttributeValue for a key attribute cannot contain an empty ${kindOf(part)} value. IndexName: ${index.name}, IndexKey: ${part.name}`,
        );
      checkPartSize(value, part === index.keys.hash);
    }
  }
}

/** Checks the index keys that an update has changed. */
export function checkUpdatedIndexKeys(before: Item, after: Item, table: Table): void {
  for (const index of table.indexes) {
    for (const part of keyParts(index.keys)) {
      const value = attributeOf(after, part.name);
      const old = attributeOf(before, part.name);
      if (!value || (old && equalValues(old, value))) continue;
      if (typeOf(value) !== part.type)
        throw validation("The update expression attempted to update the secondary index key to unsupported type");
      if (isEmpty(value))
        throw emptyKey(
          `The update expression attempted to update a secondary index key to a value that is not supported. The AttributeValue for a key attribute cannot contain an empty ${kindOf(part)} value.`,
        );
      checkPartSize(value, part === index.keys.hash);
    }
  }
}

export const indexTypeMismatch = (part: KeyPart, actual: string, index: Index): AwsFailure =>
  invalidParameter(
    `Type mismatch for Index Key ${part.name} Expected: ${part.type} Actual: ${actual} IndexName: ${index.name}`,
  );

/** Rejects paths that reach into a key attribute. */
export function checkScalarKeys(paths: readonly Path[], table: Table): void {
  if (!paths.some((path) => path.length > 1)) return;
  const refuse = (names: string[], kind: string) => {
    for (const [name, ...rest] of paths)
      if (rest.length > 0 && names.includes(String(name)))
        throw validation(
          `Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: ${kind}: ${name}`,
        );
  };
  refuse(keyNames(table.keys), "Key");
  for (const index of table.indexes) refuse(keyNames(index.keys), "IndexKey");
}

const isEmpty = (value: AttributeValue): boolean => value.S === "" || value.B === "";
const kindOf = (part: KeyPart): string => (part.type === "S" ? "string" : "binary");

const bytesOf = ({ S = "", B = "" }: AttributeValue): number => Buffer.byteLength(S) + Buffer.byteLength(B, "base64");

/** An empty key value rejects the whole transaction, not only its own action. */
const emptyKey = (what: string): AwsFailure =>
  Object.assign(validation(`One or more parameter values are not valid. ${what}`), { whole: true });

export const refusesAll = (error: AwsFailure): boolean => "whole" in error;

function checkPart(value: AttributeValue, part: KeyPart, isHash: boolean): void {
  if (isEmpty(value))
    throw emptyKey(
      `The AttributeValue for a key attribute cannot contain an empty ${kindOf(part)} value. Key: ${part.name}`,
    );
  checkPartSize(value, isHash);
}

function checkPartSize(value: AttributeValue, isHash: boolean): void {
  const bytes = bytesOf(value);
  if (isHash && bytes > MAX_HASH_BYTES)
    throw invalidParameter(`Size of hashkey has exceeded the maximum size limit of${MAX_HASH_BYTES} bytes`);
  if (!isHash && bytes > MAX_RANGE_BYTES)
    throw invalidParameter(`Aggregated size of all range keys has exceeded the size limit of ${MAX_RANGE_BYTES} bytes`);
}
