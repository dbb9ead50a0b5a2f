// The names and values that an expression brings along.
import { describe, expect, test } from "vitest";
import { enveloped, invalid, key, N, world } from "../support/dynamodb-world.ts";

describe("names and values of expressions", () => {
  const condition = { ConditionExpression: "attribute_exists(a)" };
  const tooLong =
    "ExpressionAttributeNames contains invalid key: The expression attribute map contains a key that is too long; size of key: 256";

  test.each<[string, Record<string, unknown>, string]>([
    [
      "unused values",
      { ...condition, ExpressionAttributeValues: { ":a": N(1), ":b": N(1) } },
      "Value provided in ExpressionAttributeValues unused in expressions: keys: {:a, :b}",
    ],
    [
      "unused names",
      { ...condition, ExpressionAttributeNames: { "#a": "a" } },
      "Value provided in ExpressionAttributeNames unused in expressions: keys: {#a}",
    ],
    ["no name", { ...condition, ExpressionAttributeNames: {} }, "ExpressionAttributeNames must not be empty"],
    [
      "a name without its sign",
      { ...condition, ExpressionAttributeNames: { a: "a" } },
      'ExpressionAttributeNames contains invalid key: Syntax error; key: "a"',
    ],
    [
      "a value without its sign",
      { ...condition, ExpressionAttributeValues: { a: N(1) } },
      'ExpressionAttributeValues contains invalid key: Syntax error; key: "a"',
    ],
    [
      "a name of nothing",
      { ...condition, ExpressionAttributeNames: { "#a": "" } },
      "ExpressionAttributeNames contains invalid value: Empty attribute name for key #a",
    ],
    ["a name that is too long", { ...condition, ExpressionAttributeNames: { [`#${"a".repeat(255)}`]: "a" } }, tooLong],
    [
      "names without an expression",
      { ExpressionAttributeNames: { "#a": "a" } },
      "ExpressionAttributeNames can only be specified when using expressions",
    ],
    [
      "values without an expression",
      { ExpressionAttributeValues: { ":a": N(1) } },
      "ExpressionAttributeValues can only be specified when using expressions",
    ],
  ])("%s are refused", async (_, more, message) => {
    const { refused } = await world();

    expect(await refused("PutItem", { Item: key("a"), ...more })).toBe(enveloped(message));
  });

  test("values without an expression are refused to a scan, which names the expression", async () => {
    const { refused } = await world();

    expect(await refused("Scan", { ExpressionAttributeValues: { ":a": N(1) } })).toBe(
      invalid("ExpressionAttributeValues can only be specified when using expressions: FilterExpression is null"),
    );
  });
});
