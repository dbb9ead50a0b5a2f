// Acknowledged writes are in the file, and are there when it is opened again.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, expect, test } from "vitest";
import { openDatabase } from "../../database.ts";
import { key, N, S, tableInput, world } from "../support/dynamodb-world.ts";

const folder = mkdtempSync(join(tmpdir(), "dynamodb-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("tables, items, indexes, streams, expiry and tokens survive a reopening", async () => {
  const file = join(folder, "kept.sqlite");
  const before = await world({
    table: { stream: "NEW_IMAGE", indexes: { byKind: { hash: ["kind", "S"] } } },
    database: openDatabase(file),
  });
  const transaction = {
    TransactItems: [{ Put: { TableName: "things", Item: { ...key("b"), ends: N(1_767_225_601) } } }],
    ClientRequestToken: "token",
  };
  await before.call("UpdateTimeToLive", {
    TableName: "things",
    TimeToLiveSpecification: { Enabled: true, AttributeName: "ends" },
  });
  await before.put({ ...key("a"), kind: S("x") });
  await before.call("TransactWriteItems", transaction);
  const records = before.db.records("things", "", 10);
  before.database.close();

  const after = await world({ table: false, database: openDatabase(file) });
  const read = (operation: string, input: object) => after.call(operation, { TableName: "things", ...input });
  expect((await read("Scan", { IndexName: "byKind" })).Items).toEqual([{ ...key("a"), kind: S("x") }]);
  expect(after.db.records("things", "", 10)).toEqual(records);
  await after.call("TransactWriteItems", transaction);
  expect(after.db.records("things", "", 10)).toHaveLength(2);
  await read("PutItem", { Item: key("c") });
  const last = after.db.records("things", records[1]!.dynamodb.SequenceNumber, 10);
  expect(last.map(({ dynamodb }) => dynamodb.Keys)).toEqual([key("c")]);
  after.clock.jumpTo(after.clock.now() + 2000);
  expect(after.db.expire()).toBe(1);
  after.database.close();
});

test("a table made after a restart does not meet what an older one left", async () => {
  const file = join(folder, "again.sqlite");
  const before = await world({ database: openDatabase(file) });
  await before.put(key("a"));
  await before.call("DeleteTable", { TableName: "things" });
  before.database.close();
  const after = await world({ table: false, database: openDatabase(file) });
  await after.call("CreateTable", tableInput());
  expect((await after.call("Scan", { TableName: "things" })).Count).toBe(0);
  after.database.close();
});

test("a killed process loses nothing it acknowledged", async () => {
  const file = join(folder, "killed.sqlite");
  const script = `
    const { world, key } = await import(${JSON.stringify(new URL("../support/dynamodb-world.ts", import.meta.url).href)});
    const { openDatabase } = await import(${JSON.stringify(new URL("../../database.ts", import.meta.url).href)});
    const { writeSync } = await import("node:fs");
    const { put } = await world({ database: openDatabase(${JSON.stringify(file)}) });
    for (let at = 0; ; at++) {
      await put(key("p" + at));
      writeSync(1, at + "\\n");
      if (at === 200) process.kill(process.pid, "SIGKILL");
    }`;
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "--eval", script], { encoding: "utf8" });
  const acknowledged = stdout.trim().split("\n").length;
  expect(acknowledged).toBe(201);
  const after = await world({ table: false, database: openDatabase(file) });
  expect((await after.call("Scan", { TableName: "things", Select: "COUNT" })).Count).toBe(acknowledged);
  after.database.close();
});

test("what is done while a database is held is on disk all at once, or not at all", async () => {
  const file = join(folder, "held.sqlite");
  const database = openDatabase(file);
  const { put, refused, get } = await world({ database });
  const release = database.hold();
  await put(key("a"));
  expect(await refused("PutItem", { Item: key("b"), ConditionExpression: "attribute_exists(pk)" })).toContain("Check");
  // Another connection sees what is committed.
  const other = new DatabaseSync(file);
  const count = () => other.prepare("SELECT count(*) AS n FROM dynamodb_items_1").get()!.n;
  expect(count()).toBe(0);
  release();
  expect(count()).toBe(1);
  await put(key("c"));
  expect(count()).toBe(2);
  expect(await get(key("a"))).toBeDefined();
  other.close();
  database.close();
});
