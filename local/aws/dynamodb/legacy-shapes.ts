// The legacy parameters from before expressions, which the real service still accepts.
import { choice, flag, list, map, needed, type Rule, type Shape, structure } from "./parameters.ts";

const MODEL = "com.amazonaws.dynamodb.v20120810";
const named = (name: string, inside: Shape): Rule => ({ ...structure(inside), called: `${MODEL}.${name}` });
const COMPARISON = choice(
  "IN",
  "NULL",
  "BETWEEN",
  "LT",
  "NOT_CONTAINS",
  "EQ",
  "GT",
  "NOT_NULL",
  "NE",
  "LE",
  "BEGINS_WITH",
  "GE",
  "CONTAINS",
);

export const EXPECTED: Rule = {
  type: "Map",
  called: `${MODEL}.ExpectedAttributeValue`,
  values: named("ExpectedAttributeValue", {
    Value: map,
    Exists: flag,
    ComparisonOperator: COMPARISON,
    AttributeValueList: list,
  }),
};

export const CONDITIONS: Rule = {
  type: "Map",
  called: `${MODEL}.Condition`,
  values: named("Condition", { ComparisonOperator: needed(COMPARISON), AttributeValueList: list }),
};

export const ATTRIBUTE_UPDATES: Rule = {
  type: "Map",
  called: `${MODEL}.AttributeValueUpdate`,
  values: named("AttributeValueUpdate", { Value: map, Action: choice("ADD", "PUT", "DELETE") }),
};

export const ATTRIBUTES_TO_GET: Rule = { type: "List", min: 1, max: 255 };
export const CONDITIONAL_OPERATOR = choice("OR", "AND");
