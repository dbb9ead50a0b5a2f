// PartiQL: the statements that the embedded service performs, and what becomes of each in a batch.
import { expect, test } from "vitest";
import { key, N, S, START, world } from "./world.ts";

const INSERT = `INSERT INTO "things" VALUE {'pk': ?, 'sk': ?, 'n': ?, 'note': 'it''s'}`;
const inserted = (pk: string, n: number) => ({ Statement: INSERT, Parameters: [S(pk), S("1"), N(n)] });
const moved = (pk: string, from: number, to: number) => ({
  Statement: `UPDATE "things" SET n = ?, "seen" = true REMOVE note WHERE pk = ? AND sk = '1' AND n = ?`,
  Parameters: [N(to), S(pk), N(from)],
});

test("an insert puts an item that is not there, an update changes one that is", async () => {
  const { call, get, failure } = await world();
  expect(await call("ExecuteStatement", { ...inserted("a", 1), ReturnConsumedCapacity: "TOTAL" })).toEqual({
    Items: [],
    ConsumedCapacity: { TableName: "things", CapacityUnits: 1 },
  });
  expect(await get(key("a"))).toEqual({ ...key("a"), n: N(1), note: S("it's") });
  expect(await failure("ExecuteStatement", inserted("a", 2))).toMatchObject({ name: "DuplicateItemException" });
  await call("ExecuteStatement", moved("a", 1, 5));
  expect(await get(key("a"))).toEqual({ ...key("a"), n: N(5), seen: { BOOL: true } });
  expect(await failure("ExecuteStatement", moved("none", 1, 2))).toMatchObject({
    name: "ConditionalCheckFailedException",
  });
});

test.each([
  ["n <= 5", 5, true],
  ["n <= 5", 6, false],
  ["other IS MISSING", 1, true],
  ["n IS MISSING", 1, false],
  ["n = 1 AND note = 'it''s' AND other IS MISSING", 1, true],
])("an update where %s, of an item with n %i", async (where, n, holds) => {
  const { call, get } = await world();
  await call("ExecuteStatement", inserted("a", n));
  const Statement = `UPDATE things SET done = 1 WHERE pk = 'a' AND sk = '1' AND ${where}`;
  await call("ExecuteStatement", { Statement }).catch(() => undefined);
  expect("done" in (await get(key("a")))!).toBe(holds);
});

test("each statement of a batch fails alone, with the item that it met if that is asked for", async () => {
  const { call, put, get } = await world();
  await put({ ...key("b"), n: N(7) });
  const { Responses } = await call("BatchExecuteStatement", {
    Statements: [
      inserted("a", 1),
      inserted("b", 1),
      { ...moved("b", 1, 2), ReturnValuesOnConditionCheckFailure: "ALL_OLD" },
      moved("b", 7, 8),
      { Statement: "UPDATE things SET n = 1 WHERE pk = 'b'" },
      { Statement: `INSERT INTO nothing VALUE {'pk': 'a'}` },
      { Statement: `INSERT INTO things VALUE {'pk': ?}` },
    ],
  });
  expect(Responses).toEqual([
    { TableName: "things" },
    { Error: { Code: "DuplicateItem", Message: "Duplicate primary key exists in table" } },
    {
      Error: {
        Code: "ConditionalCheckFailed",
        Message: "The conditional request failed",
        Item: { ...key("b"), n: N(7) },
      },
    },
    { TableName: "things" },
    {
      Error: {
        Code: "ValidationError",
        Message: "Where clause does not contain a mandatory equality on all key attributes",
      },
    },
    { Error: { Code: "ResourceNotFound", Message: "Requested resource not found" } },
    { Error: { Code: "ValidationError", Message: expect.stringMatching(/^Number of parameters/) } },
  ]);
  expect((await get(key("b")))!.n).toEqual(N(8));
});

test("a batch takes 25 statements, and a throttled one is told by itself", async () => {
  const { call, refused, clock } = await world({ capacity: { partitions: 1, write: 2 } });
  const Statements = Array.from({ length: 4 }, (_, n) => inserted(`p${n}`, n));
  const { Responses } = await call("BatchExecuteStatement", { Statements });
  expect((Responses as { Error?: { Code: string } }[]).map(({ Error: error }) => error?.Code)).toEqual([
    undefined,
    undefined,
    "ThrottlingError",
    "ThrottlingError",
  ]);
  clock.jumpTo(START + 10_000);
  const many = Array.from({ length: 26 }, (_, n) => inserted(`q${n}`, n));
  expect(await refused("BatchExecuteStatement", { Statements: many })).toMatch(/less than or equal to 25/);
});

test.each([
  "SELECT * FROM things",
  "DELETE FROM things WHERE pk = 'a' AND sk = '1'",
  "UPDATE things SET n = n + 1 WHERE pk = 'a' AND sk = '1'",
  "UPDATE things SET n = 1 WHERE pk = 'a' AND sk = '1' OR n = 1",
  "UPDATE things SET n = 1 WHERE pk = 'a' AND sk = '1' AND n < 2",
  "UPDATE things WHERE pk = 'a' AND sk = '1'",
  "INSERT INTO things VALUE {'pk': 'a' 'sk': '1'}",
  "INSERT INTO things VALUE {'pk': 'a', 'sk': '1'} AS x",
  "INSERT INTO things VALUE {'pk': 'a, 'sk': '1'}",
  "",
])("refuses %s", async (Statement) => {
  const { failure } = await world();
  expect(await failure("ExecuteStatement", { Statement })).toMatchObject({ name: "ValidationException" });
});
