// Secondary indexes: sparse entries, projections, refusals, and looking back in time.
import { expect, test } from "vitest";
import { type Answer, enveloped, invalid, key, N, S, type TableOptions, world } from "../support/dynamodb-world.ts";

const indexes: NonNullable<TableOptions["indexes"]> = {
  byStatus: { hash: ["kind", "S"], range: ["at", "N"] },
  keysOnly: { hash: ["kind", "S"], projection: { ProjectionType: "KEYS_ONLY" } },
  some: { hash: ["kind", "S"], projection: { ProjectionType: "INCLUDE", NonKeyAttributes: ["a", "b"] } },
};

const indexed = () => world({ table: { indexes } });
type World = Awaited<ReturnType<typeof indexed>>;

const byKind = ({ call }: World, IndexName: string, more = {}) =>
  call("Query", {
    IndexName,
    KeyConditionExpression: "kind = :k",
    ExpressionAttributeValues: { ":k": S("x") },
    ...more,
  });

test("an index holds only items that have all its keys, in the order of its sort key", async () => {
  const the = await indexed();
  await the.put({ ...key("a"), kind: S("x"), at: N(10) });
  await the.put({ ...key("b"), kind: S("x"), at: N(9) });
  await the.put({ ...key("c"), kind: S("x") });
  await the.put({ ...key("d"), at: N(1) });
  const names = ({ Items }: Answer) => Items!.map(({ pk }) => pk!.S);
  expect(names(await byKind(the, "byStatus"))).toEqual(["b", "a"]);
  expect(names(await byKind(the, "keysOnly")).sort()).toEqual(["a", "b", "c"]);
});

test("an index shows what it projects", async () => {
  const the = await indexed();
  const item = { ...key("a"), kind: S("x"), at: N(1), a: S("a"), c: S("c") };
  await the.put(item);
  expect((await byKind(the, "byStatus")).Items).toEqual([item]);
  expect((await byKind(the, "keysOnly")).Items).toEqual([{ ...key("a"), kind: S("x") }]);
  expect((await byKind(the, "some")).Items).toEqual([{ ...key("a"), kind: S("x"), a: S("a") }]);
});

test("an index follows every change of its items", async () => {
  const the = await indexed();
  const count = async () => (await byKind(the, "byStatus")).Count;
  await the.put({ ...key("a"), kind: S("x"), at: N(1), v: S("old") });
  await the.update(key("a"), "SET v = :v", { ":v": S("new") });
  expect((await byKind(the, "byStatus")).Items![0]!.v).toEqual(S("new"));
  await the.update(key("a"), "SET kind = :k", { ":k": S("y") });
  expect(await count()).toBe(0);
  await the.update(key("a"), "SET kind = :k", { ":k": S("x") });
  expect(await count()).toBe(1);
  await the.update(key("a"), "REMOVE kind");
  expect(await count()).toBe(0);
  await the.put({ ...key("a"), kind: S("x"), at: N(1) });
  await the.call("DeleteItem", { Key: key("a") });
  expect(await count()).toBe(0);
});

test("items with one index key are paged without gap or repeat", async () => {
  const the = await indexed();
  for (let at = 0; at < 7; at++) await the.put({ ...key(`p${at}`), kind: S("x"), at: N(1) });
  const seen: unknown[] = [];
  let page: Answer = {};
  do {
    page = await byKind(the, "byStatus", {
      Limit: 2,
      ...(page.LastEvaluatedKey && { ExclusiveStartKey: page.LastEvaluatedKey }),
    });
    seen.push(...page.Items!.map(({ pk }) => pk!.S));
    if (page.LastEvaluatedKey) expect(Object.keys(page.LastEvaluatedKey).sort()).toEqual(["at", "kind", "pk", "sk"]);
  } while (page.LastEvaluatedKey);
  expect(seen.sort()).toEqual(["p0", "p1", "p2", "p3", "p4", "p5", "p6"]);
  expect((await the.call("Scan", { IndexName: "keysOnly" })).Count).toBe(7);
});

test("an index key of the wrong type, or empty, is refused on every way in", async () => {
  const { refused, put, call } = await indexed();
  const mismatch =
    "One or more parameter values were invalid: Type mismatch for Index Key kind Expected: S Actual: N IndexName: byStatus";
  const empty =
    "One or more parameter values are not valid. A value specified for a secondary index key is not supported. The AttributeValue for a key attribute cannot contain an empty string value. IndexName: byStatus, IndexKey: kind";
  const emptyUpdate =
    "One or more parameter values are not valid. The update expression attempted to update a secondary index key to a value that is not supported. The AttributeValue for a key attribute cannot contain an empty string value.";
  expect(await refused("PutItem", { Item: { ...key("a"), kind: N(1) } })).toBe(invalid(mismatch));
  expect(await refused("PutItem", { Item: { ...key("a"), kind: S("") } })).toBe(invalid(empty));
  await put({ ...key("a"), n: N(1) });
  const update = (UpdateExpression: string, value?: unknown) =>
    refused("UpdateItem", {
      Key: key("a"),
      UpdateExpression,
      ...(value !== undefined && { ExpressionAttributeValues: { ":v": value } }),
    });
  expect(await update("SET kind = :v", N(1))).toBe(invalid(mismatch));
  expect(await update("SET kind = :v", S(""))).toBe(invalid(emptyUpdate));
  expect(await update("SET kind = n")).toBe(
    invalid("The update expression attempted to update the secondary index key to unsupported type"),
  );
  expect((await call("Scan", { IndexName: "keysOnly" })).Count).toBe(0);
});

test("what an index cannot answer is refused", async () => {
  const { refused } = await indexed();
  const query = (more: object) =>
    refused("Query", { KeyConditionExpression: "kind = :k", ExpressionAttributeValues: { ":k": S("x") }, ...more });
  expect(await query({ IndexName: "byStatus", ConsistentRead: true })).toBe(
    invalid("Consistent reads are not supported on global secondary indexes"),
  );
  expect(await query({ IndexName: "keysOnly", Select: "ALL_ATTRIBUTES" })).toBe(
    invalid(
      "One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global secondary index keysOnly because its projection type is not ALL",
    ),
  );
  expect(await query({ IndexName: "keysOnly", ProjectionExpression: "a" })).toBe(
    invalid("One or more parameter values were invalid: Global secondary index keysOnly does not project [a]"),
  );
});

test("index data can be made to lag, reads of the table never do", async () => {
  let lag = 0;
  const the = await world({ table: { indexes }, faults: { indexLag: () => lag } });
  const kinds = async () => (await byKind(the, "byStatus")).Items!.map(({ v }) => v!.S);
  await the.put({ ...key("a"), kind: S("x"), at: N(1), v: S("one") });
  the.clock.jumpTo(the.clock.now() + 1000);
  await the.update(key("a"), "SET v = :v", { ":v": S("two") });
  await the.put({ ...key("b"), kind: S("x"), at: N(2), v: S("fresh") });
  expect(await kinds()).toEqual(["two", "fresh"]);
  lag = 500;
  expect(await kinds()).toEqual(["one"]);
  expect((await the.get(key("a")))!.v).toEqual(S("two"));
  lag = 5000;
  expect(await kinds()).toEqual([]);
  the.clock.jumpTo(the.clock.now() + 600);
  lag = 500;
  expect(await kinds()).toEqual(["two", "fresh"]);
});

test("the constants of an update of an index key are still checked first for their own form", async () => {
  const { refused } = await indexed();
  expect(
    await refused("UpdateItem", {
      Key: key("a"),
      UpdateExpression: "SET kind = :v",
      ExpressionAttributeValues: { ":v": N("x") },
    }),
  ).toBe(enveloped("The parameter cannot be converted to a numeric value: x"));
});

test("a query's filter may only name what its index holds", async () => {
  const { refused } = await world({
    table: { indexes: { byKind: { hash: ["kind", "S"], projection: { ProjectionType: "KEYS_ONLY" } } } },
  });
  const query = {
    IndexName: "byKind",
    KeyConditionExpression: "kind = :k",
    FilterExpression: "b = :k AND a = :k",
    ExpressionAttributeValues: { ":k": S("k") },
  };
  expect(await refused("Query", query)).toBe(
    invalid(
      "One or more parameter values were invalid: Secondary index byKind does not project one or more filter attributes: [a, b]",
    ),
  );
});
