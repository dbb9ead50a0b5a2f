// The tables: their keys, indexes and stream, cached in memory and stored in the database.
import type { Database } from "../database.ts";
import { noSuchResource } from "./errors.ts";
import type { AttributeValue, Item, KeyType } from "./values.ts";

export interface KeyPart {
  name: string;
  type: KeyType;
}

export interface Keys {
  hash: KeyPart;
  range?: KeyPart;
}

interface Projection {
  ProjectionType?: "ALL" | "KEYS_ONLY" | "INCLUDE";
  NonKeyAttributes?: string[];
}

export interface KeyElement {
  AttributeName: string;
  KeyType: "HASH" | "RANGE";
}

export interface IndexDefinition {
  IndexName: string;
  KeySchema: KeyElement[];
  Projection: Projection;
}

export type StreamView = "KEYS_ONLY" | "NEW_IMAGE" | "OLD_IMAGE" | "NEW_AND_OLD_IMAGES";

/** The stored record of a table; everything else follows from it. */
export interface TableRecord {
  TableName: string;
  TableId: string;
  CreationDateTime: number;
  AttributeDefinitions: { AttributeName: string; AttributeType: KeyType }[];
  KeySchema: KeyElement[];
  globalIndexes: IndexDefinition[];
  stream?: { label: string; view: StreamView };
  timeToLive?: { attribute: string };
  /** When the time to live was last enabled or disabled, in milliseconds. */
  timeToLiveAt?: number;
}

export interface Index {
  name: string;
  keys: Keys;
  /** The attributes an entry holds; undefined means all of them. */
  projected: ReadonlySet<string> | undefined;
  projection: Projection;
  storage: string;
}

export interface Table {
  id: number;
  name: string;
  keys: Keys;
  /** The indexes in the order of their names: of several faults, that of the first index is reported. */
  indexes: Index[];
  record: TableRecord;
  storage: string;
  /** Whether a write needs the whole old item: for indexes or for the stream. */
  observed: boolean;
}

export const REGION = "us-east-1";
const ACCOUNT = "000000000000";
export const tableArn = (name: string): string => `arn:aws:dynamodb:${REGION}:${ACCOUNT}:table/${name}`;
export const streamArn = (table: string, label: string): string => `${tableArn(table)}/stream/${label}`;

export interface Tables {
  find(name: string): Table | undefined;
  /** The table that an item operation names (by name or ARN). */
  need(name: string): Table;
  names(): string[];
  add(record: TableRecord): Table;
  /** Stores the changed `table.record`. */
  save(table: Table): Table;
  remove(table: Table): void;
}

export function openTables(database: Database): Tables {
  database.exec(
    "CREATE TABLE IF NOT EXISTS dynamodb_tables (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, record TEXT)",
  );
  const tables = new Map<string, Table>();
  for (const { id, record } of database.all("SELECT id, record FROM dynamodb_tables")) {
    const table = tableOf(Number(id), JSON.parse(String(record)) as TableRecord);
    tables.set(table.name, table);
  }

  const keep = (table: Table): Table => {
    tables.set(table.name, table);
    return table;
  };

  return {
    find: (name) => tables.get(name) ?? tables.get(nameOfArn(name)),
    need: (name) => {
      const table = tables.get(name) ?? tables.get(nameOfArn(name));
      if (!table) throw noSuchResource();
      return table;
    },
    names: () => [...tables.keys()].sort((a, b) => (a < b ? -1 : 1)),
    add: (record) => {
      database.run(
        "INSERT INTO dynamodb_tables (name, record) VALUES (?, ?)",
        record.TableName,
        JSON.stringify(record),
      );
      const row = database.first("SELECT last_insert_rowid() AS id");
      return keep(tableOf(Number(row!.id), record));
    },
    save: ({ id, record }) => {
      database.run("UPDATE dynamodb_tables SET record = ? WHERE id = ?", JSON.stringify(record), id);
      return keep(tableOf(id, record));
    },
    remove: ({ id, name }) => {
      database.run("DELETE FROM dynamodb_tables WHERE id = ?", id);
      tables.delete(name);
    },
  };
}

const nameOfArn = (arn: string): string => (arn.startsWith("arn:") ? (/:table\/([^/]+)$/.exec(arn)?.[1] ?? arn) : arn);

function tableOf(id: number, record: TableRecord): Table {
  const keys = keysOf(record, record.KeySchema);
  const indexes = record.globalIndexes
    .map((definition, at) => indexOf(record, keys, definition, `dynamodb_index_${id}_${at + 1}`))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    id,
    name: record.TableName,
    keys,
    indexes,
    record,
    storage: `dynamodb_items_${id}`,
    observed: indexes.length > 0 || record.stream !== undefined,
  };
}

function keysOf(record: TableRecord, schema: KeyElement[]): Keys {
  const part = (type: "HASH" | "RANGE"): KeyPart | undefined => {
    const element = schema.find(({ KeyType }) => KeyType === type);
    const definition = record.AttributeDefinitions.find(
      ({ AttributeName }) => AttributeName === element?.AttributeName,
    );
    return definition && { name: definition.AttributeName, type: definition.AttributeType };
  };
  const range = part("RANGE");
  return { hash: part("HASH")!, ...(range && { range }) };
}

function indexOf(record: TableRecord, table: Keys, definition: IndexDefinition, storage: string): Index {
  const { IndexName: name, Projection: projection } = definition;
  const keys = keysOf(record, definition.KeySchema);
  const projected =
    projection.ProjectionType === "ALL"
      ? undefined
      : new Set([...keyNames(table), ...keyNames(keys), ...(projection.NonKeyAttributes ?? [])]);
  return { name, keys, projected, projection, storage };
}

export const keyNames = ({ hash, range }: Keys): string[] => (range ? [hash.name, range.name] : [hash.name]);

export const keyParts = ({ hash, range }: Keys): KeyPart[] => (range ? [hash, range] : [hash]);

/** The partition key value of an item, as text. */
export function partitionOf(item: Item, { hash }: Keys): string {
  const { S, N, B } = item[hash.name]!;
  return (S ?? N ?? B)!;
}

export function keyOf(item: Item, keys: Keys): Item {
  const key: Item = { [keys.hash.name]: item[keys.hash.name] as AttributeValue };
  if (keys.range) key[keys.range.name] = item[keys.range.name] as AttributeValue;
  return key;
}
