// The one SQLite file (or memory) behind every embedded service: an acknowledged write survives `kill -9`.
import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from "node:sqlite";

export type Row = Record<string, SQLOutputValue>;

export interface Database {
  exec(sql: string): void;
  /** Runs a prepared (and remembered) statement that returns nothing; answers how many rows changed. */
  run(sql: string, ...values: SQLInputValue[]): number;
  first(sql: string, ...values: SQLInputValue[]): Row | undefined;
  all(sql: string, ...values: SQLInputValue[]): Row[];
  iterate(sql: string, ...values: SQLInputValue[]): IterableIterator<Row>;
  /** All or nothing; an inner call joins the outer one. */
  transaction<T>(work: () => T): T;
  close(): void;
}

/** Opens `file` (`:memory:` keeps nothing) in write-ahead mode. */
export function openDatabase(file: string): Database {
  const sqlite = new DatabaseSync(file);
  if (file !== ":memory:") sqlite.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;");
  const statements = new Map<string, StatementSync>();
  let depth = 0;

  const prepared = (sql: string): StatementSync => {
    let statement = statements.get(sql);
    if (!statement) {
      statement = sqlite.prepare(sql);
      statements.set(sql, statement);
    }
    return statement;
  };

  return {
    exec: (sql) => sqlite.exec(sql),
    run: (sql, ...values) => Number(prepared(sql).run(...values).changes),
    first: (sql, ...values) => prepared(sql).get(...values),
    all: (sql, ...values) => prepared(sql).all(...values),
    iterate: (sql, ...values) => prepared(sql).iterate(...values),
    transaction: (work) => {
      if (depth > 0) return work();
      sqlite.exec("BEGIN IMMEDIATE");
      depth++;
      try {
        const result = work();
        sqlite.exec("COMMIT");
        return result;
      } catch (error) {
        sqlite.exec("ROLLBACK");
        throw error;
      } finally {
        depth--;
      }
    },
    close: () => sqlite.close(),
  };
}
