// Where items lie: one SQLite table per DynamoDB table, ordered by key, each item as compact JSON text.
import type { Database } from "../database.ts";
import { writeUnits } from "./capacity.ts";
import { type Indexing, type IndexUnits, openIndexing } from "./indexing.ts";
import type { Sortable, StoredKey } from "./keys.ts";
import { itemOf, type Stored, storedOf } from "./stored.ts";
import type { Streams } from "./streams.ts";
import type { Table } from "./tables.ts";
import { attributeOf, equalItems } from "./values.ts";

interface Written {
  tableUnits: number;
  indexUnits: IndexUnits[];
}

/** One item's change: nothing before is an insert, nothing after a delete. */
interface Change {
  table: Table;
  key: StoredKey;
  before: Stored | undefined;
  after: Stored | undefined;
  /** Set when the TTL service deletes. */
  expired?: boolean;
}

export interface Storage {
  indexing: Indexing;
  create(table: Table): void;
  drop(table: Table): void;
  read(table: Table, key: StoredKey): Stored | undefined;
  write(change: Change): Written;
  /** Number of items and their bytes. */
  measure(storage: string): { items: number; bytes: number };
  /** Items whose time to live is over at `second`. */
  expired(table: Table, second: number): { key: StoredKey; stored: Stored }[];
  /** Notes the expiry of every item by the table's present time-to-live attribute. */
  remarkExpiry(table: Table): void;
}

interface Sql {
  read: string;
  put: string;
  remove: string;
}

const FIVE_YEARS = 5 * 365 * 24 * 3600;
const NO_INDEXES: IndexUnits[] = [];

export function openStorage(database: Database, streams: Streams, now: () => number): Storage {
  const indexing = openIndexing(database, now);
  const known = new Map<string, Sql>();
  const sqlOf = (storage: string): Sql => {
    let sql = known.get(storage);
    if (!sql) {
      sql = {
        read: `SELECT item, size FROM ${storage} WHERE pk = ? AND sk = ?`,
        put: `INSERT OR REPLACE INTO ${storage} (pk, sk, item, size, due) VALUES (?, ?, ?, ?, ?)`,
        remove: `DELETE FROM ${storage} WHERE pk = ? AND sk = ?`,
      };
      known.set(storage, sql);
    }
    return sql;
  };

  const put = (table: Table, { pk, sk }: StoredKey, after: Stored) => {
    database.run(sqlOf(table.storage).put, pk, sk, after.text, after.size, dueOf(table, after));
  };

  return {
    indexing,
    create: ({ storage }) =>
      database.exec(
        `CREATE TABLE ${storage} (pk, sk, item TEXT, size INTEGER, due INTEGER, PRIMARY KEY (pk, sk)) WITHOUT ROWID`,
      ),
    drop: (table) => {
      for (const index of table.indexes) indexing.drop(index);
      database.exec(`DROP TABLE ${table.storage}`);
      known.delete(table.storage);
    },
    read: (table, { pk, sk }) => {
      const row = database.first(sqlOf(table.storage).read, pk, sk);
      return row && storedOf(row);
    },
    write: ({ table, key, before, after, expired }) => {
      const tableUnits = writeUnits(before?.size, after?.size);
      if (before && after && before.text === after.text) return { tableUnits, indexUnits: NO_INDEXES };
      if (after) put(table, key, after);
      else if (before) database.run(sqlOf(table.storage).remove, key.pk, key.sk);
      if (!table.observed || (!before && !after)) return { tableUnits, indexUnits: NO_INDEXES };

      const [old, fresh] = [before && itemOf(before), after && itemOf(after)];
      const indexUnits = table.indexes.length > 0 ? indexing.update(table, key, before, after) : NO_INDEXES;
      if (!(old && fresh && equalItems(old, fresh))) streams.append(table, before, after, expired === true);
      return { tableUnits, indexUnits };
    },
    measure: (storage) => {
      const row = database.first(`SELECT count(*) AS items, coalesce(sum(size), 0) AS bytes FROM ${storage}`)!;
      return { items: Number(row.items), bytes: Number(row.bytes) };
    },
    expired: (table, second) =>
      database
        .all(
          `SELECT pk, sk, item, size FROM ${table.storage} WHERE due IS NOT NULL AND due <= ? AND due > ? ORDER BY due`,
          second,
          second - FIVE_YEARS,
        )
        .map((row) => ({ key: { pk: row.pk as Sortable, sk: row.sk as Sortable }, stored: storedOf(row) })),
    remarkExpiry: (table) => {
      const { storage } = table;
      database.exec(`CREATE INDEX IF NOT EXISTS ${storage}_due ON ${storage} (due) WHERE due IS NOT NULL`);
      for (const row of database.all(`SELECT pk, sk, item, size FROM ${storage}`))
        put(table, { pk: row.pk as Sortable, sk: row.sk as Sortable }, storedOf(row));
    },
  };
}

/** The second at which the item expires, if the table has a time to live and the item a number there. */
function dueOf(table: Table, stored: Stored): number | null {
  const attribute = table.record.timeToLive?.attribute;
  if (attribute === undefined) return null;
  const number = attributeOf(itemOf(stored), attribute)?.N;
  return number === undefined ? null : Math.ceil(Number(number));
}
