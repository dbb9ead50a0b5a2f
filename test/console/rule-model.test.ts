// Rules as rows of a form and back: what is shown must be what is saved.
import { describe, expect, it } from "vitest";
import { rowsOf, ruleOf, ruleText } from "../../console/components/rule-model.ts";
import type { SegmentRule } from "../../sdk/src/types.gen.ts";

const shown: [string, SegmentRule][] = [
  ["plan is pro", { attribute: { plan: { $eq: "pro" } } }],
  ["age is at least 18", { attribute: { age: { $gte: 18 } } }],
  ["zip is 01099", { attribute: { zip: { $eq: "01099" } } }],
  ['code is one of "5", 6', { attribute: { code: { $in: ["5", 6] } } }],
  ["phone is not known", { attribute: { phone: { $exists: false } } }],
  ["sale never within 30 days", { event: { name: "sale", within: "30d", frequency: { max: 0 } } }],
  [
    "vip is true or sale at least 2 times",
    {
      group: {
        op: "or",
        nodes: [{ attribute: { vip: { $eq: true } } }, { event: { name: "sale", frequency: { min: 2 } } }],
      },
    },
  ],
];

const asJson: [string, SegmentRule][] = [
  ["two operators", { attribute: { age: { $gte: 18, $lt: 30 } } }],
  ["conditions on properties", { event: { name: "sale", where: { total: { $gt: 5 } } } }],
  ["both bounds", { event: { name: "sale", frequency: { min: 1, max: 3 } } }],
  ["the flat form", { attribute: { key: "plan", operator: "ne", value: "pro" } }],
  ["a group in a group", { group: { op: "and", nodes: [{ group: { op: "or", nodes: [] } }] } }],
];

describe("CON-3 a rule is saved as it was read", () => {
  it.each(shown)("%s", (text, rule) => {
    const rows = rowsOf(rule);
    expect([rows && ruleOf(rows), ruleText(rule)]).toEqual([rule, text]);
  });

  it.each(asJson)("with %s it is edited as JSON", (_, rule) => expect(rowsOf(rule)).toBeUndefined());
});
