// Updates that only take away: where there is no item they make none, whatever they would take.
import { expect, test } from "vitest";
import { key, N, S, world } from "../support/dynamodb-world.ts";

const stream = "NEW_AND_OLD_IMAGES";

test.each<[string, object]>([
  ["REMOVE of an attribute", { UpdateExpression: "REMOVE a" }],
  ["REMOVE of a nested attribute", { UpdateExpression: "REMOVE a.b, c[3]" }],
  [
    "DELETE of members",
    { UpdateExpression: "DELETE a :v REMOVE b", ExpressionAttributeValues: { ":v": { SS: ["x"] } } },
  ],
])("%s makes no item, answers nothing and leaves no record", async (_, change) => {
  const { call, get, db } = await world({ table: { stream } });
  for (const ReturnValues of ["NONE", "ALL_NEW", "UPDATED_OLD"])
    expect(await call("UpdateItem", { Key: key("a"), ...change, ReturnValues })).toEqual({});
  expect(await get(key("a"))).toBeUndefined();
  expect(db.records("things", "", 10)).toEqual([]);
});

test("one that also sets or adds makes the item, and so does one of nothing", async () => {
  const { update, call, get } = await world();
  await update(key("a"), "SET a = :v REMOVE b", { ":v": N(1) });
  await update(key("b"), "ADD a :v DELETE c :s", { ":v": N(1), ":s": { SS: ["x"] } });
  await call("UpdateItem", { Key: key("d") });
  for (const pk of ["a", "b"]) expect(await get(key(pk))).toEqual({ ...key(pk), a: N(1) });
  expect(await get(key("d"))).toEqual(key("d"));
});

test("its condition is judged all the same", async () => {
  const { refused, call, get } = await world();
  const remove = { Key: key("a"), UpdateExpression: "REMOVE a" };
  expect(await refused("UpdateItem", { ...remove, ConditionExpression: "attribute_exists(pk)" })).toBe(
    "ConditionalCheckFailed: The conditional request failed",
  );
  await call("UpdateItem", { ...remove, ConditionExpression: "attribute_not_exists(pk)" });
  expect(await get(key("a"))).toBeUndefined();
});

test("in a transaction too", async () => {
  const { call, get } = await world();
  const Update = { TableName: "things", Key: key("a"), UpdateExpression: "REMOVE a" };
  const Put = { TableName: "things", Item: { ...key("b"), s: S("x") } };
  await call("TransactWriteItems", { TransactItems: [{ Update }, { Put }] });
  expect([await get(key("a")), await get(key("b"))]).toEqual([undefined, { ...key("b"), s: S("x") }]);
});
