// Stores items as rows in the order of their keys, and updates indexes and stream with every write.
import type { Database } from "../database.ts";
import { writeUnits } from "./capacity.ts";
import { type IndexChange, type Indexing, openIndexing } from "./indexing.ts";
import type { RowKey, StoredKey } from "./keys.ts";
import { memoryRows } from "./memory-rows.ts";
import { type Reach, type Rows, sqlRows, TABLE_COLUMNS } from "./rows.ts";
import { itemOf, type StoredItem, textOf } from "./stored.ts";
import type { Streams } from "./streams.ts";
import type { Table } from "./tables.ts";
import { attributeOf, equalItems } from "./values.ts";

interface WrittenUnits {
  tableUnits: number;
  indexUnits: IndexChange[];
}

/** One item's change: an absent old item means an insert, an absent new item a delete. */
interface Change {
  table: Table;
  key: StoredKey;
  before: StoredItem | undefined;
  after: StoredItem | undefined;
  /** Set when the TTL service deletes. */
  expired?: boolean;
}

export interface Storage {
  indexing: Indexing;
  create(table: Table): void;
  drop(table: Table): void;
  read(table: Table, key: StoredKey): StoredItem | undefined;
  /** Rows of a table or an index, in order. */
  stretch(storage: string, reach: Reach): Iterable<StoredItem>;
  /** `admit` is told what the change costs before anything is stored, and may refuse it by throwing. */
  write(change: Change, admit?: (written: WrittenUnits) => void): WrittenUnits;
  /** Number of items and their bytes. */
  measure(storage: string): { items: number; bytes: number };
  /** Items that are expired at `second`. */
  expired(table: Table, second: number): { key: StoredKey; stored: StoredItem }[];
  /** Sets the expiry of every item from the table's current time-to-live attribute. */
  remarkExpiry(table: Table): void;
}

const FIVE_YEARS = 5 * 365 * 24 * 3600;
const NO_INDEXES: IndexChange[] = [];

export const openRows = (database: Database): Rows => (database.undo ? memoryRows(database.undo) : sqlRows(database));

export function openStorage(database: Database, streams: Streams, now: () => number): Storage {
  const rows = openRows(database);
  const indexing = openIndexing(database, rows, now);

  const put = (table: Table, { pk, sk }: StoredKey, after: StoredItem) => {
    rows.put(table.storage, [pk, sk], after, dueOf(table, after));
  };

  return {
    indexing,
    create: ({ storage }) => rows.create(storage, TABLE_COLUMNS),
    drop: (table) => {
      for (const index of table.indexes) indexing.drop(index);
      rows.drop(table.storage);
    },
    read: (table, { pk, sk }) => rows.find(table.storage, [pk, sk]),
    stretch: rows.read,
    write: ({ table, key, before, after, expired }, admit) => {
      const tableUnits = writeUnits(before?.size, after?.size);
      // Items from the database have their text, and comparing texts is fastest.
      const isSame = before && after && (before === after || (before.text && before.text === textOf(after)));
      const isObserved =
        !isSame &&
        table.observed &&
        (before || after) &&
        !(before && after && equalItems(itemOf(before), itemOf(after)));
      const indexUnits = isObserved && table.indexes.length > 0 ? indexing.plan(table, before, after) : NO_INDEXES;
      const written = { tableUnits, indexUnits };
      admit?.(written);
      if (isSame) return written;
      if (after) put(table, key, after);
      else if (before) rows.remove(table.storage, [key.pk, key.sk]);
      for (const { apply } of indexUnits) apply(key);
      if (isObserved) streams.append(table, before, after, expired === true);
      return written;
    },
    measure: rows.measure,
    expired: (table, second) =>
      rows.due(table.storage, second - FIVE_YEARS, second).map(({ key, stored }) => ({ key: tableKey(key), stored })),
    remarkExpiry: (table) => {
      rows.watchDue(table.storage);
      for (const { key, stored } of [...rows.all(table.storage)]) put(table, tableKey(key), stored);
    },
  };
}

const tableKey = ([pk, sk]: RowKey): StoredKey => ({ pk: pk!, sk: sk! });

/** The second at which the item expires, if the table has a time to live and the item a number there. */
function dueOf(table: Table, stored: StoredItem): number | null {
  const attribute = table.record.timeToLive?.attribute;
  if (attribute === undefined) return null;
  const number = attributeOf(itemOf(stored), attribute)?.N;
  return number === undefined ? null : Math.ceil(Number(number));
}
