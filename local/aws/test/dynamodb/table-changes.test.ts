// Contradictory definitions, which old items a new index includes, and the description of a deleted table.
import { expect, test } from "vitest";
import type { Wire } from "../../stand-in.ts";
import { type Item, invalid, key, N, S, tableInput, world } from "../support/dynamodb-world.ts";

const byG = { IndexName: "byG", KeySchema: [{ AttributeName: "g", KeyType: "HASH" }] };
const all = { Projection: { ProjectionType: "ALL" } };
const definition = (AttributeName: string, AttributeType = "S") => ({ AttributeName, AttributeType });
const INVALID = "One or more parameter values were invalid: ";

test("an attribute is defined once, an index projects it once and by a text", async () => {
  const { refused } = await world({ table: false });
  const table = { ...tableInput(), AttributeDefinitions: [definition("pk"), definition("sk"), definition("g")] };
  const twice = { ...table, AttributeDefinitions: [...table.AttributeDefinitions, definition("g", "N")] };
  expect(await refused("CreateTable", { ...twice, GlobalSecondaryIndexes: [{ ...byG, ...all }] })).toBe(
    invalid(`${INVALID}Duplicate AttributeName in AttributeDefinitions: g`),
  );
  const including = (...NonKeyAttributes: unknown[]) => ({
    ...table,
    GlobalSecondaryIndexes: [{ ...byG, Projection: { ProjectionType: "INCLUDE", NonKeyAttributes } }],
  });
  expect(await refused("CreateTable", including("a", "a"))).toBe(
    invalid(`${INVALID}Duplicate value in NonKeyAttributes: a`),
  );
  expect(await refused("CreateTable", including("a", 1))).toMatch(/^Serialization: /);
});

const adding = (Create: object, type = "S") => ({
  TableName: "things",
  AttributeDefinitions: [definition("g", type)],
  GlobalSecondaryIndexUpdates: [{ Create }],
});

test("an index cannot take an attribute for another type than the table does", async () => {
  const { call, refused } = await world();
  await call("UpdateTable", adding({ ...byG, ...all }));
  expect(await refused("UpdateTable", adding({ ...byG, ...all, IndexName: "byN" }, "N"))).toBe(
    invalid(
      `${INVALID}Attributes cannot be redefined. Please check that your attribute has the same type as previously defined. Existing schema: Schema:[SchemaElement: key{g:S:HASH}] New schema: Schema:[SchemaElement: key{g:N:HASH}]`,
    ),
  );
});

test("one update of an index does one thing", async () => {
  const { refused } = await world();
  const { GlobalSecondaryIndexUpdates: updates, ...rest } = adding({ ...byG, ...all });
  const both = [{ ...updates[0], Delete: { IndexName: "other" } }];
  expect(await refused("UpdateTable", { ...rest, GlobalSecondaryIndexUpdates: both })).toMatch(/^Validation: .*one/);
});

test("a new index leaves out the items that it could not have taken", async () => {
  const { put, call } = await world();
  const sized = (length: number): Item => ({ ...key(`of ${length}`), g: S("x".repeat(length)) });
  for (const item of [sized(0), sized(1), sized(1_024), sized(1_025), sized(2_048), sized(2_049)]) await put(item);
  await put({ ...key("a number"), g: N(1) });
  await put(key("nothing"));
  await call("UpdateTable", adding({ ...byG, ...all }));
  const asRange = {
    IndexName: "byRange",
    KeySchema: [
      { AttributeName: "sk", KeyType: "HASH" },
      { AttributeName: "g", KeyType: "RANGE" },
    ],
  };
  const { AttributeDefinitions, ...ranged } = adding({ ...asRange, ...all });
  await call("UpdateTable", { ...ranged, AttributeDefinitions: [...AttributeDefinitions, definition("sk")] });
  const held = async (IndexName: string) =>
    (await call("Scan", { IndexName })).Items!.map(({ pk }) => String(pk!.S)).sort();
  expect(await held("byG")).toEqual(["of 1", "of 1024", "of 1025", "of 2048"]);
  expect(await held("byRange")).toEqual(["of 1", "of 1024"]);
});

test("the description of a deleted table has no keys, indexes or creation time", async () => {
  const { call } = await world({ table: { indexes: { byG: { hash: ["g", "S"] } } } });
  const { TableDescription } = await call("DeleteTable", { TableName: "things" });
  expect(TableDescription).toMatchObject({ TableName: "things", TableStatus: "DELETING", ItemCount: 0 });
  for (const gone of ["KeySchema", "AttributeDefinitions", "GlobalSecondaryIndexes", "CreationDateTime"])
    expect(TableDescription).not.toHaveProperty(gone);
});

test("batches and transactions refuse what is not there instead of an item", async () => {
  const { refused } = await world();
  const absent: [string, Wire][] = [
    ["BatchWriteItem", { RequestItems: { things: null } }],
    ["BatchWriteItem", { RequestItems: { things: [null] } }],
    ["BatchWriteItem", { RequestItems: { things: [{ PutRequest: {} }] } }],
    ["BatchWriteItem", { RequestItems: { things: [{ DeleteRequest: { Key: null } }] } }],
    ["BatchGetItem", { RequestItems: { things: null } }],
    ["BatchGetItem", { RequestItems: { things: { Keys: [null] } } }],
    ["TransactWriteItems", { TransactItems: [null] }],
    ["TransactGetItems", { TransactItems: [null] }],
  ];
  for (const [operation, input] of absent) expect(await refused(operation, input)).toMatch(/^Validation: /);
});
