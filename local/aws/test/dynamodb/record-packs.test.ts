// Records that every reader has passed are packed in the file, and read as before.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { type Database, openDatabase } from "../../database.ts";
import { DAY } from "../../time.ts";
import { key, N, world } from "../support/dynamodb-world.ts";

const RECORDS = 3_600;
const folder = mkdtempSync(join(tmpdir(), "packs-"));
afterAll(() => rmSync(folder, { recursive: true }));

const rowsOf = (database: Database, table: string) => Number(database.first(`SELECT count(*) AS n FROM ${table}`)!.n);

async function written(name: string, checkpoint = String(Number.MAX_SAFE_INTEGER)) {
  const file = join(folder, name);
  const made = await world({ table: { stream: "NEW_IMAGE" }, database: openDatabase(file) });
  made.db.keepRecords(() => checkpoint);
  for (let n = 0; n < RECORDS; n++) await made.put({ ...key("a"), n: N(n) });
  return { ...made, file };
}

test("packed records are read from everywhere, also after a reopening", async () => {
  const { db, database, file } = await written("read.sqlite");
  const all = db.records("things", "", RECORDS * 2);
  expect(rowsOf(database, "dynamodb_record_packs")).toBeGreaterThan(0);
  expect(rowsOf(database, "dynamodb_records")).toBeLessThan(RECORDS);
  expect(all.map(({ dynamodb }) => dynamodb.NewImage?.n)).toEqual(Array.from({ length: RECORDS }, (_, n) => N(n)));
  database.close();

  const again = await world({ table: false, database: openDatabase(file) });
  for (const at of [0, 998, 999, 1_000, 1_700, 2_599, RECORDS - 2])
    expect(again.db.records("things", all[at]!.dynamodb.SequenceNumber, 5)).toEqual(all.slice(at + 1, at + 6));
  again.database.close();
});

test("what a reader has not read is not packed, and stays however old it is", async () => {
  const { db, database, clock } = await written("unread.sqlite", "1500");
  expect(rowsOf(database, "dynamodb_records")).toBe(RECORDS - 1_000);
  clock.jumpTo(clock.now() + 3 * DAY);
  db.expire();
  expect(db.records("things", "", RECORDS)).toHaveLength(RECORDS - 1_500);
  database.close();
});

test("packs are gone after 24 hours, and the numbers go on", async () => {
  const { db, database, clock, put } = await written("trimmed.sqlite");
  const last = db.records("things", "", RECORDS).at(-1)!.dynamodb.SequenceNumber;
  clock.jumpTo(clock.now() + DAY);
  db.expire();
  expect(rowsOf(database, "dynamodb_record_packs")).toBe(0);
  expect(db.records("things", "", RECORDS)).toEqual([]);
  await put(key("b"));
  expect(db.records("things", "", RECORDS)[0]!.dynamodb.SequenceNumber > last).toBe(true);
  database.close();
});
