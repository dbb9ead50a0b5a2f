// What a rule asks for, in words, as explanations say it (AMB-147).
import { expect, it } from "vitest";
import { wantedText } from "../../shared/rules/clause-words.ts";
import { compileRule } from "../../shared/rules/segment-evaluation.ts";

const asks = (condition: object) => ({ attribute: { plan: condition } });
const pro = asks({ $eq: "pro" });
const young = { attribute: { age: { $lt: 18 } } };
const bought = (more: object = {}) => ({ event: { name: "bought", ...more } });
const group = (op: "and" | "or", ...nodes: object[]) => ({ group: { op, nodes } });

it.each([
  [pro, "plan is pro"],
  [asks({ $ne: "pro" }), "plan is not pro"],
  [asks({ $in: ["free", "pro"] }), "plan is one of free, pro"],
  [asks({ $nin: ["free"] }), "plan is none of free"],
  [asks({ $exists: true }), "plan is known"],
  [asks({ $exists: false }), "plan is not known"],
  [{ attribute: { age: { $gt: 18, $lte: 65 } } }, "age is more than 18 and is at most 65"],
  [bought(), "bought at least 1 time"],
  [bought({ within: "7d", frequency: { min: 2 } }), "bought at least 2 times within 7 days"],
  [bought({ within: "90m", frequency: { min: 1, max: 3 } }), "bought 1 to 3 times within 90 minutes"],
  [bought({ within: "1h", frequency: { min: 0, max: 1 } }), "bought at most 1 time within 1 hour"],
  [bought({ within: "36h", frequency: { max: 0 } }), "bought never within 36 hours"],
  [group("and", pro, group("or", young, bought())), "plan is pro and (age is less than 18 or bought at least 1 time)"],
  [group("or", pro, group("and", young, bought())), "plan is pro or (age is less than 18 and bought at least 1 time)"],
])("the rule %j asks that %s (AMB-147)", (rule, text) => {
  expect(wantedText(compileRule(rule))).toBe(text);
});
