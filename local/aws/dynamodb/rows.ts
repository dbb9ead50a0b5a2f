// Rows of items in the order of their keys, for tables and indexes. This is the form in SQLite.
import type { Database, Row } from "../database.ts";
import type { RowKey, Sortable } from "./keys.ts";
import { openRowCache } from "./row-cache.ts";
import { type StoredItem, storedOf, textOf } from "./stored.ts";

/** A range of sort keys; an omitted bound does not limit it. */
export interface Bounds {
  min?: Sortable;
  above?: Sortable;
  max?: Sortable;
  below?: Sortable;
}

export interface Reach {
  /** The partition to read; absent: all of them, in the order of their keys. */
  pk?: Sortable;
  bounds?: Bounds;
  /** Begins after this key: all its columns, or those after `pk` if that is given. */
  beyond?: RowKey;
  forward: boolean;
  /** The reader needs no more rows than this. */
  atMost?: number;
}

export interface KeyedRow {
  key: RowKey;
  stored: StoredItem;
}

export interface Rows {
  create(storage: string, columns: readonly string[]): void;
  drop(storage: string): void;
  find(storage: string, key: RowKey): StoredItem | undefined;
  put(storage: string, key: RowKey, stored: StoredItem, due?: number | null): void;
  remove(storage: string, key: RowKey): void;
  read(storage: string, reach: Reach): Iterable<StoredItem>;
  all(storage: string): Iterable<KeyedRow>;
  /** Number of rows and their bytes. */
  measure(storage: string): { items: number; bytes: number };
  /** Creates the index for `due`. */
  watchDue(storage: string): void;
  /** Rows due after `from` and no later than `until`, the first one first. */
  due(storage: string, from: number, until: number): KeyedRow[];
}

export const TABLE_COLUMNS = ["pk", "sk"];
export const INDEX_COLUMNS = ["pk", "sk", "item_pk", "item_sk"];

/** Only items expire; their index entries are deleted with them. */
const hasDue = (columns: readonly string[]): boolean => columns.length === TABLE_COLUMNS.length;

interface Sql {
  columns: readonly string[];
  find: string;
  put: string;
  remove: string;
}

const COMPARISONS = { min: ">=", above: ">", max: "<=", below: "<" } as const;

/** Up to this many rows are read at once, which is faster than one by one. */
const FEW = 100;

export function sqlRows(database: Database): Rows {
  const found = new Map<string, Sql>();
  const cache = openRowCache(database);
  const sqlOf = (storage: string): Sql => {
    let sql = found.get(storage);
    if (!sql) {
      const columns = database.all(`SELECT name FROM pragma_table_info('${storage}') WHERE pk > 0 ORDER BY pk`);
      sql = statementsOf(
        storage,
        columns.map(({ name }) => String(name)),
      );
      found.set(storage, sql);
    }
    return sql;
  };
  const keyed = (storage: string, sql: string, ...values: number[]): KeyedRow[] => {
    const { columns } = sqlOf(storage);
    return database
      .all(`SELECT ${columns.join(", ")}, item, size FROM ${storage} ${sql}`, ...values)
      .map((row: Row) => ({ key: columns.map((name) => row[name] as Sortable), stored: storedOf(row) }));
  };

  return {
    create: (storage, columns) => {
      const key = columns.join(", ");
      const due = hasDue(columns) ? "due INTEGER, " : "";
      database.exec(
        `CREATE TABLE ${storage} (${key}, item TEXT, size INTEGER, ${due}PRIMARY KEY (${key})) WITHOUT ROWID`,
      );
      found.set(storage, statementsOf(storage, columns));
    },
    drop: (storage) => {
      database.exec(`DROP TABLE ${storage}`);
      found.delete(storage);
      cache.clear();
    },
    find: (storage, key) => {
      const known = cache.get(storage, key);
      if (known) return known;
      const row = database.first(sqlOf(storage).find, ...key);
      if (!row) return undefined;
      const stored = storedOf(row);
      cache.keep(storage, key, stored);
      return stored;
    },
    put: (storage, key, stored, due = null) => {
      const { put, columns } = sqlOf(storage);
      const values = [...key, textOf(stored), stored.size];
      database.run(put, ...(hasDue(columns) ? [...values, due] : values));
      cache.wrote(storage, key, stored);
    },
    remove: (storage, key) => {
      database.run(sqlOf(storage).remove, ...key);
      cache.wrote(storage, key);
    },
    *read(storage, { pk, bounds = {}, beyond, forward, atMost = Number.POSITIVE_INFINITY }) {
      const all = sqlOf(storage).columns;
      const columns = pk === undefined ? all : all.slice(1);
      const where: string[] = pk === undefined ? [] : ["pk = ?"];
      const values: Sortable[] = pk === undefined ? [] : [pk];
      for (const [name, comparison] of Object.entries(COMPARISONS)) {
        const bound = bounds[name as keyof Bounds];
        if (bound === undefined) continue;
        where.push(`sk ${comparison} ?`);
        values.push(bound);
      }
      if (beyond) {
        where.push(`(${columns.join(", ")}) ${forward ? ">" : "<"} (${columns.map(() => "?").join(", ")})`);
        values.push(...beyond);
      }
      const order = columns.map((column) => column + (forward ? "" : " DESC")).join(", ");
      const filter = where.length > 0 ? `WHERE ${where.join(" AND ")}` : "";
      const sql = `SELECT item, size FROM ${storage} ${filter} ORDER BY ${order}`;
      const rows = atMost <= FEW ? database.all(`${sql} LIMIT ?`, ...values, atMost) : database.iterate(sql, ...values);
      for (const row of rows) yield storedOf(row);
    },
    all: (storage) => keyed(storage, ""),
    measure: (storage) => {
      const row = database.first(`SELECT count(*) AS items, coalesce(sum(size), 0) AS bytes FROM ${storage}`)!;
      return { items: Number(row.items), bytes: Number(row.bytes) };
    },
    watchDue: (storage) =>
      database.exec(`CREATE INDEX IF NOT EXISTS ${storage}_due ON ${storage} (due) WHERE due IS NOT NULL`),
    due: (storage, from, until) =>
      keyed(storage, "WHERE due IS NOT NULL AND due <= ? AND due > ? ORDER BY due", until, from),
  };
}

function statementsOf(storage: string, columns: readonly string[]): Sql {
  const where = columns.map((name) => `${name} = ?`).join(" AND ");
  const all = [...columns, "item", "size", ...(hasDue(columns) ? ["due"] : [])];
  return {
    columns,
    find: `SELECT item, size FROM ${storage} WHERE ${where}`,
    put: `INSERT OR REPLACE INTO ${storage} (${all.join(", ")}) VALUES (${all.map(() => "?").join(", ")})`,
    remove: `DELETE FROM ${storage} WHERE ${where}`,
  };
}
