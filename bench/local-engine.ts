// `npm run bench -- service`: what single requests to the embedded engine take, by what it holds.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDynamoDb, openDatabase, startAwsPort } from "../local/aws/index.ts";
import { systemClock, systemIds } from "../shared/runtime/system.ts";
import { remote } from "../test/parity/remote.ts";

export interface LocalFigure {
  what: string;
  size: string;
  figure: number;
  unit: string;
  most?: number;
}

export const inFolder = async <T>(work: (folder: string) => Promise<T>): Promise<T> => {
  const folder = mkdtempSync(join(tmpdir(), "bench-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
};

const TRANSACTIONS = 2_000;

const THINGS = {
  TableName: "things",
  BillingMode: "PAY_PER_REQUEST",
  AttributeDefinitions: [{ AttributeName: "pk", AttributeType: "S" }],
  KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }],
};

/** Transactions while tokens of so many others are kept. */
export async function transactions(tokens: number): Promise<LocalFigure> {
  return inFolder(async (folder) => {
    const database = openDatabase(join(folder, "engine.sqlite"));
    const { operate } = createDynamoDb({ clock: systemClock, ids: systemIds, database });
    await operate("CreateTable", THINGS);
    const { TableName } = THINGS;
    const run = async (from: number, count: number) => {
      for (let n = from; n < from + count; n++)
        await operate("TransactWriteItems", {
          TransactItems: [{ Put: { TableName, Item: { pk: { S: `${n % TRANSACTIONS}` } } } }],
          ClientRequestToken: `token-${n}`,
        });
    };
    await run(0, tokens);
    const before = process.cpuUsage();
    await run(tokens, TRANSACTIONS);
    const { user, system } = process.cpuUsage(before);
    database.close();
    return {
      what: "transaction of the embedded engine",
      size: `${tokens} recent tokens`,
      figure: (user + system) / TRANSACTIONS / 1_000,
      unit: "ms of CPU",
    };
  });
}

const PUTS = 2_000;
const ITEMS_A_BATCH = 25;

/** Single puts over HTTP into a table with so many items: with the part of the caller, which is in this process. */
export async function puts(before: number): Promise<LocalFigure> {
  return inFolder(async (folder) => {
    const database = openDatabase(join(folder, "engine.sqlite"));
    const engine = createDynamoDb({ clock: systemClock, ids: systemIds, database });
    // The bench calls no other service.
    const services = { dynamodb: engine, sqs: engine, scheduler: engine, kms: engine };
    const port = await startAwsPort(services, 0, () => undefined);
    const { operate } = remote(port.url);
    await operate("CreateTable", THINGS);
    const { TableName } = THINGS;
    const item = (n: number) => ({ pk: { S: `thing-${n}` }, name: { S: "x".repeat(200) }, n: { N: String(n) } });
    for (let n = 0; n < before; n += ITEMS_A_BATCH) {
      const some = Array.from({ length: ITEMS_A_BATCH }, (_, i) => ({ PutRequest: { Item: item(n + i) } }));
      await engine.operate("BatchWriteItem", { RequestItems: { [TableName]: some } });
    }
    const put = async (from: number) => {
      for (let n = from; n < from + PUTS; n++) await operate("PutItem", { TableName, Item: item(n) });
    };
    await put(before);
    const start = process.cpuUsage();
    await put(before + PUTS);
    const { user, system } = process.cpuUsage(start);
    await port.close();
    database.close();
    const size = `into ${before} items`;
    return {
      what: "put of the embedded engine, over HTTP",
      size,
      figure: (user + system) / PUTS / 1_000,
      unit: "ms of CPU",
    };
  });
}
