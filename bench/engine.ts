// The embedded DynamoDB alone: operations per second and memory with a million small items in its file.
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDynamoDb, openDatabase, type StandIn, startAwsPort } from "../local/aws/index.ts";
import { systemClock, systemIds } from "../shared/runtime/system.ts";
import { hasEngines, startDynamoDbLocal } from "../test/parity/engines.ts";
import { remote } from "../test/parity/remote.ts";
import { type Answer, type Figure, measure } from "./measure.ts";

const ITEMS = 1_000_000;
const SINGLE = 50_000;
const QUERIES = 10_000;
const TRANSACTIONS = 10_000;
const BATCH = 25;
/** Items of one partition, and of one query. */
const PARTITION = 100;
const PAGE = 25;
const MB = 1_048_576;
const BESIDE = { items: 25_000, single: 5_000, queries: 2_000, transactions: 2_000 };
const TableName = "things";

const keyOf = (n: number) => ({
  pk: { S: `P#${String(Math.floor(n / PARTITION)).padStart(7, "0")}` },
  sk: { S: `S#${String(n % PARTITION).padStart(7, "0")}` },
});
const itemOf = (n: number) => ({ ...keyOf(n), name: { S: `thing number ${n}` }, n: { N: String(n) } });
/** Numbers spread over the whole range, the same ones every time. */
const scattered = (n: number, items: number) => (n * 7_919) % items;

type Operate = StandIn["operate"];

/** Runs all measurements on one engine; calls `tell` with each figure. */
async function work(
  operate: Operate,
  sizes: { items: number; single: number; queries: number; transactions: number },
  tell: (figure: Figure) => void,
  on = "",
): Promise<Figure[]> {
  const { items, single, queries, transactions } = sizes;
  const figures: Figure[] = [];
  const run = async (scenario: string, count: number, action: (n: number) => Promise<unknown>, step = 1) => {
    const figure = await measure(scenario + on, count, async () => {
      for (let n = 0; n < count; n += step) await action(n);
    });
    figures.push(figure);
    tell(figure);
  };
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
  await run("put", single, (n) => operate("PutItem", { TableName, Item: itemOf(at(n)) }));
  await run("get", single, (n) => operate("GetItem", { TableName, Key: keyOf(at(n)) }));
  await run("update with a condition", single, (n) => operate("UpdateItem", update(at(n))));
  await run(`query of ${PAGE} items`, queries, (n) => operate("Query", query(at(n))));
  await run("transaction of 2 writes", transactions, (n) =>
    operate("TransactWriteItems", {
      TransactItems: [{ Update: update(at(n)) }, { Put: { TableName, Item: itemOf(items + n) } }],
    }),
  );
  return figures;
}

export async function benchEngine(tell: (figure: Figure) => void, items = ITEMS): Promise<Answer> {
  const folder = mkdtempSync(join(tmpdir(), "bench-"));
  const file = join(folder, "engine.sqlite");
  const database = openDatabase(file);
  const { operate } = createDynamoDb({ clock: systemClock, ids: systemIds, database });
  try {
    const sizes = { items, single: SINGLE, queries: QUERIES, transactions: TRANSACTIONS };
    const figures = await work(operate, sizes, tell);
    const bytes = statSync(file).size;
    const file_mb = `${items} items in ${Math.round(bytes / MB)} MB of file, ${Math.round(bytes / items)} bytes each`;
    const beside = await benchBeside(tell);
    return { figures: [...figures, ...beside.figures], notes: [file_mb, ...beside.notes] };
  } finally {
    database.close();
    rmSync(folder, { recursive: true });
  }
}

/** A smaller load, over HTTP on both sides, if Amazon's DynamoDB Local is installed. */
async function benchBeside(tell: (figure: Figure) => void): Promise<Answer> {
  if (!hasEngines()) return { figures: [], notes: ["DynamoDB Local is not installed: sh tools/install-parity.sh"] };
  const figures: Figure[] = [];
  const database = openDatabase(":memory:");
  const ours = createDynamoDb({ clock: systemClock, ids: systemIds, database });
  // The bench calls no other service.
  const port = await startAwsPort({ dynamodb: ours, sqs: ours, scheduler: ours, kms: ours }, 0, () => undefined);
  const local = await startDynamoDbLocal();
  try {
    figures.push(...(await work(remote(port.url).operate, BESIDE, tell, ", ours over HTTP")));
    figures.push(...(await work(local.operate, BESIDE, tell, ", DynamoDB Local")));
    return {
      figures,
      notes: [`DynamoDB Local took ${Math.round(local.peakMb())} MB for ${BESIDE.items} items in memory`],
    };
  } finally {
    await Promise.all([port.close(), local.close()]);
    database.close();
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
