// Expressions at the edge: functions out of place, and more parentheses than anybody can mean.
import { expect, test } from "vitest";
import { enveloped, key, N, world } from "../support/dynamodb-world.ts";

const L = { L: [N(1)] };
const updating = (UpdateExpression: string, more: object = {}) => ({ Key: key("a"), UpdateExpression, ...more });

test.each(["if_not_exists(a, b) = :v", "list_append(a, b) = :v"])("a condition cannot use %s", async (condition) => {
  const { refused } = await world();
  const said = `The function is not allowed in a condition expression; function: ${condition.split("(")[0]}`;
  const values = { ExpressionAttributeValues: { ":v": N(1) } };
  expect(await refused("PutItem", { Item: key("a"), ConditionExpression: condition, ...values })).toBe(
    enveloped(`Invalid ConditionExpression: ${said}`),
  );
  expect(await refused("Scan", { FilterExpression: condition, ...values })).toContain(
    `Invalid FilterExpression: ${said}`,
  );
});

test.each(["SET a = list_append(list_append(:l, :l), :l)", "SET a = if_not_exists(b, list_append(:l, :l))"])(
  "%s: a list is appended to outside of functions only",
  async (expression) => {
    const { refused } = await world();
    expect(await refused("UpdateItem", updating(expression, { ExpressionAttributeValues: { ":l": L } }))).toBe(
      enveloped(
        "Invalid UpdateExpression: The function is not allowed to be used this way in an expression; function: list_append",
      ),
    );
  },
);

test("if_not_exists may stand in any function", async () => {
  const { call, get } = await world();
  const nested = "SET a = list_append(if_not_exists(a, :l), :l), b = if_not_exists(b, if_not_exists(c, :l))";
  await call("UpdateItem", updating(nested, { ExpressionAttributeValues: { ":l": L } }));
  expect(await get(key("a"))).toEqual({ ...key("a"), a: { L: [N(1), N(1)] }, b: L });
});

test("parentheses that say nothing, or do not end, are refused however many they are", async () => {
  const { refused } = await world();
  const put = (ConditionExpression: string) => refused("PutItem", { Item: key("a"), ConditionExpression });
  const redundant = "The expression has redundant parentheses;";
  for (const depth of [2, 2_040])
    expect(await put(`${"(".repeat(depth)}a < b${")".repeat(depth)}`)).toBe(
      enveloped(`Invalid ConditionExpression: ${redundant}`),
    );
  expect(await put("(".repeat(4_096))).toBe(
    enveloped('Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "("'),
  );
  for (const depth of [2, 2_000])
    expect(await refused("UpdateItem", updating(`SET a = ${"(".repeat(depth)}b${")".repeat(depth)}`))).toBe(
      enveloped(`Invalid UpdateExpression: ${redundant}`),
    );
});

test("a sum of more than 38 digits overflows, as the service says", async () => {
  const { refused } = await world();
  const ExpressionAttributeValues = { ":a": N("1e50"), ":b": N("1") };
  expect(await refused("UpdateItem", updating("SET n = :a - :b", { ExpressionAttributeValues }))).toContain(
    "Number overflow. Attempting to store a number with magnitude larger than supported range",
  );
});
