// The parameters of the days before expressions: Expected, AttributeUpdates, filters, KeyConditions, AttributesToGet.
import { expect, test } from "vitest";
import type { Wire } from "../../../local/aws/stand-in.ts";
import { enveloped, invalid, key, N, S, type Value, world } from "./world.ts";

const PARAMETERS = "One or more parameter values were invalid: ";
const is = (ComparisonOperator: string, ...AttributeValueList: Value[]): Wire => ({
  ComparisonOperator,
  ...(AttributeValueList.length > 0 && { AttributeValueList }),
});

const item = { ...key("a"), s: S("hello"), n: N(5), ss: { SS: ["x", "y"] } };

test.each<[Wire, number]>([
  [{ s: is("EQ", S("hello")) }, 1],
  [{ s: is("NE", S("hello")) }, 0],
  [{ gone: is("NE", S("hello")) }, 1],
  [{ n: is("LT", N(6)) }, 1],
  [{ n: is("LE", N(4)) }, 0],
  [{ n: is("GT", N(4)) }, 1],
  [{ n: is("GE", N("5.0")) }, 1],
  [{ n: is("BETWEEN", N(1), N(5)) }, 1],
  [{ n: is("IN", N(1), N(5)) }, 1],
  [{ s: is("BEGINS_WITH", S("he")) }, 1],
  [{ s: is("CONTAINS", S("ell")) }, 1],
  [{ ss: is("CONTAINS", S("x")) }, 1],
  [{ s: is("NOT_CONTAINS", S("ell")) }, 0],
  [{ s: is("NOT_NULL"), gone: is("NULL") }, 1],
  [{ s: is("NULL"), n: is("EQ", N(5)) }, 0],
])("a scan filter %j finds %i", async (ScanFilter, count) => {
  const { put, call } = await world();
  await put(item);
  expect(await call("Scan", { ScanFilter })).toMatchObject({ Count: count, ScannedCount: 1 });
});

test("filters are joined by AND, or by OR when asked", async () => {
  const { put, call } = await world();
  await put(item);
  const ScanFilter = { s: is("NULL"), n: is("EQ", N(5)) };
  expect((await call("Scan", { ScanFilter, ConditionalOperator: "OR" })).Count).toBe(1);
  expect((await call("Scan", { ScanFilter, ConditionalOperator: "AND" })).Count).toBe(0);
});

test("a write happens when what was expected is there", async () => {
  const { put, call, refused } = await world();
  await put(item);
  await put(item, { Expected: { s: { Value: S("hello") }, gone: { Exists: false } } });
  await call("UpdateItem", {
    Key: key("a"),
    Expected: { n: is("GT", N(4)) },
    AttributeUpdates: { n: { Value: N(6) } },
  });
  expect(await refused("DeleteItem", { Key: key("a"), Expected: { s: { Exists: false } } })).toBe(
    "ConditionalCheckFailed: The conditional request failed",
  );
  await call("DeleteItem", { Key: key("a"), Expected: { n: { Exists: true, Value: N(6) } } });
});

test.each<[Wire, string]>([
  [{ a: {} }, `${PARAMETERS}Value must be provided when Exists is null for Attribute: a`],
  [{ a: { Exists: true } }, `${PARAMETERS}Value must be provided when Exists is true for Attribute: a`],
  [{ a: { Exists: false, Value: N(1) } }, `${PARAMETERS}Value cannot be used when Exists is false for Attribute: a`],
  [
    { a: is("EQ") },
    `${PARAMETERS}Value or AttributeValueList must be used with ComparisonOperator: EQ for Attribute: a`,
  ],
  [{ a: is("BETWEEN", N(1)) }, `${PARAMETERS}Invalid number of argument(s) for the BETWEEN ComparisonOperator`],
  [
    { a: is("BETWEEN", N(2), N(1)) },
    "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound",
  ],
  [{ a: is("IN", N(1), S("x")) }, `${PARAMETERS}AttributeValues inside AttributeValueList must be of same type`],
  [
    { a: is("BEGINS_WITH", N(1)) },
    `${PARAMETERS}ComparisonOperator BEGINS_WITH is not valid for N AttributeValue type`,
  ],
  [
    { a: { ...is("EQ", N(1)), Exists: true } },
    `${PARAMETERS}Exists and ComparisonOperator cannot be used together for Attribute: a`,
  ],
  [
    { a: { AttributeValueList: [N(1)] } },
    `${PARAMETERS}AttributeValueList can only be used with a ComparisonOperator for Attribute: a`,
  ],
  [
    { a: { ...is("EQ", N(1)), Value: N(1) } },
    `${PARAMETERS}Value and AttributeValueList cannot be used together for Attribute: a`,
  ],
])("the expectation %j is refused", async (Expected, message) => {
  const { refused } = await world();
  expect(await refused("PutItem", { Item: key("a"), Expected })).toBe(enveloped(message));
});

test("an operator that combines nothing is refused", async () => {
  const { refused } = await world();
  const put = (more: Wire) => refused("PutItem", { Item: key("a"), ConditionalOperator: "OR", ...more });
  expect(await put({})).toBe(enveloped("ConditionalOperator cannot be used without Filter or Expected"));
  expect(await put({ Expected: { a: { Exists: false } } })).toBe(
    enveloped("ConditionalOperator can only be used when Filter or Expected has two or more elements"),
  );
});

test("an update puts, adds and deletes whole attributes", async () => {
  const { put, call } = await world();
  await put({ ...item, l: { L: [S("1")] }, old: S("x") });
  const AttributeUpdates = {
    s: { Value: S("new") },
    n: { Action: "ADD", Value: N(2) },
    ss: { Action: "DELETE", Value: { SS: ["x"] } },
    l: { Action: "ADD", Value: { L: [S("2")] } },
    old: { Action: "DELETE" },
  };
  const { Attributes } = await call("UpdateItem", { Key: key("a"), AttributeUpdates, ReturnValues: "ALL_NEW" });
  expect(Attributes).toEqual({
    ...key("a"),
    s: S("new"),
    n: N(7),
    ss: { SS: ["y"] },
    l: { L: [S("1"), S("2")] },
  });
});

test.each<[Wire, string]>([
  [{ a: { Action: "PUT" } }, `${PARAMETERS}Only DELETE action is allowed when no attribute value is specified`],
  [{ a: { Action: "ADD", Value: S("x") } }, `${PARAMETERS}ADD action is not supported for the type S`],
  [{ a: { Action: "DELETE", Value: S("x") } }, `${PARAMETERS}DELETE action with value is not supported for the type S`],
])("the update %j is refused", async (AttributeUpdates, message) => {
  const { refused } = await world();
  expect(await refused("UpdateItem", { Key: key("a"), AttributeUpdates })).toBe(enveloped(message));
});

test("an update of another type, or of a key, is refused", async () => {
  const { put, refused } = await world();
  await put(item);
  const update = (AttributeUpdates: Wire) => refused("UpdateItem", { Key: key("a"), AttributeUpdates });
  expect(await update({ s: { Action: "ADD", Value: N(1) } })).toBe(invalid("Type mismatch for attribute to update"));
  expect(await update({ sk: { Value: S("2") } })).toBe(
    invalid(`${PARAMETERS}Cannot update attribute sk. This attribute is part of the key`),
  );
});

test("a query by key conditions, with a filter and a projection", async () => {
  const { put, call } = await world();
  for (const sk of ["1", "2", "3"]) await put({ ...key("p", sk), n: N(sk) });
  const pk = is("EQ", S("p"));
  const query = async (more: Wire) => (await call("Query", more)).Items!.map(({ sk }) => sk?.S);
  expect(await query({ KeyConditions: { pk } })).toEqual(["1", "2", "3"]);
  expect(await query({ KeyConditions: { pk, sk: is("GT", S("1")) } })).toEqual(["2", "3"]);
  expect(await query({ KeyConditions: { pk, sk: is("BETWEEN", S("1"), S("2")) } })).toEqual(["1", "2"]);
  expect(await query({ KeyConditions: { pk }, QueryFilter: { n: is("EQ", N(2)) } })).toEqual(["2"]);
  expect((await call("Query", { KeyConditions: { pk }, AttributesToGet: ["n"], Limit: 1 })).Items).toEqual([
    { n: N(1) },
  ]);
});

test.each<[string, Wire, string]>([
  ["no key", { KeyConditions: {} }, "Conditions can be of length 1 or 2 only"],
  [
    "no order",
    { KeyConditions: { pk: is("EQ", S("p")), sk: is("CONTAINS", S("1")) } },
    "Attempted conditional constraint is not an indexable operation",
  ],
  ["no partition", { KeyConditions: { sk: is("EQ", S("1")) } }, "Query condition missed key schema element: pk"],
  ["a range of partitions", { KeyConditions: { pk: is("GT", S("1")) } }, "Query key condition not supported"],
  [
    "a filter on a key",
    { KeyConditions: { pk: is("EQ", S("p")) }, QueryFilter: { sk: is("EQ", S("1")) } },
    "QueryFilter can only contain non-primary key attributes: Primary key attribute: sk",
  ],
  [
    "names and a count",
    { KeyConditions: { pk: is("EQ", S("p")) }, AttributesToGet: ["n"], Select: "COUNT" },
    "1 validation error detected: Cannot specify the AttributesToGet when choosing to get only the Count",
  ],
])("a query of %s is refused", async (_, input, message) => {
  const { refused } = await world();
  expect(await refused("Query", input)).toBe(invalid(message));
});

test("reads by key show the attributes asked for, each once", async () => {
  const { put, get, call, refused } = await world();
  await put(item);
  expect(await get(key("a"), { AttributesToGet: ["s", "gone"] })).toEqual({ s: S("hello") });
  const RequestItems = { things: { Keys: [key("a")], AttributesToGet: ["n"] } };
  expect((await call("BatchGetItem", { RequestItems })).Responses).toEqual({ things: [{ n: N(5) }] });
  expect(await refused("GetItem", { Key: key("a"), AttributesToGet: ["s", "s"] })).toBe(
    invalid(`${PARAMETERS}Duplicate value in attribute name: s`),
  );
});
