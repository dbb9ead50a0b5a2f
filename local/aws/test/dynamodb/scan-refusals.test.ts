// In which order a scan is looked at, and what it takes besides expressions.
import { expect, test } from "vitest";
import { invalid, key, S, world } from "../support/dynamodb-world.ts";

const START_KEY = "The provided starting key is invalid";
const MISFIT = "The provided key element does not match the schema";
const given = { ExpressionAttributeNames: {}, ExpressionAttributeValues: {} };
const EXPRESSIONLESS = "ExpressionAttributeNames can only be specified when using expressions";
const EMPTY_KEY = `${START_KEY}: Supplied AttributeValue is empty, must contain exactly one of the supported datatypes`;

test.each<[string, object, string]>([
  ["names without an expression", { ...given, ExclusiveStartKey: { pk: {} } }, EXPRESSIONLESS],
  [
    "a start key without a value",
    { ...given, FilterExpression: "", Segment: 1, ExclusiveStartKey: { pk: {} } },
    EMPTY_KEY,
  ],
  [
    "a start key with values twice",
    { ExclusiveStartKey: { pk: { SS: ["a", "a"] } } },
    "One or more parameter values were invalid: Input collection [a, a] contains duplicates.",
  ],
  [
    "a segment of nothing",
    { ...given, FilterExpression: "", Segment: 1 },
    "The TotalSegments parameter is required but was not present in the request when Segment parameter is present",
  ],
  [
    "a segment too many",
    { ...given, FilterExpression: "", Segment: 1, TotalSegments: 1 },
    "The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: 1 is not less than TotalSegments: 1",
  ],
  ["no names", { ...given, FilterExpression: "" }, "ExpressionAttributeNames must not be empty"],
  [
    "a filter before a projection",
    { FilterExpression: "", ProjectionExpression: "" },
    "Invalid FilterExpression: The expression can not be empty;",
  ],
  ["half a start key", { ExclusiveStartKey: { pk: S("p") } }, `${START_KEY}: ${MISFIT}`],
])("a scan with %s is refused, whatever else is wrong with it", async (_, more, message) => {
  const { refused } = await world();
  expect(await refused("Scan", more as Record<string, unknown>)).toBe(invalid(message));
});

test("a scan does not go on from a key of another segment", async () => {
  const { put, refused, call } = await world();
  for (const pk of "abcdefgh") await put(key(pk));
  const page = await call("Scan", { Segment: 0, TotalSegments: 2, Limit: 1 });
  expect(await refused("Scan", { Segment: 1, TotalSegments: 2, ExclusiveStartKey: page.LastEvaluatedKey })).toBe(
    invalid(
      `${START_KEY}: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct Segment. TotalSegments: 2 Segment: 1`,
    ),
  );
});
