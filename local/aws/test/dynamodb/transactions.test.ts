// Transactions: all or nothing, reasons in order, once per client token.
import { expect, test } from "vitest";
import { openDatabase } from "../../database.ts";
import type { Wire } from "../../stand-in.ts";
import { MINUTE } from "../../time.ts";
import { type Item, invalid, key, N, S, type WorldOptions, world } from "../support/dynamodb-world.ts";

const TableName = "things";
const putting = (item: Item, more: Wire = {}) => ({ Put: { TableName, Item: item, ...more } });
const deleting = (of: Item, more: Wire = {}) => ({ Delete: { TableName, Key: of, ...more } });
const checking = (of: Item, ConditionExpression: string, more: Wire = {}) => ({
  ConditionCheck: { TableName, Key: of, ConditionExpression, ...more },
});
const updating = (of: Item, UpdateExpression: string, values?: Item) => ({
  Update: {
    TableName,
    Key: of,
    UpdateExpression,
    ...(values && { ExpressionAttributeValues: values }),
  },
});
const getting = (of: Item, more: Wire = {}) => ({ Get: { TableName, Key: of, ...more } });

const CANCELLED = "Transaction cancelled, please refer cancellation reasons for specific reasons ";

async function start(options: WorldOptions = {}) {
  const the = await world(options);
  const write = (TransactItems: Wire[], more: Wire = {}) => the.call("TransactWriteItems", { TransactItems, ...more });
  const writeRefused = (TransactItems: Wire[], more: Wire = {}) =>
    the.failure("TransactWriteItems", { TransactItems, ...more });
  return { ...the, write, writeRefused };
}

test("every kind of action happens, or none does", async () => {
  const { put, get, write, writeRefused } = await start();
  await put({ ...key("old"), n: N(1) });
  await put({ ...key("gone") });
  await put({ ...key("seen") });
  const actions = [
    putting({ ...key("new"), v: S("v") }, { ConditionExpression: "attribute_not_exists(pk)" }),
    updating(key("old"), "SET n = n + :one", { ":one": N(1) }),
    deleting(key("gone")),
    checking(key("seen"), "attribute_exists(pk)"),
  ];
  const { message } = await writeRefused([...actions, checking(key("absent"), "attribute_exists(pk)")]);
  expect(message).toBe(`${CANCELLED}[None, None, None, None, ConditionalCheckFailed]`);
  expect([await get(key("new")), (await get(key("old")))!.n, await get(key("gone"))]).toEqual([
    undefined,
    N(1),
    key("gone"),
  ]);

  expect(await write(actions)).toEqual({});
  expect([await get(key("new")), (await get(key("old")))!.n, await get(key("gone"))]).toEqual([
    { ...key("new"), v: S("v") },
    N(2),
    undefined,
  ]);
});

test("the reasons stand in the order of the actions, with the items that were asked for", async () => {
  const { put, writeRefused } = await start();
  await put({ ...key("a"), n: N(1) });
  const { name, fields } = await writeRefused([
    putting(key("free")),
    deleting(key("a"), {
      ConditionExpression: "n = :n",
      ExpressionAttributeValues: { ":n": N(2) },
      ReturnValuesOnConditionCheckFailure: "ALL_OLD",
    }),
    updating(key("b"), "SET n = n + :n", { ":n": N(1) }),
    checking(key("c"), "attribute_exists(pk)", { ReturnValuesOnConditionCheckFailure: "ALL_OLD" }),
  ]);
  expect(name).toBe("TransactionCanceledException");
  expect(fields.CancellationReasons).toEqual([
    { Code: "None" },
    { Code: "ConditionalCheckFailed", Message: "The conditional request failed", Item: { ...key("a"), n: N(1) } },
    {
      Code: "ValidationError",
      Message: "The provided expression refers to an attribute that does not exist in the item",
    },
    { Code: "ConditionalCheckFailed", Message: "The conditional request failed" },
  ]);
});

test("a key that does not fit is a reason, an empty one refuses the request", async () => {
  const { writeRefused, refused } = await start();
  const { fields } = await writeRefused([deleting({ pk: N(1), sk: S("1") })]);
  expect(fields.CancellationReasons).toEqual([
    { Code: "ValidationError", Message: "The provided key element does not match the schema" },
  ]);
  expect(await refused("TransactWriteItems", { TransactItems: [deleting(key(""))] })).toBe(
    invalid(
      "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: pk",
    ),
  );
});

const SEVERAL = "Transaction request cannot include multiple operations on one item";
const many = (count: number) => Array.from({ length: count }, (_, at) => putting(key(`p${at}`)));

test.each<[string, Wire[], string]>([
  [
    "no actions",
    [],
    "1 validation error detected: Value at 'TransactItems' failed to satisfy constraint: Member must have length greater than or equal to 1",
  ],
  [
    "101 actions",
    many(101),
    "1 validation error detected: Value at 'TransactItems' failed to satisfy constraint: Member must have length less than or equal to 100",
  ],
  ["two actions on one item", [putting(key("a")), checking(key("a"), "attribute_exists(pk)")], SEVERAL],
  [
    "two actions in one",
    [{ ...putting(key("a")), ...deleting(key("b")) }],
    "TransactItems can only contain one of Check, Put, Update or Delete",
  ],
  [
    "a broken expression",
    [checking(key("a"), "a = = b")],
    'Invalid ConditionExpression: Syntax error; token: "=", near: "= = b"',
  ],
  [
    "an unused value, on a table that is not there",
    [
      { Put: { TableName: "nowhere", Item: key("a") } },
      checking(key("b"), "attribute_exists(pk)", { ExpressionAttributeValues: { ":v": N(1) } }),
    ],
    "Value provided in ExpressionAttributeValues unused in expressions: keys: {:v}",
  ],
  [
    "a bad number in a value",
    [updating(key("a"), "SET n = :n", { ":n": N("x") })],
    "ExpressionAttributeValues contains invalid value: The parameter cannot be converted to a numeric value: x for key :n",
  ],
  [
    "more than 4 MB",
    Array.from({ length: 11 }, (_, at) => putting({ ...key(`p${at}`), v: S("x".repeat(390 * 1024)) })),
    "Transaction payload size cannot exceed 4MB. Payload Size: 4393049",
  ],
  [
    "an item over 400 KB",
    [putting({ ...key("a"), v: S("x".repeat(400 * 1024)) })],
    "Item size has exceeded the maximum allowed size",
  ],
])("a transaction of %s is refused", async (_, TransactItems, message) => {
  const { refused } = await start();
  expect(await refused("TransactWriteItems", { TransactItems })).toBe(invalid(message));
});

test("100 actions are taken; a missing table is not found", async () => {
  const { write, call, refused } = await start();
  await write(many(100));
  expect((await call("Scan", { Select: "COUNT" })).Count).toBe(100);
  expect(
    await refused("TransactWriteItems", { TransactItems: [{ Put: { TableName: "nowhere", Item: key("a") } }] }),
  ).toBe("ResourceNotFound: Requested resource not found");
});

const stores = [
  ["memory", ":memory:"],
  ["a file", ""],
] as const;

test.each(stores)("a client token makes a transaction happen once in ten minutes, kept in %s", async (_, file) => {
  const { write, writeRefused, get, clock } = await start({ database: openDatabase(file) });
  const once = () => write([updating(key("a"), "ADD n :one", { ":one": N(1) })], { ClientRequestToken: "token" });
  await once();
  await once();
  expect((await get(key("a")))!.n).toEqual(N(1));
  const other = await writeRefused([putting(key("b"))], { ClientRequestToken: "token" });
  expect(other.name).toBe("IdempotentParameterMismatchException");

  clock.jumpTo(clock.now() + 10 * MINUTE - 1);
  await once();
  expect((await get(key("a")))!.n).toEqual(N(1));
  clock.jumpTo(clock.now() + 1);
  await once();
  expect((await get(key("a")))!.n).toEqual(N(2));
});

test.each(stores)(
  "a repeat of a transaction whose members come in another order is the same transaction, kept in %s",
  async (_, file) => {
    const { write, get } = await start({ database: openDatabase(file) });
    const first = updating(key("a"), "ADD n :one", { ":one": N(1) });
    const again = { Update: Object.fromEntries(Object.entries(first.Update).reverse()) };

    await write([first], { ClientRequestToken: "token" });
    await write([again], { ClientRequestToken: "token" });

    expect((await get(key("a")))!.n).toEqual(N(1));
  },
);

test("a cancelled transaction does not use its token up", async () => {
  const { put, write, writeRefused } = await start();
  const check = [checking(key("a"), "attribute_exists(pk)")];
  await writeRefused(check, { ClientRequestToken: "token" });
  await put(key("a"));
  await write(check, { ClientRequestToken: "token" });
});

test("a transaction reads items as of one moment, absent ones as nothing", async () => {
  const { put, call } = await start();
  await put({ ...key("a"), n: N(1), m: N(2) });
  const answer = await call("TransactGetItems", {
    TransactItems: [getting(key("absent")), getting(key("a"), { ProjectionExpression: "n" })],
  });
  expect(answer.Responses).toEqual([{}, { Item: { n: N(1) } }]);
});

test("what a transaction cannot read is refused", async () => {
  const { refused, failure } = await start();
  expect(await refused("TransactGetItems", { TransactItems: [getting(key("a")), getting(key("a"))] })).toBe(
    invalid(SEVERAL),
  );
  const { message, fields } = await failure("TransactGetItems", { TransactItems: [getting(key("a")), getting({})] });
  expect(message).toBe(`${CANCELLED}[None, ValidationError]`);
  expect(fields.CancellationReasons).toEqual([
    { Code: "None" },
    { Code: "ValidationError", Message: "The provided key element does not match the schema" },
  ]);
});

test("the first action that is wrong by itself is reported, and later ones are not looked at", async () => {
  const { failure } = await start();
  const wrong = { ...key("a"), pk: N(1) };
  const TransactItems = [
    putting(key("fine")),
    putting(wrong),
    putting(wrong),
    checking(key("absent"), "attribute_exists(pk)"),
  ];
  const { fields } = await failure("TransactWriteItems", { TransactItems });
  expect((fields.CancellationReasons as { Code: string }[]).map(({ Code }) => Code)).toEqual([
    "None",
    "ValidationError",
    "None",
    "None",
  ]);
});
