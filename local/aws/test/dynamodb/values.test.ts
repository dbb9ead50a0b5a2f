// What may be stored, in which form it comes back, and how big it counts.
import { expect, test } from "vitest";
import { enveloped, invalid, key, N, S, type Value, world } from "../support/dynamodb-world.ts";

const PREFIX = "One or more parameter values were invalid: ";
const NUMERIC = "The parameter cannot be converted to a numeric value";
const OVERFLOW = "Number overflow. Attempting to store a number with magnitude larger than supported range";
const UNDERFLOW = "Number underflow. Attempting to store a number with magnitude smaller than supported range";

const nested = (levels: number): Value => (levels === 0 ? S("leaf") : { M: { n: nested(levels - 1) } });

test("every type comes back as it was stored", async () => {
  const { put, get } = await world();
  const item = {
    ...key("types"),
    text: S(""),
    unicode: S("snöw \u0000 ☃ 😀"),
    number: N("-12.5"),
    binary: { B: "AAECAw==" },
    empty: { B: "" },
    yes: { BOOL: true },
    nothing: { NULL: true },
    texts: { SS: ["", "a", "b"] },
    numbers: { NS: ["1.5", "3"] },
    binaries: { BS: ["AA==", "AQ=="] },
    list: { L: [S("x"), { L: [] }, { M: {} }] },
    map: { M: { inner: { M: { deep: N(1) } } } },
  };
  await put(item);
  expect(await get(key("types"))).toEqual(item);
});

test("sets come back in the order of their members, whatever was put, added or deleted", async () => {
  const { put, get, update } = await world();
  await put({
    ...key("sets"),
    texts: { SS: ["b", "😀", "Ä", "B", "\uff5e"] },
    numbers: { NS: ["10", "9", "-1", "1e10"] },
    binaries: { BS: ["/w==", "AQ==", "AAE="] },
  });
  const sets = { ":texts": { SS: ["a", "zz"] }, ":numbers": { NS: ["2", "-20"] }, ":gone": { BS: ["AQ=="] } };
  await update(key("sets"), "ADD texts :texts, numbers :numbers DELETE binaries :gone", sets);
  expect(await get(key("sets"))).toEqual({
    ...key("sets"),
    texts: { SS: ["B", "a", "b", "zz", "Ä", "\uff5e", "😀"] },
    numbers: { NS: ["-20", "-1", "2", "9", "10", "10000000000"] },
    binaries: { BS: ["AAE=", "/w=="] },
  });
});

test("attribute names may be those of object members", async () => {
  const { put, get, update } = await world();
  await put({ ...key("odd"), constructor: S("c"), toString: S("t") });
  expect(await get(key("odd"))).toEqual({ ...key("odd"), constructor: S("c"), toString: S("t") });
  await update(key("odd"), "SET a = if_not_exists(hasOwnProperty, :v)", { ":v": N(1) });
  expect((await get(key("odd")))!.a).toEqual(N(1));
});

test.each([
  ["0", "0"],
  ["-0", "0"],
  ["007", "7"],
  ["+5", "5"],
  ["1.50", "1.5"],
  [".5", "0.5"],
  ["5.", "5"],
  ["1e3", "1000"],
  ["1.23E-3", "0.00123"],
  ["-12e-1", "-1.2"],
  ["1E-130", `0.${"0".repeat(129)}1`],
  ["9.9999999999999999999999999999999999999E+125", `${"9".repeat(38)}${"0".repeat(88)}`],
  ["12345678901234567890123456789012345678", "12345678901234567890123456789012345678"],
])("the number %s is stored as %s", async (given, stored) => {
  const { put, get } = await world();
  await put({ ...key("n"), n: N(given) });
  expect((await get(key("n")))!.n).toEqual(N(stored));
});

test.each<[string, Value, string]>([
  ["no type", {}, "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"],
  [
    "two types",
    { S: "a", N: "1" },
    "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes",
  ],
  ["NULL false", { NULL: false }, `${PREFIX}Null attribute value types must have the value of true`],
  ["an empty SS", { SS: [] }, `${PREFIX}An string set  may not be empty`],
  ["an empty NS", { NS: [] }, `${PREFIX}An number set  may not be empty`],
  ["an empty BS", { BS: [] }, `${PREFIX}Binary sets should not be empty`],
  ["a repeat in SS", { SS: ["b", "a", "b"] }, `${PREFIX}Input collection ["a", "b", "b"] contains duplicates.`],
  ["a repeat in NS", { NS: ["1", "1.0"] }, `${PREFIX}Input collection contains duplicates.`],
  [
    "a repeat in BS",
    { BS: ["AA==", "AA=="] },
    `${PREFIX}Input collection ["AA==","AA=="]of type BS contains duplicates.`,
  ],
  ["a word as number", N("abc"), `${NUMERIC}: abc`],
  ["an empty number", N(""), `${NUMERIC}: `],
  ["a space in a number", N(" 1"), `${NUMERIC}:  1`],
  ["NaN", N("NaN"), `${NUMERIC}: NaN`],
  ["a hexadecimal number", N("0x10"), `${NUMERIC}: 0x10`],
  ["1e126", N("1e126"), OVERFLOW],
  ["-1e126", N("-1e126"), OVERFLOW],
  ["1e-131", N("1e-131"), UNDERFLOW],
  ["39 digits", N("1".repeat(39)), "Attempting to store more than 38 significant digits in a Number"],
  [
    "33 levels",
    nested(32),
    "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit",
  ],
])("%s is refused, at the top and within a document", async (_, value, message) => {
  const { refused } = await world();
  expect(await refused("PutItem", { Item: { ...key("bad"), v: value } })).toBe(enveloped(message));
  expect(await refused("PutItem", { Item: { ...key("bad"), v: { L: [{ M: { x: value } }] } } })).toBe(
    enveloped(message),
  );
});

test("32 levels and an empty attribute name: the one is taken, the other refused", async () => {
  const { put, refused } = await world();
  await put({ ...key("deep"), v: nested(31) });
  expect(await refused("PutItem", { Item: { ...key("deep"), "": S("x") } })).toBe(enveloped("Empty attribute name"));
});

const MODEL = "com.amazonaws.dynamodb.v20120810.AttributeValue";
test.each([
  [{ S: 5 }, "NUMBER_VALUE cannot be converted to String"],
  [{ BOOL: "maybe" }, "Unexpected token received from parser"],
  [{ SS: "a" }, "Unexpected field type"],
  [{ S: 0.5 }, "DECIMAL_VALUE cannot be converted to String"],
  [{ SS: ["a", 5] }, "NUMBER_VALUE cannot be converted to String"],
  [{ M: [] }, `Unrecognized collection type java.util.Map<java.lang.String, ${MODEL}>`],
  [{ B: "no base64" }, "Base64 encoded length is expected a multiple of 4 bytes but found: 9"],
  [{ B: "no base6" }, "Invalid last non-pad Base64 character dectected"],
  [{ BS: ["YQ==", "b"] }, "Base64 encoded length is expected a multiple of 4 bytes but found: 1"],
])("JSON of the wrong type, %o, is a serialization fault", async (value, message) => {
  const { refused } = await world();
  expect(await refused("PutItem", { Item: { ...key("a"), v: value } })).toBe(`Serialization: ${message}`);
});

test("an item may have 409,600 bytes and not one more", async () => {
  const { put, refused, update } = await world();
  const overhead = "pk".length + "a".length + "sk".length + "1".length + "v".length;
  const filling = (bytes: number) => ({ ...key("a"), v: S("x".repeat(bytes - overhead)) });
  await put(filling(409_600));
  expect(await refused("PutItem", { Item: filling(409_601) })).toBe(
    invalid("Item size has exceeded the maximum allowed size"),
  );
  await expect(update(key("a"), "SET w = :w", { ":w": S("") })).rejects.toThrow(
    "Item size to update has exceeded the maximum allowed size",
  );
});

test.each<[Value, number]>([
  [S("äö"), 4],
  [N("0"), 1],
  [N("42"), 2],
  [N("-42"), 3],
  [N("123.45"), 4],
  [N("1000000"), 2],
  [{ B: "AAEC" }, 3],
  [{ BOOL: true }, 1],
  [{ NULL: true }, 1],
  [{ SS: ["ab", "c"] }, 3],
  [{ NS: ["1", "22"] }, 4],
  [{ L: [S("a"), S("b")] }, 3 + 2 + 2],
  [{ M: { ab: S("c") } }, 3 + 1 + 3],
])("%o counts %i bytes", async (value, bytes) => {
  const { put, call, refused } = await world();
  const rest = "pk".length + "a".length + "sk".length + "1".length + "v".length + "f".length;
  const filled = (size: number) => ({ ...key("a"), v: value, f: S("x".repeat(size - rest - bytes)) });
  await put(filled(409_600));
  expect(await refused("PutItem", { Item: filled(409_601) })).toContain("maximum allowed size");
  expect((await call("Scan")).Count).toBe(1);
});

test.each([
  [{ S: "a", N: "" }, "The parameter cannot be converted to a numeric value"],
  [{ S: "a", SS: [] }, "One or more parameter values were invalid: An string set  may not be empty"],
  [{ S: "a", N: "1" }, "Supplied AttributeValue has more than one datatypes set"],
])("of a value of several types, %o, the fault of one of them is reported first", async (value, message) => {
  const { refused } = await world();
  expect(await refused("PutItem", { Item: { ...key("a"), v: value } })).toContain(message);
});

test("what the parser stumbles over is reported before what is missing", async () => {
  const { refused } = await world();
  expect(await refused("PutItem", { TableName: null, Item: { a: { S: 5 } } })).toBe(
    "Serialization: NUMBER_VALUE cannot be converted to String",
  );
});
