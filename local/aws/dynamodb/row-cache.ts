// The rows of SQLite that were read or written last: a row that is read again is neither looked up nor parsed.
import type { Database } from "../database.ts";
import type { RowKey } from "./keys.ts";
import type { StoredItem } from "./stored.ts";

const MAX_ROWS = 5_000;
/** The limit of a page, in bytes as DynamoDB counts those of items. */
const MAX_BYTES = 4_194_304;

interface RowCache {
  get(storage: string, key: RowKey): StoredItem | undefined;
  /** Keeps a row that was read. */
  keep(storage: string, key: RowKey, stored: StoredItem): void;
  /** Keeps a row that was written, or forgets one that was removed (without `stored`). */
  wrote(storage: string, key: RowKey, stored?: StoredItem): void;
  clear(): void;
}

export function openRowCache(database: Database): RowCache {
  const rows = new Map<string, StoredItem>();
  let bytes = 0;
  /** Written since the last transaction ended: what is rolled back is not what the database has. */
  let written: string[] = [];

  const clear = () => {
    rows.clear();
    bytes = 0;
  };
  const forget = (name: string) => {
    bytes -= rows.get(name)?.size ?? 0;
    rows.delete(name);
  };
  const keep = (name: string, stored: StoredItem) => {
    forget(name);
    if (rows.size >= MAX_ROWS || bytes + stored.size > MAX_BYTES) clear();
    rows.set(name, stored);
    bytes += stored.size;
  };
  database.onEnd((isCommitted) => {
    if (!isCommitted) for (const name of written) forget(name);
    written = [];
  });

  return {
    get: (storage, key) => {
      const name = nameOf(storage, key);
      return name === undefined ? undefined : rows.get(name);
    },
    keep: (storage, key, stored) => {
      const name = nameOf(storage, key);
      if (name !== undefined) keep(name, stored);
    },
    wrote: (storage, key, stored) => {
      const name = nameOf(storage, key);
      if (name === undefined) return;
      written.push(name);
      if (stored) keep(name, stored);
      else forget(name);
    },
    clear,
  };
}

/** Undefined for a key of bytes, and for a text that SQLite stores as another one. */
function nameOf(storage: string, [pk, sk, ...more]: RowKey): string | undefined {
  if (typeof pk !== "string" || typeof sk !== "string" || more.length > 0) return undefined;
  return pk.isWellFormed() && sk.isWellFormed() ? `${storage} ${pk.length} ${pk}${sk}` : undefined;
}
