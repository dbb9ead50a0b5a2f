// Condition expressions: what holds, what is rejected, and the response to a failed condition.
import { expect, test } from "vitest";
import { enveloped, invalid, key, N, S, type Value, world } from "../support/dynamodb-world.ts";

const item = {
  ...key("a"),
  t: S("hello"),
  n: N(5),
  same: N("5.0"),
  b: { B: "AAEC" },
  yes: { BOOL: true },
  nil: { NULL: true },
  ss: { SS: ["x", "y"] },
  ns: { NS: ["1", "2"] },
  bs: { BS: ["AA==", "AQ=="] },
  l: { L: [S("x"), N(1), { M: { k: S("v") } }] },
  m: { M: { k: S("v"), deep: { M: { n: N(1) } } } },
};

const values: Record<string, Value> = {
  ":t": S("hello"),
  ":he": S("he"),
  ":z": S("zzz"),
  ":five": N(5),
  ":six": N("6.0"),
  ":one": N(1),
  ":three": N(3),
  ":b": { B: "AAEC" },
  ":b0": { B: "AAE=" },
  ":yes": { BOOL: true },
  ":none": { NULL: true },
  ":ss": { SS: ["y", "x"] },
  ":ns": { NS: ["2.0", "1"] },
  ":x": S("x"),
  ":N": S("N"),
  ":SS": S("SS"),
  ":aa": { B: "AA==" },
  ":map": { M: { deep: { M: { n: N("1.0") } }, k: S("v") } },
  ":kv": { M: { k: S("v") } },
};

test.each([
  ["t = :t", true],
  ["t = :z", false],
  ["t <> :z", true],
  ["absent = :t", false],
  ["absent <> :t", true],
  ["absent < :t", false],
  ["absent = absent2", false],
  ["n = same", true],
  ["n = :t", false],
  ["n <> :t", true],
  ["n < :six", true],
  ["n <= :five", true],
  ["n > :five", false],
  ["n >= :five", true],
  ["t < :z", true],
  ["t < :five", false],
  ["b = :b", true],
  ["b > :b0", true],
  ["yes = :yes", true],
  ["nil = :none", true],
  ["ss = :ss", true],
  ["ns = :ns", true],
  ["m = :map", true],
  ["m <> :kv", true],
  ["l[2] = :kv", true],
  ["m.deep.n = :one", true],
  ["l[1] = :one", true],
  ["l[9] = :one", false],
  ["t.x = :one", false],
  ["n BETWEEN :one AND :six", true],
  ["n BETWEEN :six AND :six", false],
  ["absent BETWEEN :one AND :six", false],
  [":five BETWEEN :one AND n", true],
  ["n IN (:t, :one, :five)", true],
  ["n IN (:t, :one)", false],
  ["absent IN (:t)", false],
  ["attribute_exists(t)", true],
  ["attribute_exists(m.deep)", true],
  ["attribute_exists(m.gone)", false],
  ["attribute_not_exists(l[3])", true],
  ["attribute_not_exists(t)", false],
  ["attribute_type(n, :N)", true],
  ["attribute_type(t, :N)", false],
  ["attribute_type(ss, :SS)", true],
  ["begins_with(t, :he)", true],
  ["begins_with(t, :z)", false],
  ["begins_with(b, :b0)", true],
  ["begins_with(n, :he)", false],
  ["contains(t, :he)", true],
  ["contains(ss, :x)", true],
  ["contains(ns, :one)", true],
  ["contains(bs, :aa)", true],
  ["contains(l, :x)", true],
  ["contains(l, :kv)", true],
  ["contains(l, :z)", false],
  ["contains(n, :one)", false],
  ["size(t) = :five", true],
  ["size(b) = :three", true],
  ["size(l) = :three", true],
  ["size(ss) < :three", true],
  ["size(m) > :one", true],
  ["size(n) = :one", false],
  ["NOT t = :z", true],
  ["NOT (t = :z AND n = :five)", true],
  ["t = :z OR n = :five AND t = :t", true],
  ["(t = :z OR n = :five) AND t = :z", false],
  ["not t = :z and n = :five", true],
  ["(t) = (:t)", true],
])("%s is %s", async (ConditionExpression, holds) => {
  const { put, call, refused } = await world();
  await put(item);
  const used = Object.fromEntries(
    Object.entries(values).filter(([ref]) => new RegExp(`${ref}(?![A-Za-z0-9_])`).test(ConditionExpression)),
  );
  const input = {
    Key: key("a"),
    ConditionExpression,
    ...(Object.keys(used).length > 0 && { ExpressionAttributeValues: used }),
  };
  if (holds) await call("DeleteItem", input);
  else expect(await refused("DeleteItem", input)).toBe("ConditionalCheckFailed: The conditional request failed");
});

const OPERANDS = "Incorrect number of operands for operator or function; operator or function: ";
const TYPE = "Incorrect operand type for operator or function; operator or function: ";

test.each<[string, string, Record<string, Value>?]>([
  ["", "The expression can not be empty;"],
  ["a = ", 'Syntax error; token: "<EOF>", near: "= "'],
  ["a = = b", 'Syntax error; token: "=", near: "= = b"'],
  ["attribute_not_exists(", 'Syntax error; token: "<EOF>", near: "("'],
  ["a AND b", 'Syntax error; token: "AND", near: "a AND b"'],
  ["a = :v garbage", 'Syntax error; token: "garbage", near: ":v garbage"', { ":v": N(1) }],
  ["((a = :v))", "The expression has redundant parentheses;", { ":v": N(1) }],
  ["a = ((:v))", "The expression has redundant parentheses;", { ":v": N(1) }],
  ["foo(a)", "Invalid function name; function: foo"],
  [
    "attribute_exists(a) = :v",
    "The function is not allowed to be used this way in an expression; function: attribute_exists",
    { ":v": N(1) },
  ],
  ["size(a)", "The function is not allowed to be used this way in an expression; function: size"],
  ["status = :v", "Attribute name is a reserved keyword; reserved keyword: status", { ":v": N(1) }],
  ["a.Name = :v", "Attribute name is a reserved keyword; reserved keyword: Name", { ":v": N(1) }],
  [
    "#a = :v",
    "An expression attribute name used in the document path is not defined; attribute name: #a",
    { ":v": N(1) },
  ],
  ["a = :w", "An expression attribute value used in expression is not defined; attribute value: :w", { ":v": N(1) }],
  ["attribute_exists(a, b)", `${OPERANDS}attribute_exists, number of operands: 2`],
  ["begins_with(a)", `${OPERANDS}begins_with, number of operands: 1`],
  [
    "attribute_exists(:v)",
    "Operator or function requires a document path; operator or function: attribute_exists",
    { ":v": N(1) },
  ],
  ["begins_with(a, :v)", `${TYPE}begins_with, operand type: N`, { ":v": N(1) }],
  ["attribute_type(a, :v)", `${TYPE}attribute_type, operand type: N`, { ":v": N(1) }],
  [
    "attribute_type(a, :v)",
    "Invalid attribute type name found; type: X, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}",
    { ":v": S("X") },
  ],
  ["size(:v) = a", `${TYPE}size, operand type: N`, { ":v": N(1) }],
  ["a < :v", `${TYPE}<, operand type: BOOL`, { ":v": { BOOL: true } }],
  [
    "a = a",
    "The first operand must be distinct from the remaining operands for this operator or function; operator: =, first operand: [a]",
  ],
  [
    "contains(a.b[0], a.b[0])",
    "The first operand must be distinct from the remaining operands for this operator or function; operator: contains, first operand: [a, b, [0]]",
  ],
  [
    "a IN (b, a)",
    "The first operand must be distinct from the remaining operands for this operator or function; operator: IN, first operand: [a]",
  ],
  [
    "a BETWEEN a AND b",
    "The first operand must be distinct from the remaining operands for this operator or function; operator: BETWEEN, first operand: [a]",
  ],
  ["begins_with(a, size(b))", `${TYPE}begins_with, operand type: N`],
  ["size(size(a)) = b", `${TYPE}size, operand type: N`],
  ["attribute_type(a, size(b))", `${TYPE}attribute_type, operand type: N`],
  ["_a = b", 'Syntax error; token: "_", near: "_a"'],
  ["a[01] = b", 'Syntax error; token: "1", near: "01]"'],
  ["  ", 'Syntax error; token: "<EOF>", near: "  "'],
  [Array(151).fill("a=b").join(" AND "), "The expression contains too many operators; operator count: 301"],
  [
    `a IN (${Array.from({ length: 101 }, (_, at) => `b${at}`).join(", ")})`,
    "The IN operator is provided with too many operands; number of operands: 101",
  ],
  [`a${".b".repeat(32)} = c`, "The document path has too many nesting levels; nesting levels: 33"],
  ["a[2147483648] = b", "List index is not within the allowable range; index: [2147483648]"],
  [
    "a BETWEEN :v AND :w",
    "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound operand: AttributeValue: {N:5}, upper bound operand: AttributeValue: {N:1}",
    { ":v": N(5), ":w": N(1) },
  ],
  [
    "a BETWEEN :v AND :w",
    "The BETWEEN operator requires same data type for lower and upper bounds; lower bound operand: AttributeValue: {N:5}, upper bound operand: AttributeValue: {S:x}",
    { ":v": N(5), ":w": S("x") },
  ],
])("the condition %o is refused: %s", async (ConditionExpression, message, ExpressionAttributeValues) => {
  const { refused } = await world();
  const more = ExpressionAttributeValues ? { ExpressionAttributeValues } : {};
  expect(await refused("PutItem", { Item: key("a"), ConditionExpression, ...more })).toBe(
    enveloped(`Invalid ConditionExpression: ${message}`),
  );
});

test("an expression may have 4,096 bytes and not one more", async () => {
  const { put, refused } = await world();
  const long = (bytes: number) => `attribute_not_exists(${"a".repeat(bytes - 22)})`;
  await put(key("a"), { ConditionExpression: long(4096) });
  expect(await refused("PutItem", { Item: key("a"), ConditionExpression: long(4097) })).toBe(
    enveloped(
      "Invalid ConditionExpression: Expression size has exceeded the maximum allowed size; expression size: 4097",
    ),
  );
});

test("conditions see the item as it was, or nothing", async () => {
  const { put, refused, update } = await world();
  const free = { ConditionExpression: "attribute_not_exists(pk)" };
  await put(key("a"), free);
  expect(await refused("PutItem", { Item: key("a"), ...free })).toContain("ConditionalCheckFailed");
  await update(key("b"), "SET n = :n", { ":n": N(1) }, { ConditionExpression: "attribute_not_exists(n)" });
});

test("a failed condition shows the item when asked, and only if there is one", async () => {
  const { put, failure } = await world();
  await put({ ...key("a"), n: N(1) });
  const asked = { ConditionExpression: "attribute_exists(gone)", ReturnValuesOnConditionCheckFailure: "ALL_OLD" };
  const { message, fields } = await failure("DeleteItem", { Key: key("a"), ...asked });
  expect([message, fields]).toEqual(["The conditional request failed", { Item: { ...key("a"), n: N(1) } }]);
  expect((await failure("DeleteItem", { Key: key("b"), ...asked })).fields).toEqual({});
  expect(
    (await failure("DeleteItem", { Key: key("a"), ConditionExpression: "attribute_exists(gone)" })).fields,
  ).toEqual({});
});

test("a condition may not reach into a key, of the table or of an index", async () => {
  const { refused } = await world({ table: { indexes: { byKind: { hash: ["kind", "S"] } } } });
  const message = "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: ";
  const put = (ConditionExpression: string) => refused("PutItem", { Item: key("a"), ConditionExpression });
  expect(await put("attribute_exists(pk.x)")).toBe(invalid(`${message}Key: pk`));
  expect(await put("attribute_exists(kind[0])")).toBe(invalid(`${message}IndexKey: kind`));
});
