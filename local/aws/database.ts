// The one SQLite file (or memory) behind every embedded service: an acknowledged write survives `kill -9`.
import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from "node:sqlite";

export type Row = Record<string, SQLOutputValue>;

/** Registers how to undo a change outside the database when the transaction is rolled back. */
export type Undo = (step: () => unknown) => void;

export interface Database {
  exec(sql: string): void;
  /** Runs a prepared (and cached) statement without results. @returns how many rows changed. */
  run(sql: string, ...values: SQLInputValue[]): number;
  first(sql: string, ...values: SQLInputValue[]): Row | undefined;
  all(sql: string, ...values: SQLInputValue[]): Row[];
  iterate(sql: string, ...values: SQLInputValue[]): IterableIterator<Row>;
  /** All or nothing; an inner call joins the outer one. */
  transaction<T>(work: () => T): T;
  /**
   * Begins a time in which nothing is on disk, which saves the end of every transaction: what a killed process did in it
   * is undone.
   * @returns what ends it: from then on all of it is on disk.
   */
  hold(): () => void;
  /** Called after each transaction, with whether it was committed. */
  onEnd(listener: (isCommitted: boolean) => void): void;
  close(): void;
  /** Whether the database is in memory. If so, data may be kept in JavaScript structures instead. */
  undo?: Undo;
}

const HELD = { COMMIT: "RELEASE held", ROLLBACK: "ROLLBACK TO held; RELEASE held" };

/** Opens `file` (or `:memory:`) in write-ahead mode. */
export function openDatabase(file: string): Database {
  const sqlite = new DatabaseSync(file);
  const isMemory = file === ":memory:";
  if (!isMemory) sqlite.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;");
  const statements = new Map<string, StatementSync>();
  let depth = 0;
  let isBegun = false;
  let isHeld = false;
  let undoing: (() => unknown)[] = [];
  const endListeners: ((isCommitted: boolean) => void)[] = [];

  const prepared = (sql: string): StatementSync => {
    let statement = statements.get(sql);
    if (!statement) {
      statement = sqlite.prepare(sql);
      statements.set(sql, statement);
    }
    return statement;
  };

  const begin = () => {
    if (isBegun) return;
    sqlite.exec(isHeld ? "SAVEPOINT held" : "BEGIN IMMEDIATE");
    isBegun = true;
  };
  /** In memory there is no other connection, so a transaction begins with its first write to a table, if any. */
  const beginLate = () => {
    if (isMemory && depth > 0) begin();
  };
  const end = (how: "COMMIT" | "ROLLBACK") => {
    if (isBegun) sqlite.exec(isHeld ? HELD[how] : how);
    isBegun = false;
    const steps = undoing;
    undoing = [];
    if (how === "ROLLBACK") for (const step of steps.reverse()) step();
    for (const listener of endListeners) listener(how === "COMMIT");
  };

  return {
    exec: (sql) => {
      beginLate();
      sqlite.exec(sql);
    },
    run: (sql, ...values) => {
      beginLate();
      return Number(prepared(sql).run(...values).changes);
    },
    first: (sql, ...values) => prepared(sql).get(...values),
    all: (sql, ...values) => prepared(sql).all(...values),
    iterate: (sql, ...values) => prepared(sql).iterate(...values),
    transaction: (work) => {
      if (depth > 0) return work();
      if (!isMemory) begin();
      depth++;
      try {
        const result = work();
        end("COMMIT");
        return result;
      } catch (error) {
        end("ROLLBACK");
        throw error;
      } finally {
        depth--;
      }
    },
    hold: () => {
      sqlite.exec("BEGIN IMMEDIATE");
      isHeld = true;
      return () => {
        isHeld = false;
        sqlite.exec("COMMIT");
      };
    },
    onEnd: (listener) => {
      endListeners.push(listener);
    },
    close: () => sqlite.close(),
    ...(isMemory && {
      undo: (step: () => unknown) => {
        if (depth > 0) undoing.push(step);
      },
    }),
  };
}
