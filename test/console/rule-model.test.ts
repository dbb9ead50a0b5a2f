// Rules as rows of a form and back: what is shown must be what is saved.
import { describe, expect, it } from "vitest";
import { rowsOf, ruleOf, ruleText } from "../../console/components/rule-model.ts";
import type { RuleNode, SegmentRule } from "../../sdk/src/types.gen.ts";

const shown: [string, SegmentRule][] = [
  ["plan is pro", { attribute: { plan: { $eq: "pro" } } }],
  ["age is at least 18", { attribute: { age: { $gte: 18 } } }],
  ["rate is 1e-7", { attribute: { rate: { $eq: 1e-7 } } }],
  ['code is "1e5"', { attribute: { code: { $eq: "1e5" } } }],
  ["zip is 01099", { attribute: { zip: { $eq: "01099" } } }],
  ['code is one of "5", 6', { attribute: { code: { $in: ["5", 6] } } }],
  ['city is none of "Paris, Texas", Rome', { attribute: { city: { $nin: ["Paris, Texas", "Rome"] } } }],
  [
    "sale where total is more than 5 and total is less than 9 at least 1 time",
    { event: { name: "sale", frequency: { min: 1 }, where: { total: { $gt: 5, $lt: 9 } } } },
  ],
  ['screen is one of "27\\" flat, 4K", small', { attribute: { screen: { $in: ['27" flat, 4K', "small"] } } }],
  ['nick is "\\"ada\\""', { attribute: { nick: { $eq: '"ada"' } } }],
  ['plan is ""', { attribute: { plan: { $eq: "" } } }],
  ["phone is not known", { attribute: { phone: { $exists: false } } }],
  ["sale never within 30 days", { event: { name: "sale", within: "30d", frequency: { max: 0 } } }],
  ["born is before 2008-03-01", { attribute: { born: { $lt: "2008-03-01" } } }],
  ["sale between 1 and 3 times", { event: { name: "sale", frequency: { min: 1, max: 3 } } }],
  ["sale at least 1 time", { event: { name: "sale", frequency: { min: 1 } } }],
  [
    "sale where total is more than 5 at least 2 times within 7 days",
    { event: { name: "sale", within: "7d", frequency: { min: 2 }, where: { total: { $gt: 5 } } } },
  ],
  [
    "plan is pro and (vip is true or age is at least 18)",
    {
      group: {
        op: "and",
        nodes: [
          { attribute: { plan: { $eq: "pro" } } },
          { group: { op: "or", nodes: [{ attribute: { vip: { $eq: true } } }, { attribute: { age: { $gte: 18 } } }] } },
        ],
      },
    },
  ],
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

/** Rules that are saved in other words, with the same meaning. */
const reworded: [string, SegmentRule, SegmentRule][] = [
  [
    "age is at least 18 and age is less than 30",
    { attribute: { age: { $gte: 18, $lt: 30 } } },
    and({ attribute: { age: { $gte: 18 } } }, { attribute: { age: { $lt: 30 } } }),
  ],
  [
    "plan is not pro",
    { attribute: { key: "plan", operator: "ne", value: "pro" } },
    { attribute: { plan: { $ne: "pro" } } },
  ],
  [
    "vip is known and sale exactly 2 times within 7 days",
    {
      attribute: { key: "vip", operator: "exists" },
      event: { name: "sale", operator: "eq", count: 2, within_days: 7 },
    },
    and(
      { attribute: { vip: { $exists: true } } },
      { event: { name: "sale", within: "7d", frequency: { min: 2, max: 2 } } },
    ),
  ],
  [
    "sale at most 3 times",
    { event: { name: "sale", operator: "lte", count: 3 } },
    { event: { name: "sale", frequency: { max: 3 } } },
  ],
];

const asJson: [string, SegmentRule][] = [
  ["a list that is compared as a whole", { attribute: { tags: { $eq: [] as never } } }],
  ["a group without conditions", { group: { op: "and", nodes: [{ group: { op: "or", nodes: [] } }] } }],
];

function and(...nodes: RuleNode[]): SegmentRule {
  return { group: { op: "and", nodes } };
}

describe("a rule is saved as it was read", () => {
  it.each(shown)("a rule is read into rows, shown and saved as it was: %s", (text, rule) => {
    const rows = rowsOf(rule);
    expect([rows && ruleOf(rows), ruleText(rule)]).toEqual([rule, text]);
  });

  it.each(reworded)(
    "a rule is read into rows, and saved in other words of the same meaning: %s (CON-3)",
    (text, rule, saved) => {
      const rows = rowsOf(rule);
      expect([rows && ruleOf(rows), ruleText(rule)]).toEqual([saved, text]);
    },
  );

  it.each(asJson)("a rule with %s has no rows: it is edited as JSON (CON-3)", (_, rule) =>
    expect(rowsOf(rule)).toBeUndefined(),
  );
});
