// The grammar of segment rules (RUL-1 to RUL-13, AMB-51, AMB-69): what is accepted, what is refused, and the reasons.
import { describe, expect, it } from "vitest";
import { compileRule } from "../../shared/rules/segment-evaluation.ts";
import { RULE_DEPTH, RULE_NODES } from "../../shared/rules/segment-grammar.ts";
import { parseRule } from "../../shared/rules/segment-rules.ts";

const DAY = 86_400_000;
const leaf = { attribute: { plan: { $eq: "pro" } } };
const event = (more: object = {}) => ({ event: { name: "buy", ...more } });
const group = (nodes: unknown[], op = "and") => ({ group: { op, nodes } });
const nested = (depth: number): object => (depth === 1 ? leaf : group([nested(depth - 1)]));

const problemOf = (rule: unknown) => {
  const read = parseRule(rule);
  return read.kind === "problem" ? [read.path, read.reason] : undefined;
};

describe("trees", () => {
  it.each([
    [leaf, "RUL-1"],
    [event(), "RUL-1"],
    [group([leaf, group([event(), leaf], "or")]), "RUL-2, RUL-3"],
    [{ attribute: { a: { $gt: 1, $lte: 5 }, b: { $in: [] }, c: { $exists: false } } }, "RUL-4"],
    [
      event({ within: "7d", frequency: { min: 1, max: 3 }, where: { total: { $gte: 10 } } }),
      "RUL-5, RUL-6, RUL-7, RUL-8",
    ],
    [event({ within: "30m" }), "RUL-6"],
    [event({ frequency: { max: 0 } }), "RUL-7"],
    [{ attribute: { key: { $eq: "a tree whose key is called key" } } }, "AMB-51"],
    [nested(RULE_DEPTH), "RUL-3"],
    [group(Array.from({ length: RULE_NODES - 1 }, () => leaf)), "RUL-2"],
  ])("the rule %j is taken (%s)", (rule, _) => {
    expect(problemOf(rule)).toBeUndefined();
  });

  it.each([
    ["", "exactly one", {}, "RUL-1"],
    ["", "exactly one", { ...leaf, ...group([leaf]) }, "RUL-1"],
    ["", "exactly one", { ...leaf, ...event() }, "RUL-1"],
    ["rule", "not one of", { rule: {} }, "RUL-1"],
    ["", "an object", [leaf], "RUL-1"],
    ["", "an object", "plan = pro", "RUL-1"],
    ["", "an object", null, "RUL-1"],
    ["group.nodes", "at least one", group([]), "RUL-2"],
    ["group.op", "and or or", group([leaf], "xor"), "RUL-2"],
    ["group.op", "and or or", { group: { nodes: [leaf] } }, "RUL-2"],
    ["group.not", "not a field", { group: { op: "and", nodes: [leaf], not: true } }, "RUL-2"],
    ["group.nodes[1]", "exactly one", group([leaf, {}]), "RUL-3"],
    ["group.nodes[0]", "an object", group([7]), "RUL-3"],
    ["group.nodes[0]", "an object", group([null]), "RUL-3"],
    ["attribute.plan.$regex", "not an operator", { attribute: { plan: { $regex: "p" } } }, "RUL-4"],
    ["attribute.plan", "at least one operator", { attribute: { plan: {} } }, "RUL-4"],
    ["attribute.plan", "object of operators", { attribute: { plan: "pro" } }, "RUL-4"],
    ["attribute", "at least one attribute key", { attribute: {} }, "RUL-4"],
    ["attribute", "object", { attribute: [] }, "RUL-4"],
    ["event.name", "required", { event: {} }, "RUL-5"],
    ["event.name", "not empty", { event: { name: "" } }, "RUL-5"],
    ["event.name", "string", { event: { name: 7 } }, "RUL-5"],
    ["event.since", "not a field", event({ since: "7d" }), "RUL-5"],
    ...["0d", "1.5h", "10s", "d", "", "7 d", "01d", 7, null].map(
      (within) => ["event.within", "whole number", event({ within }), "AMB-69, RUL-6"] as const,
    ),
    ["event.frequency", "min, max or both", event({ frequency: {} }), "RUL-7"],
    ["event.frequency", "min above its max", event({ frequency: { min: 3, max: 2 } }), "AMB-69, RUL-7"],
    ["event.frequency.min", "whole number", event({ frequency: { min: -1 } }), "RUL-7"],
    ["event.frequency.max", "whole number", event({ frequency: { max: 1.5 } }), "RUL-7"],
    ["event.frequency.exactly", "not a field", event({ frequency: { exactly: 1 } }), "RUL-7"],
    ["event.where.total.$near", "not an operator", event({ where: { total: { $near: 1 } } }), "RUL-8"],
    ["event.where", "object", event({ where: [] }), "RUL-8"],
    ["group.nodes[0]", "flat form inside", group([{ attribute: { key: "a", value: 1 } }]), "AMB-69"],
    ["group.nodes[0]", "flat form inside", group([event({ count: 1 })]), "AMB-69"],
    ["attribute", "prototype|constructor", JSON.parse('{"attribute": {"constructor": {"$eq": 1}}}'), "RUL-4"],
    ["attribute", "__proto__", JSON.parse('{"attribute": {"__proto__": {"$eq": 1}}}'), "RUL-4"],
  ] as const)("a rule is refused at %j, because of %s: %j (%s)", (path, reason, rule, _) => {
    expect(problemOf(rule)).toEqual([path, expect.stringMatching(reason)]);
  });

  it("a rule of 11 nodes in one another is refused (RUL-3)", () => {
    expect(problemOf(nested(RULE_DEPTH + 1))?.[1]).toContain("deeper than 10");
  });

  it("a rule of 10,000 nodes in one another is refused before it is walked (RUL-3)", () => {
    let deep: object = leaf;
    for (let n = 0; n < 10_000; n++) deep = group([deep]);

    expect(problemOf(deep)?.[1]).toContain("nested deeper than 36");
  });

  it("a rule of more than 200 nodes is refused (RUL-2)", () => {
    expect(problemOf(group(Array.from({ length: RULE_NODES }, () => leaf)))?.[1]).toContain("at most 200 nodes");
  });
});

describe("the flat form", () => {
  const root = (rule: unknown) => compileRule(rule).root;
  const attribute = (predicate: object) => ({ kind: "attribute", path: "attribute", predicate });
  const counted = (more: object) => ({
    kind: "event",
    path: "event",
    name: "buy",
    within: undefined,
    where: undefined,
    ...more,
  });

  it.each([
    [{ attribute: { key: "plan", value: "pro" } }, attribute({ plan: { $eq: "pro" } }), "RUL-10"],
    [{ attribute: { key: "age", operator: "gte", value: 5 } }, attribute({ age: { $gte: 5 } }), "RUL-10"],
    [{ attribute: { key: "plan", operator: "in", value: ["a"] } }, attribute({ plan: { $in: ["a"] } }), "RUL-10"],
    [{ attribute: { key: "plan", value: null } }, attribute({ plan: { $eq: null } }), "RUL-10"],
    [{ attribute: { key: "plan", operator: "exists" } }, attribute({ plan: { $exists: true } }), "AMB-69"],
    [
      { attribute: { key: "plan", operator: "exists", value: false } },
      attribute({ plan: { $exists: false } }),
      "AMB-69",
    ],
    [event({ count: 1 }), counted({ min: 1, max: undefined }), "AMB-69"],
    [event({ operator: "gte", count: 3 }), counted({ min: 3, max: undefined }), "RUL-11"],
    [event({ operator: "lte", count: 3 }), counted({ min: 0, max: 3 }), "RUL-11"],
    [event({ operator: "eq", count: 3 }), counted({ min: 3, max: 3 }), "RUL-11"],
    [event({ within_days: 7 }), counted({ min: 1, max: undefined, within: 7 * DAY }), "RUL-11"],
  ])("the flat form %j means the tree %j (%s)", (rule, tree, _) => {
    expect(root(rule)).toEqual(tree);
  });

  it("attribute and event together are ANDed (RUL-12)", () => {
    expect(root({ attribute: { key: "plan", value: "pro" }, event: { name: "buy" } })).toEqual({
      kind: "group",
      op: "and",
      nodes: [attribute({ plan: { $eq: "pro" } }), counted({ min: 1, max: undefined })],
    });
  });

  it.each([
    ["attribute.value", "required", { attribute: { key: "vip" } }, "AMB-51"],
    ["attribute.key", "string", { attribute: { key: 7, value: 1 } }, "RUL-10"],
    ["attribute.key", "not empty", { attribute: { key: "", value: 1 } }, "RUL-10"],
    ["attribute.operator", "one of", { attribute: { key: "a", operator: "$eq", value: 1 } }, "RUL-10"],
    ["attribute.operator", "one of", { attribute: { key: "a", operator: 1, value: 1 } }, "RUL-10"],
    ["attribute.value", "array", { attribute: { key: "a", operator: "in", value: "b" } }, "RUL-10"],
    ["attribute.value", "number or a string", { attribute: { key: "a", operator: "gt", value: true } }, "RUL-10"],
    ["attribute.plan", "not a field", { attribute: { key: "a", value: 1, plan: { $eq: 1 } } }, "AMB-51"],
    ["attribute.key", "must not be used", { attribute: { key: "__proto__", value: 1 } }, "RUL-10"],
    ["event.name", "required", { event: { count: 1 } }, "RUL-11"],
    ["event.operator", "one of", event({ operator: "gt", count: 1 }), "RUL-11"],
    ["event.count", "whole number", event({ operator: "gte", count: -1 }), "RUL-11"],
    ["event.within_days", "whole number", event({ within_days: 0 }), "RUL-11"],
    ["event.within_days", "whole number", event({ within_days: 1.5 }), "RUL-11"],
    ["event.within_days", "whole number", event({ within_days: 100_000 }), "RUL-11"],
    ["event.within", "not a field", event({ within: "7d", count: 1 }), "AMB-51"],
    ["attribute.plan", "not a field", { attribute: { plan: { $eq: 1 } }, ...event({ count: 1 }) }, "AMB-51"],
    ["event.where", "not a field", { attribute: { key: "a", value: 1 }, ...event({ where: {} }) }, "AMB-51"],
    ["group", "combined", { attribute: { key: "a", value: 1 }, ...group([leaf]) }, "AMB-51"],
  ])("a rule is refused at %j, because of %s: %j (%s)", (path, reason, rule, _) => {
    expect(problemOf(rule)).toEqual([path, expect.stringMatching(reason)]);
  });
});

it("a rule that was stored unchecked does not compile", () => {
  expect(() => compileRule({ event: { name: "buy", within: "0d" } })).toThrow(TypeError);
});
