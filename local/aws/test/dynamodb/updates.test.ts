// Update expressions: what they make of an item, and what is refused.
import { expect, test } from "vitest";
import { enveloped, invalid, key, N, S, type Value, world } from "../support/dynamodb-world.ts";

const before = {
  n: N(10),
  big: N("12345678901234567890123456789012345670"),
  t: S("x"),
  l: { L: [N(0), N(1), N(2)] },
  m: { M: { a: N(1), deep: { M: { l: { L: [S("p"), S("q")] } } } } },
  ss: { SS: ["a", "b"] },
  ns: { NS: ["1", "2"] },
};

const VALUES: Record<string, Value> = {
  ":one": N(1),
  ":tenth": N("0.1"),
  ":tiny": N("1e-20"),
  ":s": S("s"),
  ":list": { L: [N(8), N(9)] },
  ":ab": { SS: ["b", "c"] },
  ":both": { SS: ["a", "b"] },
  ":n2": { NS: ["2.0", "3"] },
  ":map": { M: {} },
};

test.each<[string, Record<string, unknown>]>([
  ["SET n = :one", { n: N(1) }],
  ["SET n = n + :one", { n: N(11) }],
  ["SET n = n - :tenth", { n: N("9.9") }],
  ["SET n = :one - n", { n: N(-9) }],
  ["SET n = n + :tiny", { n: N("10.00000000000000000001") }],
  ["SET big = big + :one", { big: N("12345678901234567890123456789012345671") }],
  ["SET big = big + big", { big: N("24691357802469135780246913578024691340") }],
  ["SET n = if_not_exists(n, :one)", {}],
  ["SET fresh = if_not_exists(fresh, :one)", { fresh: N(1) }],
  ["SET fresh = if_not_exists(fresh, n) + :one", { fresh: N(11) }],
  ["SET n = n + :one, was = n", { n: N(11), was: N(10) }],
  ["SET t = n, n = t", { t: N(10), n: S("x") }],
  ["SET m.a = m.a + :one", { m: { M: { ...before.m.M, a: N(2) } } }],
  ["SET m.fresh = :map", { m: { M: { ...before.m.M, fresh: { M: {} } } } }],
  ["SET m.deep.l[1] = :s", { m: { M: { ...before.m.M, deep: { M: { l: { L: [S("p"), S("s")] } } } } } }],
  ["SET l[1] = :s", { l: { L: [N(0), S("s"), N(2)] } }],
  ["SET l[7] = :s", { l: { L: [...before.l.L, S("s")] } }],
  ["SET l[9] = :one, l[5] = :s", { l: { L: [...before.l.L, S("s"), N(1)] } }],
  ["SET l = list_append(l, :list)", { l: { L: [...before.l.L, N(8), N(9)] } }],
  ["SET l = list_append(:list, l)", { l: { L: [N(8), N(9), ...before.l.L] } }],
  ["SET fresh = list_append(if_not_exists(fresh, :list), :list)", { fresh: { L: [N(8), N(9), N(8), N(9)] } }],
  ["REMOVE t, absent", { t: undefined }],
  ["REMOVE l[0], l[2], l[8]", { l: { L: [N(1)] } }],
  ["SET l[1] = :s REMOVE l[0]", { l: { L: [S("s"), N(2)] } }],
  ["REMOVE m.a, m.gone", { m: { M: { deep: before.m.M.deep } } }],
  ["ADD n :one", { n: N(11) }],
  ["ADD fresh :one", { fresh: N(1) }],
  ["ADD ss :ab", { ss: { SS: ["a", "b", "c"] } }],
  ["ADD ns :n2", { ns: { NS: ["1", "2", "3"] } }],
  ["ADD m.a :one", { m: { M: { ...before.m.M, a: N(2) } } }],
  ["DELETE ss :ab", { ss: { SS: ["a"] } }],
  ["DELETE ss :both", { ss: undefined }],
  ["DELETE absent :both", {}],
  [
    "set n = :one remove t add ns :n2 delete ss :ab",
    { n: N(1), t: undefined, ns: { NS: ["1", "2", "3"] }, ss: { SS: ["a"] } },
  ],
])("%s", async (expression, changes) => {
  const { put, get, update } = await world();
  await put({ ...key("a"), ...before });
  const used = Object.entries(VALUES).filter(([ref]) => new RegExp(`${ref}(?![a-z0-9])`).test(expression));
  await update(key("a"), expression, used.length > 0 ? Object.fromEntries(used) : undefined);
  const expected = Object.entries({ ...key("a"), ...before, ...changes }).filter(([, value]) => value !== undefined);
  expect(await get(key("a"))).toEqual(Object.fromEntries(expected));
});

const OVERLAP = "must remove or rewrite one of these paths; path one:";
const TYPE = "Incorrect operand type for operator or function; operator";

test.each<[string, string, Value?]>([
  ["", "The expression can not be empty;"],
  ["INVALID SYNTAX HERE", 'Syntax error; token: "INVALID", near: "INVALID SYNTAX"'],
  ["SET a = :v,", 'Syntax error; token: "<EOF>", near: ","', N(1)],
  ["SET a = :v SET b = :v", 'The "SET" section can only be used once in an update expression;', N(1)],
  ["SET a = :v, a.b = :v", `Two document paths overlap with each other; ${OVERLAP} [a], path two: [a, b]`, N(1)],
  ["SET a = :v REMOVE a", `Two document paths overlap with each other; ${OVERLAP} [a], path two: [a]`, N(1)],
  [
    "SET a[0] = :v, a.b = :v",
    `Two document paths conflict with each other; ${OVERLAP} [a, [0]], path two: [a, b]`,
    N(1),
  ],
  ["SET name = :v", "Attribute name is a reserved keyword; reserved keyword: name", N(1)],
  ["SET a = size(b)", "The function is not allowed in an update expression; function: size"],
  ["SET a = :w", "An expression attribute value used in expression is not defined; attribute value: :w", N(1)],
  ["SET #a = :v", "An expression attribute name used in the document path is not defined; attribute name: #a", N(1)],
  [
    "SET a = if_not_exists(b)",
    "Incorrect number of operands for operator or function; operator or function: if_not_exists, number of operands: 1",
  ],
  [
    "SET a = if_not_exists(:v, b)",
    "Operator or function requires a document path; operator or function: if_not_exists",
    N(1),
  ],
  ["SET a = list_append(b, :v)", `${TYPE} or function: list_append, operand type: N`, N(1)],
  ["SET a = b + :v", `${TYPE} or function: +, operand type: S`, S("x")],
  ["ADD a :v", `${TYPE}: ADD, operand type: STRING, typeSet: ALLOWED_FOR_ADD_OPERAND`, S("x")],
  ["DELETE a :v", `${TYPE}: DELETE, operand type: NUMBER, typeSet: ALLOWED_FOR_DELETE_OPERAND`, N(1)],
])("the update %o is refused: %s", async (UpdateExpression, message, value) => {
  const { refused } = await world();
  const more = value ? { ExpressionAttributeValues: { ":v": value } } : {};
  expect(await refused("UpdateItem", { Key: key("a"), UpdateExpression, ...more })).toBe(
    enveloped(`Invalid UpdateExpression: ${message}`),
  );
});

const MISSING = "The provided expression refers to an attribute that does not exist in the item";
const WRONG_TYPE = "An operand in the update expression has an incorrect data type";
const WRONG_PATH = "The document path provided in the update expression is invalid for update";
const KEY = (name: string) =>
  `One or more parameter values were invalid: Cannot update attribute ${name}. This attribute is part of the key`;

test.each<[string, string, Value?]>([
  ["SET a = gone", MISSING],
  ["SET a = gone + :v", MISSING, N(1)],
  ["SET n = t + :v", WRONG_TYPE, N(1)],
  ["SET l = list_append(t, :v)", WRONG_TYPE, { L: [] }],
  ["ADD t :v", WRONG_TYPE, N(1)],
  ["ADD n :v", WRONG_TYPE, { SS: ["x"] }],
  ["DELETE ss :v", WRONG_TYPE, { NS: ["1"] }],
  ["SET gone.x = :v", WRONG_PATH, N(1)],
  ["SET t.x = :v", WRONG_PATH, N(1)],
  ["SET m[0] = :v", WRONG_PATH, N(1)],
  ["SET l.x = :v", WRONG_PATH, N(1)],
  ["REMOVE gone.x", WRONG_PATH],
  ["SET pk = :v", KEY("pk"), S("x")],
  ["REMOVE sk", KEY("sk")],
  ["ADD sk :v", KEY("sk"), N(1)],
])("%s does not fit this item: %s", async (UpdateExpression, message, value) => {
  const { put, get, refused } = await world();
  await put({ ...key("a"), ...before });
  const more = value ? { ExpressionAttributeValues: { ":v": value } } : {};
  expect(await refused("UpdateItem", { Key: key("a"), UpdateExpression, ...more })).toBe(invalid(message));
  expect(await get(key("a"))).toEqual({ ...key("a"), ...before });
});

test("a sum beyond the range of numbers is refused", async () => {
  const { put, update } = await world();
  await put({ ...key("a"), n: N("9e125"), d: N("1e37") });
  await expect(update(key("a"), "SET n = n + n")).rejects.toThrow("Number overflow");
  await expect(update(key("a"), "SET d = d + :v", { ":v": N("1e-5") })).rejects.toThrow("Number overflow");
});

test("an update that writes what is there changes nothing", async () => {
  const { put, update, get } = await world({ table: { stream: "NEW_AND_OLD_IMAGES" } });
  await put({ ...key("a"), n: N(1) });
  await update(key("a"), "SET n = :n REMOVE gone", { ":n": N("1.0") });
  expect(await get(key("a"))).toEqual({ ...key("a"), n: N(1) });
});
