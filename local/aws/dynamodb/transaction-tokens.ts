// The client tokens of transactions: a repeat is answered and not done again.
import { createHash } from "node:crypto";
import type { Undo } from "../database.ts";
import { awsFailure, type Wire } from "../stand-in.ts";
import { MINUTE } from "../time.ts";
import { readUnits, TRANSACTION_FACTOR } from "./capacity.ts";
import type { Call, Engine } from "./engine.ts";

const TOKEN_LIFE = 10 * MINUTE;

interface ItemSize {
  table: string;
  bytes: number;
}

interface KeptToken {
  at: number;
  sizes: ItemSize[];
  /** Whether this is the same transaction. */
  isOf(input: Wire): boolean;
}

interface Shelf {
  find(token: string): KeptToken | undefined;
  keep(token: string, input: Wire, sizes: ItemSize[]): void;
}

/** Client tokens of the last ten minutes, with the transaction of each and the cost of reading it again. */
export function clientTokens(engine: Engine) {
  const { clock, tables } = engine;
  const shelf = engine.database.undo ? inMemory(engine, engine.database.undo) : inFile(engine);

  return {
    /** Whether the transaction was done before. If so, a repeat is billed as a read. */
    replay: (token: string, input: Wire, call: Call): boolean => {
      const kept = shelf.find(token);
      if (!kept || kept.at <= clock.now() - TOKEN_LIFE) return false;
      if (!kept.isOf(input))
        throw awsFailure(
          "IdempotentParameterMismatchException",
          "The parameters of this request do not match the parameters of an earlier request with the same client request token",
        );
      for (const { table, bytes } of kept.sizes)
        call.bill.spend(tables.need(table), "read", readUnits(bytes, true) * TRANSACTION_FACTOR);
      return true;
    },
    keep: shelf.keep,
  };
}

function inFile({ database, clock }: Engine): Shelf {
  database.exec(
    "CREATE TABLE IF NOT EXISTS dynamodb_tokens (token TEXT PRIMARY KEY, at INTEGER, request TEXT, sizes TEXT)",
  );
  // Without this index, each transaction reads all tokens to find the expired ones.
  database.exec("CREATE INDEX IF NOT EXISTS dynamodb_tokens_by_time ON dynamodb_tokens (at)");
  const digest = (input: Wire) => createHash("sha256").update(ordered(input)).digest("base64");

  return {
    find: (token) => {
      const row = database.first("SELECT at, request, sizes FROM dynamodb_tokens WHERE token = ?", token);
      return (
        row && {
          at: Number(row.at),
          sizes: JSON.parse(String(row.sizes)),
          isOf: (input) => row.request === digest(input),
        }
      );
    },
    keep: (token, input, sizes) => {
      database.run("DELETE FROM dynamodb_tokens WHERE at <= ?", clock.now() - TOKEN_LIFE);
      database.run(
        "INSERT OR REPLACE INTO dynamodb_tokens (token, at, request, sizes) VALUES (?, ?, ?, ?)",
        token,
        clock.now(),
        digest(input),
        JSON.stringify(sizes),
      );
    },
  };
}

/** In memory, no digest is made for each transaction, because few are ever repeated. */
function inMemory({ clock }: Engine, undo: Undo): Shelf {
  const kept = new Map<string, KeptToken>();
  return {
    find: (token) => kept.get(token),
    keep: (token, { TransactItems }, sizes) => {
      for (const [old, { at }] of kept) {
        if (at > clock.now() - TOKEN_LIFE) break;
        kept.delete(old);
      }
      const text = JSON.stringify(TransactItems);
      // An earlier token of the same name has expired. It is removed, so that the new one is last.
      kept.delete(token);
      kept.set(token, {
        at: clock.now(),
        sizes,
        isOf: (input) => ordered({ TransactItems: JSON.parse(text) }) === ordered(input),
      });
      undo(() => kept.delete(token));
    },
  };
}

const ordered = ({ TransactItems }: Wire): string => JSON.stringify(TransactItems, inOrder);

/** A client may write the members of a request in another order when it repeats it. */
const inOrder = (_: string, value: unknown): unknown =>
  value !== null && typeof value === "object" && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;
