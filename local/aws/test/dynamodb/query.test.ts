// Query and Scan: which items, in which order, page by page.
import { expect, test } from "vitest";
import { type Answer, invalid, key, N, S, type Value, world } from "../support/dynamodb-world.ts";

const pad = (number: number) => String(number).padStart(3, "0");

async function filled(items: number, more: (at: number) => Record<string, Value> = () => ({})) {
  const the = await world();
  for (let at = 0; at < items; at++) await the.put({ ...key("p", pad(at)), ...more(at) });
  await the.put(key("other", pad(1)));
  const query = (condition: string, values: Record<string, Value> = {}, rest = {}) =>
    the.call("Query", {
      KeyConditionExpression: condition,
      ExpressionAttributeValues: { ":p": S("p"), ...values },
      ...rest,
    });
  return { ...the, query };
}

const sortKeys = ({ Items }: Answer) => Items!.map(({ sk }) => Number(sk!.S));

test.each<[string, Record<string, Value>, number[]]>([
  ["pk = :p", {}, [0, 1, 2, 3, 4]],
  [":p = pk", {}, [0, 1, 2, 3, 4]],
  ["pk = :p AND sk = :a", { ":a": S("002") }, [2]],
  ["sk = :a AND pk = :p", { ":a": S("002") }, [2]],
  ["pk = :p AND sk < :a", { ":a": S("002") }, [0, 1]],
  ["pk = :p AND sk <= :a", { ":a": S("002") }, [0, 1, 2]],
  ["pk = :p AND sk > :a", { ":a": S("002") }, [3, 4]],
  ["pk = :p AND sk >= :a", { ":a": S("002") }, [2, 3, 4]],
  ["pk = :p AND :a > sk", { ":a": S("002") }, [0, 1]],
  ["pk = :p AND sk BETWEEN :a AND :b", { ":a": S("001"), ":b": S("003") }, [1, 2, 3]],
  ["pk = :p AND begins_with(sk, :a)", { ":a": S("00") }, [0, 1, 2, 3, 4]],
  ["pk = :p AND begins_with(sk, :a)", { ":a": S("004") }, [4]],
  ["(pk = :p) AND (sk > :a)", { ":a": S("003") }, [4]],
  ["pk = :p AND sk > :a", { ":a": S("9") }, []],
])("%s %o", async (condition, values, wanted) => {
  const { query } = await filled(5);
  expect(sortKeys(await query(condition, values))).toEqual(wanted);
  expect(sortKeys(await query(condition, values, { ScanIndexForward: false }))).toEqual(wanted.toReversed());
});

test("begins_with takes prefixes up to the last character there is", async () => {
  const { put, query } = await filled(0);
  for (const sk of ["a", "a\u{10ffff}", "a\u{10ffff}z", "b"]) await put(key("p", sk));
  expect((await query("pk = :p AND begins_with(sk, :a)", { ":a": S("a") })).Count).toBe(3);
});

test("pages join without gap or repeat, both ways, and an exact last page still gives a key", async () => {
  const { query } = await filled(6);
  for (const ScanIndexForward of [true, false]) {
    const seen: number[] = [];
    const pages: number[] = [];
    let ExclusiveStartKey: unknown;
    do {
      const page: Answer = await query(
        "pk = :p",
        {},
        {
          Limit: 3,
          ScanIndexForward,
          ...(ExclusiveStartKey !== undefined && { ExclusiveStartKey }),
        },
      );
      seen.push(...sortKeys(page));
      pages.push(page.Count!);
      ExclusiveStartKey = page.LastEvaluatedKey;
    } while (ExclusiveStartKey);
    expect(pages).toEqual([3, 3, 0]);
    expect(seen).toEqual(ScanIndexForward ? [0, 1, 2, 3, 4, 5] : [5, 4, 3, 2, 1, 0]);
  }
});

test("a page stops once it is over 1 MB, with the item that took it there", async () => {
  const { query } = await filled(5, () => ({ v: S("x".repeat(300 * 1024)) }));
  const first = await query("pk = :p");
  expect(first.Count).toBe(4);
  expect(first.LastEvaluatedKey).toEqual(key("p", "003"));
  const rest = await query("pk = :p", {}, { ExclusiveStartKey: first.LastEvaluatedKey });
  expect(sortKeys(rest)).toEqual([4]);
  expect(rest.LastEvaluatedKey).toBeUndefined();
});

test("a filter works after the limit: scanned and returned counts differ", async () => {
  const { query } = await filled(6, (at) => ({ n: N(at) }));
  const page = await query("pk = :p", { ":n": N(3) }, { FilterExpression: "n >= :n", Limit: 4 });
  expect(page).toEqual({
    Items: [{ ...key("p", "003"), n: N(3) }],
    Count: 1,
    ScannedCount: 4,
    LastEvaluatedKey: key("p", "003"),
  });
});

test("COUNT answers no items, a projection only its paths", async () => {
  const { query } = await filled(2, (at) => ({ n: N(at), m: { M: { x: N(1), y: N(2) } } }));
  expect(await query("pk = :p", {}, { Select: "COUNT" })).toEqual({ Count: 2, ScannedCount: 2 });
  expect((await query("pk = :p", {}, { ProjectionExpression: "n, m.x" })).Items).toEqual([
    { n: N(0), m: { M: { x: N(1) } } },
    { n: N(1), m: { M: { x: N(1) } } },
  ]);
});

const OPERAND = (operator: string, type: string) =>
  `Invalid KeyConditionExpression: Incorrect operand type for operator or function; operator or function: ${operator}, operand type: ${type}`;
const SCHEMA = "One or more parameter values were invalid: Condition parameter type does not match schema type";

test.each<[string, Record<string, Value>, string]>([
  ["sk = :p", {}, "Query condition missed key schema element: pk"],
  ["x = :p", {}, "Query condition missed key schema element: pk"],
  ["pk = :p AND x = :a", { ":a": N(1) }, "Query condition missed key schema element: sk"],
  ["pk > :p", {}, "Query key condition not supported"],
  [
    "pk = :p AND sk > :a AND sk < :b",
    { ":a": S("a"), ":b": S("b") },
    "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key",
  ],
  [
    "pk = :p AND sk > :a AND x = :b",
    { ":a": S("a"), ":b": S("b") },
    "The number of query conditions (3) exceeds the number of key attributes defined in the schema (2)",
  ],
  ["pk = :p OR sk = :a", { ":a": S("a") }, "Invalid operator used in KeyConditionExpression: OR"],
  ["NOT pk = :p", {}, "Invalid operator used in KeyConditionExpression: NOT"],
  ["pk <> :p", {}, "Invalid operator used in KeyConditionExpression: <>"],
  ["pk IN (:p)", {}, "Invalid operator used in KeyConditionExpression: IN"],
  ["attribute_exists(pk) AND sk = :p", {}, "Invalid operator used in KeyConditionExpression: attribute_exists"],
  ["size(pk) = :p", {}, "KeyConditionExpressions cannot contain nested operations"],
  ["pk.x = :p", {}, "KeyConditionExpressions cannot have conditions on nested attributes"],
  [
    "pk = sk AND x = :p",
    {},
    "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition",
  ],
  [":p = :a", { ":a": S("a") }, "Invalid condition in KeyConditionExpression: No key attribute specified"],
  ["pk = :a", { ":a": N(1) }, SCHEMA],
  ["pk = :p AND sk = :a", { ":a": { BOOL: true } }, SCHEMA],
  ["pk = :p AND begins_with(sk, :a)", { ":a": N(1) }, OPERAND("begins_with", "N")],
  ["pk = :p AND sk < :a", { ":a": { BOOL: true } }, OPERAND("<", "BOOL")],
  ["pk = :p AND :a >= sk", { ":a": { BOOL: true } }, OPERAND(">=", "BOOL")],
  ["pk = :p AND sk BETWEEN :a AND :b", { ":a": { BOOL: true }, ":b": { BOOL: true } }, OPERAND("BETWEEN", "BOOL")],
  [
    "pk = :q",
    {},
    "Invalid KeyConditionExpression: An expression attribute value used in expression is not defined; attribute value: :q",
  ],
  ["", {}, "Invalid KeyConditionExpression: The expression can not be empty;"],
])("the key condition %o is refused: %s", async (condition, values, message) => {
  const { refused } = await world();
  expect(
    await refused("Query", {
      KeyConditionExpression: condition,
      ExpressionAttributeValues: { ...(!condition.startsWith("pk = :a") && { ":p": S("p") }), ...values },
    }),
  ).toBe(invalid(message));
});

const START_KEY = "The provided starting key is invalid";
const MISFIT = "The provided key element does not match the schema";

test.each<[string, Record<string, unknown>, string]>([
  [
    "no key condition",
    { KeyConditionExpression: null, ExpressionAttributeValues: null },
    "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.",
  ],
  [
    "a filter on a key",
    { FilterExpression: "sk = :p" },
    "Filter Expression can only contain non-primary key attributes: Primary key attribute: sk",
  ],
  ["no such index", { IndexName: "nowhere" }, "The table does not have the specified index: nowhere"],
  [
    "a limit of 0",
    { Limit: 0 },
    "1 validation error detected: Value at 'Limit' failed to satisfy constraint: Member must have value greater than or equal to 1",
  ],
  ["a start key of another schema", { ExclusiveStartKey: { pk: S("p") } }, START_KEY],
  ["a start key of another type", { ExclusiveStartKey: { pk: S("p"), sk: N(1) } }, MISFIT],
  [
    "a start key of another partition",
    { ExclusiveStartKey: key("q") },
    "The provided starting key is outside query boundaries based on provided conditions",
  ],
  [
    "a selection of no kind",
    { Select: "SOME" },
    "1 validation error detected: Value 'SOME' at 'select' failed to satisfy constraint: Member must satisfy enum value set: [SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES]",
  ],
  [
    "projected attributes of a table",
    { Select: "ALL_PROJECTED_ATTRIBUTES" },
    "1 validation error detected: ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName",
  ],
  [
    "a projection with COUNT",
    { Select: "COUNT", ProjectionExpression: "a" },
    "1 validation error detected: Cannot specify the ProjectionExpression when choosing to get only the Count",
  ],
])("a query with %s is refused", async (_, more, message) => {
  const { refused } = await world();
  const base = { KeyConditionExpression: "pk = :p", ExpressionAttributeValues: { ":p": S("p") } };
  expect(await refused("Query", { ...base, ...more })).toBe(invalid(message));
});

test("a start key outside the stretch of sort keys is refused", async () => {
  const { refused } = await world();
  const base = {
    KeyConditionExpression: "pk = :p AND sk > :s",
    ExpressionAttributeValues: { ":p": S("p"), ":s": S("5") },
  };
  expect(await refused("Query", { ...base, ExclusiveStartKey: key("p", "4") })).toBe(
    invalid("The provided starting key does not match the range key predicate"),
  );
  expect(await refused("Query", { ...base, ExclusiveStartKey: key("q", "6") })).toBe(
    invalid("The query can return at most one row and cannot be restarted"),
  );
});

test("a scan finds everything, page by page, and filters may name keys", async () => {
  const { call } = await filled(7);
  const seen: unknown[] = [];
  let page: Answer = {};
  do {
    page = await call("Scan", { Limit: 3, ...(page.LastEvaluatedKey && { ExclusiveStartKey: page.LastEvaluatedKey }) });
    seen.push(...page.Items!);
  } while (page.LastEvaluatedKey);
  expect(seen).toHaveLength(8);
  const filter = { FilterExpression: "pk = :o", ExpressionAttributeValues: { ":o": S("other") } };
  expect(await call("Scan", filter)).toMatchObject({ Count: 1, ScannedCount: 8 });
});

test("the segments of a scan share the items out, each to one segment, partitions kept whole", async () => {
  const { put, call } = await world();
  for (let at = 0; at < 60; at++) await put(key(`p${at % 20}`, pad(at)));
  const segments = await Promise.all(
    [0, 1, 2, 3].map(async (Segment) => (await call("Scan", { Segment, TotalSegments: 4 })).Items!),
  );
  expect(segments.flat()).toHaveLength(60);
  const partitions = segments.map((items) => [...new Set(items.map(({ pk }) => pk!.S))]);
  expect(new Set(partitions.flat()).size).toBe(partitions.flat().length);
  expect(partitions.filter((names) => names.length > 0).length).toBeGreaterThan(1);
});

test.each<[Record<string, unknown>, string]>([
  [
    { Segment: 1 },
    "The TotalSegments parameter is required but was not present in the request when Segment parameter is present",
  ],
  [
    { TotalSegments: 4 },
    "The Segment parameter is required but was not present in the request when parameter TotalSegments is present",
  ],
  [
    { Segment: 4, TotalSegments: 4 },
    "The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: 4 is not less than TotalSegments: 4",
  ],
  [
    { Limit: 0 },
    "1 validation error detected: Value '0' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1",
  ],
])("a scan with %o is refused", async (input, message) => {
  const { refused } = await world();
  expect(await refused("Scan", input)).toBe(invalid(message));
});
