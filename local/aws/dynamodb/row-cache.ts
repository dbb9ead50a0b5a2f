// The rows of SQLite that were read or written last: a row that is read again is neither looked up nor parsed.
import type { Database } from "../database.ts";
import type { RowKey } from "./rows.ts";
import type { Stored } from "./stored.ts";

const MAX_ROWS = 5_000;
/** As DynamoDB counts the bytes of items. */
const MAX_BYTES = 4_194_304;

export interface RowCache {
  get(storage: string, key: RowKey): Stored | undefined;
  /** Of a row as it is in the database now. */
  keep(storage: string, key: RowKey, stored: Stored): void;
  forget(storage: string, key: RowKey): void;
  clear(): void;
}

export function openRowCache(database: Database): RowCache {
  const rows = new Map<string, Stored>();
  let bytes = 0;

  const clear = () => {
    rows.clear();
    bytes = 0;
  };
  const forget = (storage: string, key: RowKey) => {
    const name = nameOf(storage, key);
    const found = name === undefined ? undefined : rows.get(name);
    if (name === undefined || !found) return;
    bytes -= found.size;
    rows.delete(name);
  };
  database.onRollback(clear);

  return {
    get: (storage, key) => {
      const name = nameOf(storage, key);
      return name === undefined ? undefined : rows.get(name);
    },
    keep: (storage, key, stored) => {
      const name = nameOf(storage, key);
      if (name === undefined) return;
      forget(storage, key);
      if (rows.size >= MAX_ROWS || bytes + stored.size > MAX_BYTES) clear();
      rows.set(name, stored);
      bytes += stored.size;
    },
    forget,
    clear,
  };
}

/** Undefined for a key of bytes, and for a text that SQLite stores as another one. */
function nameOf(storage: string, [pk, sk, ...more]: RowKey): string | undefined {
  if (typeof pk !== "string" || typeof sk !== "string" || more.length > 0) return undefined;
  return pk.isWellFormed() && sk.isWellFormed() ? `${storage} ${pk.length} ${pk}${sk}` : undefined;
}
