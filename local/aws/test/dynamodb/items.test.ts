// Put, get, update and delete of single items: what they answer and what they refuse.
import { expect, test } from "vitest";
import { enveloped, invalid, key, N, S, world } from "../support/dynamodb-world.ts";

test("a put replaces the whole item and can answer the old one", async () => {
  const { put, get } = await world();
  expect(await put({ ...key("a"), x: N(1) }, { ReturnValues: "ALL_OLD" })).toEqual({});
  expect(await put({ ...key("a"), y: N(2) }, { ReturnValues: "ALL_OLD" })).toEqual({
    Attributes: { ...key("a"), x: N(1) },
  });
  expect(await get(key("a"))).toEqual({ ...key("a"), y: N(2) });
});

test("a delete removes the item, can answer it, and does not mind its absence", async () => {
  const { put, get, call } = await world();
  await put({ ...key("a"), x: N(1) });
  expect(await call("DeleteItem", { Key: key("a"), ReturnValues: "ALL_OLD" })).toEqual({
    Attributes: { ...key("a"), x: N(1) },
  });
  expect(await call("DeleteItem", { Key: key("a"), ReturnValues: "ALL_OLD" })).toEqual({});
  expect(await get(key("a"))).toBeUndefined();
});

test("an update makes the item it does not find, even without an expression", async () => {
  const { call, get, update } = await world();
  await update(key("a"), "SET x = :x", { ":x": N(1) });
  await call("UpdateItem", { Key: key("b") });
  expect(await get(key("a"))).toEqual({ ...key("a"), x: N(1) });
  expect(await get(key("b"))).toEqual(key("b"));
});

test.each([
  ["NONE", undefined],
  ["ALL_OLD", { ...key("a"), n: N(1), m: { M: { x: N(1), y: N(1) } } }],
  ["UPDATED_OLD", { n: N(1), m: { M: { x: N(1) } } }],
  ["ALL_NEW", { ...key("a"), n: N(2), m: { M: { x: N(2), y: N(1) } }, fresh: S("f") }],
  ["UPDATED_NEW", { n: N(2), m: { M: { x: N(2) } }, fresh: S("f") }],
])("an update answers %s", async (ReturnValues, attributes) => {
  const { put, update } = await world();
  await put({ ...key("a"), n: N(1), m: { M: { x: N(1), y: N(1) } } });
  const answer = await update(
    key("a"),
    "SET n = :n, m.x = :n, fresh = :f",
    { ":n": N(2), ":f": S("f") },
    { ReturnValues },
  );
  expect(answer.Attributes).toEqual(attributes);
});

test("a projection picks paths, and lists close up", async () => {
  const { put, get } = await world();
  await put({
    ...key("a"),
    l: { L: [N(0), N(1), { M: { x: S("x"), y: S("y") } }] },
    m: { M: { "a.b": N(1), c: N(2) } },
  });
  const projected = (ProjectionExpression: string, ExpressionAttributeNames?: Record<string, string>) =>
    get(key("a"), { ProjectionExpression, ...(ExpressionAttributeNames && { ExpressionAttributeNames }) });
  expect(await projected("l[2].x, l[0]")).toEqual({ l: { L: [N(0), { M: { x: S("x") } }] } });
  expect(await projected("m.#dotted, pk", { "#dotted": "a.b" })).toEqual({ pk: S("a"), m: { M: { "a.b": N(1) } } });
  expect(await projected("absent, m.absent, l[9]")).toEqual({});
});

test.each([
  [
    "a, a",
    "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a], path two: [a]",
  ],
  [
    "a.b, a",
    "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a, b], path two: [a]",
  ],
  [
    "a[0], a.b",
    "Two document paths conflict with each other; must remove or rewrite one of these paths; path one: [a, [0]], path two: [a, b]",
  ],
  ["", "The expression can not be empty;"],
  ["a,", 'Syntax error; token: "<EOF>", near: ","'],
  ["!!! x", 'Syntax error; token: "!", near: "!!"'],
  ["size", "Attribute name is a reserved keyword; reserved keyword: size"],
  ["#n", "An expression attribute name used in the document path is not defined; attribute name: #n"],
])("the projection %o is refused", async (ProjectionExpression, message) => {
  const { refused } = await world();
  expect(await refused("GetItem", { Key: key("a"), ProjectionExpression })).toBe(
    invalid(`Invalid ProjectionExpression: ${message}`),
  );
});

test("a projection may not reach into a key", async () => {
  const { refused } = await world();
  expect(await refused("GetItem", { Key: key("a"), ProjectionExpression: "pk.x" })).toBe(
    invalid("Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: Key: pk"),
  );
});

test("a table that is not there is not found, whatever else is right", async () => {
  const { refused } = await world();
  for (const [operation, input] of [
    ["GetItem", { Key: key("a") }],
    ["PutItem", { Item: key("a") }],
    ["DeleteItem", { Key: key("a") }],
    ["UpdateItem", { Key: key("a") }],
    ["Scan", {}],
  ] as const)
    expect(await refused(operation, { ...input, TableName: "nowhere" })).toBe(
      "ResourceNotFound: Requested resource not found",
    );
});

test("a table may be named by its ARN", async () => {
  const { call } = await world();
  const TableName = "arn:aws:dynamodb:us-east-1:000000000000:table/things";
  await call("PutItem", { TableName, Item: key("a") });
  expect((await call("GetItem", { TableName, Key: key("a") })).Item).toEqual(key("a"));
});

const RETURN_VALUES =
  "Failed to satisfy constraint: Member must satisfy enum value set: [ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]";

test.each<[string, string, Record<string, unknown>, string]>([
  [
    "no table name",
    "PutItem",
    { TableName: null },
    "Value null at 'tableName' failed to satisfy constraint: Member must not be null",
  ],
  [
    "an empty table name, alone",
    "PutItem",
    { TableName: "", ReturnValues: "X" },
    "Value at 'TableName' failed to satisfy constraint: Member must have length greater than or equal to 1",
  ],
  [
    "odd letters",
    "PutItem",
    { TableName: "a b!" },
    "Value 'a b!' at 'tableName' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+",
  ],
  [
    "a long table name",
    "GetItem",
    { TableName: "a".repeat(256), Key: {} },
    `Value '${"a".repeat(256)}' at 'tableName' failed to satisfy constraint: Member must have length less than or equal to 255`,
  ],
  ["no item", "PutItem", { Item: null }, "Value null at 'item' failed to satisfy constraint: Member must not be null"],
  ["no key", "GetItem", {}, "Value null at 'key' failed to satisfy constraint: Member must not be null"],
  [
    "return values of no kind",
    "UpdateItem",
    { Key: {}, ReturnValues: "X", ReturnConsumedCapacity: "X" },
    RETURN_VALUES,
  ],
  [
    "return values of an update at a put",
    "PutItem",
    { ReturnValues: "ALL_NEW" },
    "ReturnValues can only be ALL_OLD or NONE",
  ],
])("%s is refused (%s)", async (_, operation, input, message) => {
  const { refused } = await world();
  const item = operation === "PutItem" ? { Item: key("a") } : {};
  expect(await refused(operation, { ...item, ...input })).toBe(enveloped(message));
});

test("several broken constraints are reported together, in order", async () => {
  const { refused } = await world();
  expect(
    await refused("PutItem", {
      Item: key("a"),
      ReturnConsumedCapacity: "X",
      ReturnValues: "X",
    }),
  ).toBe(
    invalid(
      `2 validation errors detected: Value 'X' at 'returnConsumedCapacity' failed to satisfy constraint: Member must satisfy enum value set: [INDEXES, TOTAL, NONE]; ${RETURN_VALUES}`,
    ),
  );
});

test("what the embedded service does not know is refused loudly", async () => {
  const { refused } = await world();
  for (const member of ["Surprise", "Expected", "ReturnItemCollectionMetrics"])
    expect(await refused("PutItem", { Item: key("a"), [member]: {} })).toBe(
      invalid(`The embedded service does not support the parameter ${member} of PutItem.`),
    );
  expect(await refused("ExecuteTransaction", {})).toBe(
    "UnknownOperation: The embedded service does not know the operation ExecuteTransaction.",
  );
});

test("JSON of the wrong type for a parameter is a serialization fault", async () => {
  const { refused } = await world();
  expect(await refused("GetItem", { Key: key("a"), TableName: 5 })).toBe(
    "Serialization: NUMBER_VALUE cannot be converted to String",
  );
  expect(await refused("GetItem", { Key: key("a"), ConsistentRead: "yes" })).toBe(
    "Serialization: Unexpected token received from parser",
  );
  expect(await refused("GetItem", { Key: "a" })).toBe("Serialization: Unexpected field type");
});
