// The client tokens of transactions: a repeat is answered and not done again.
import { createHash } from "node:crypto";
import { awsFailure, type Wire } from "../stand-in.ts";
import { MINUTE } from "../time.ts";
import { readUnits, TRANSACTION_FACTOR } from "./capacity.ts";
import type { Call, Engine } from "./engine.ts";

const TOKEN_LIFE = 10 * MINUTE;

/** Client tokens of the last ten minutes, with the transaction of each and the cost of reading it again. */
export function clientTokens({ database, clock, tables }: Engine) {
  database.exec(
    "CREATE TABLE IF NOT EXISTS dynamodb_tokens (token TEXT PRIMARY KEY, at INTEGER, request TEXT, sizes TEXT)",
  );
  // Without it, each transaction reads all tokens to find those that are over.
  database.exec("CREATE INDEX IF NOT EXISTS dynamodb_tokens_by_time ON dynamodb_tokens (at)");
  const digest = ({ TransactItems }: Wire) =>
    createHash("sha256").update(JSON.stringify(TransactItems, inOrder)).digest("base64");

  return {
    /** Whether the transaction was done before. If so, a repeat is billed as a read. */
    replay: (token: string, input: Wire, call: Call): boolean => {
      const row = database.first("SELECT at, request, sizes FROM dynamodb_tokens WHERE token = ?", token);
      if (!row || Number(row.at) <= clock.now() - TOKEN_LIFE) return false;
      if (row.request !== digest(input))
        throw awsFailure(
          "IdempotentParameterMismatchException",
          "The parameters of this request do not match the parameters of an earlier request with the same client request token",
        );
      for (const { table, bytes } of JSON.parse(String(row.sizes)) as { table: string; bytes: number }[])
        call.bill.spend(tables.need(table), "read", readUnits(bytes, true) * TRANSACTION_FACTOR);
      return true;
    },
    keep: (token: string, input: Wire, sizes: { table: string; bytes: number }[]): void => {
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

/** A client may write the members of a request in another order when it repeats it. */
const inOrder = (_: string, value: unknown): unknown =>
  value !== null && typeof value === "object" && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;
