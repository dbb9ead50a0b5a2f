// The embedded DynamoDB alone: operations per second and memory with a million small items in its file.
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../local/aws/database.ts";
import { createDynamoDb } from "../local/aws/dynamodb/index.ts";
import { systemClock, systemIds } from "../shared/clock.ts";
import { type Figure, measurePlain } from "./measure.ts";
import type { Answer } from "./product.ts";

const ITEMS = 1_000_000;
const SINGLE = 50_000;
const QUERIES = 10_000;
const TRANSACTIONS = 10_000;
const BATCH = 25;
/** Items of one partition, and of one query. */
const PARTITION = 100;
const PAGE = 25;
const MB = 1_048_576;
const TableName = "things";

const keyOf = (n: number) => ({
  pk: { S: `P#${String(Math.floor(n / PARTITION)).padStart(7, "0")}` },
  sk: { S: `S#${String(n % PARTITION).padStart(7, "0")}` },
});
const itemOf = (n: number) => ({ ...keyOf(n), name: { S: `thing number ${n}` }, n: { N: String(n) } });
/** Numbers all over the range, the same ones every time. */
const scattered = (n: number, items: number) => (n * 7_919) % items;

export async function benchEngine(tell: (figure: Figure) => void, items = ITEMS): Promise<Answer> {
  const folder = mkdtempSync(join(tmpdir(), "bench-"));
  const file = join(folder, "engine.sqlite");
  const database = openDatabase(file);
  const { operate } = createDynamoDb({ clock: systemClock, ids: systemIds, database });
  const figures: Figure[] = [];
  const run = async (scenario: string, count: number, deed: (n: number) => Promise<unknown>, step = 1) => {
    const figure = await measurePlain(scenario, count, async () => {
      for (let n = 0; n < count; n += step) await deed(n);
    });
    figures.push(figure);
    tell(figure);
  };
  try {
    const names = ["pk", "sk"];
    await operate("CreateTable", {
      TableName,
      BillingMode: "PAY_PER_REQUEST",
      AttributeDefinitions: names.map((AttributeName) => ({ AttributeName, AttributeType: "S" })),
      KeySchema: names.map((AttributeName, at) => ({ AttributeName, KeyType: at ? "RANGE" : "HASH" })),
    });
    const batch = (from: number) =>
      Array.from({ length: Math.min(BATCH, items - from) }, (_, i) => ({ PutRequest: { Item: itemOf(from + i) } }));
    await run(
      "put, 25 a batch",
      items,
      (n) => operate("BatchWriteItem", { RequestItems: { [TableName]: batch(n) } }),
      BATCH,
    );
    const at = (n: number) => scattered(n, items);
    await run("put", SINGLE, (n) => operate("PutItem", { TableName, Item: itemOf(at(n)) }));
    await run("get", SINGLE, (n) => operate("GetItem", { TableName, Key: keyOf(at(n)) }));
    await run("update with a condition", SINGLE, (n) => operate("UpdateItem", update(at(n))));
    await run(`query of ${PAGE} items`, QUERIES, (n) => operate("Query", query(at(n))));
    await run("transaction of 2 writes", TRANSACTIONS, (n) =>
      operate("TransactWriteItems", {
        TransactItems: [{ Update: update(at(n)) }, { Put: { TableName, Item: itemOf(items + n) } }],
      }),
    );
    const bytes = statSync(file).size;
    return {
      figures,
      notes: [`${items} items in ${Math.round(bytes / MB)} MB of file, ${Math.round(bytes / items)} bytes each`],
    };
  } finally {
    database.close();
    rmSync(folder, { recursive: true });
  }
}

const update = (n: number) => ({
  TableName,
  Key: keyOf(n),
  UpdateExpression: "SET seen = :one ADD n :one",
  ConditionExpression: "attribute_exists(pk)",
  ExpressionAttributeValues: { ":one": { N: "1" } },
});

const query = (n: number) => ({
  TableName,
  KeyConditionExpression: "pk = :pk",
  ExpressionAttributeValues: { ":pk": keyOf(n).pk },
  Limit: PAGE,
});
