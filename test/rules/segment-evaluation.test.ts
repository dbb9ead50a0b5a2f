// The result of a rule for a subscriber (RUL-4 to RUL-13, AMB-52, AMB-69, AMB-71), against a slow and plain oracle.
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compilePredicate } from "../../shared/rules/predicates.ts";
import { capProblem, compileRule, type Facts, occurrencesNeeded } from "../../shared/rules/segment-evaluation.ts";
import type { EventNode, RuleNode } from "../../shared/rules/segment-rules.ts";

const NOW = Date.parse("2026-11-20T12:00:00Z");
const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];

interface PastEvent {
  name: string;
  at: number;
  properties: Record<string, unknown>;
}

/** Facts as a store gives them: newest first, and no more than decide. */
const factsOf = (attributes: Record<string, unknown>, events: readonly PastEvent[], now = NOW): Facts => ({
  attributes,
  now,
  times: (condition) =>
    events
      .filter(({ name, properties }) => name === condition.name && compilePredicate(condition.where ?? {})(properties))
      .map(({ at }) => at)
      .sort((a, b) => b - a)
      .slice(0, occurrencesNeeded(condition)),
});

const judge = (rule: unknown, attributes: Record<string, unknown> = {}, events: readonly PastEvent[] = [], now = NOW) =>
  compileRule(rule).judge(factsOf(attributes, events, now));
const ago = (ms: number, properties: Record<string, unknown> = {}, name = "buy"): PastEvent => ({
  name,
  at: NOW - ms,
  properties,
});
const event = (more: object = {}) => ({ event: { name: "buy", ...more } });

describe("attributes", () => {
  it.each([
    [true, { plan: { $eq: "pro" } }],
    [false, { plan: { $eq: "pro" }, age: { $gt: 40 } }],
    [true, { age: { $gt: 30, $lte: 36 } }],
    [false, { age: { $in: [] } }],
    [false, { age: { $eq: "36" } }],
    [false, { gone: { $eq: null } }],
    [true, { gone: { $ne: 1 } }],
    [true, { gone: { $nin: [1] } }],
    [true, { gone: { $exists: false } }],
    [false, { gone: { $lt: 1 } }],
    [true, { since: { $gte: "2026-01-01T00:00:00+02:00" } }],
    [true, { tags: { $eq: "b" } }],
  ])("an attribute is %s for %j (RUL-4, AMB-52, AMB-69)", (expected, attribute) => {
    const attributes = { plan: "pro", age: 36, since: "2026-01-01T00:00:00Z", tags: ["a", "b"] };
    expect(judge({ attribute }, attributes)).toEqual({ matches: expected, nextChangeAt: undefined });
  });
});

describe("events", () => {
  it("an event counts from its first time on, of all time where no window is given (RUL-7)", () => {
    expect(judge(event()).matches).toBe(false);
    expect(judge(event(), {}, [ago(900 * DAY)])).toEqual({ matches: true, nextChangeAt: undefined });
    expect(judge(event(), {}, [ago(1, {}, "sell")]).matches).toBe(false);
  });

  it("an event counts until its window ends, and the verdict has that time (RUL-6, AMB-71)", () => {
    const rule = event({ within: "2h" });
    expect(judge(rule, {}, [ago(2 * HOUR - 1)])).toEqual({ matches: true, nextChangeAt: NOW + 1 });
    expect(judge(rule, {}, [ago(2 * HOUR)])).toEqual({ matches: false, nextChangeAt: undefined });
    expect(judge(rule, {}, [ago(HOUR), ago(90 * MINUTE)]).nextChangeAt).toBe(NOW + HOUR);
  });

  it.each([
    [{ min: 2 }, [false, false, true, true, true]],
    [{ max: 2 }, [true, true, true, false, false]],
    [{ min: 1, max: 2 }, [false, true, true, false, false]],
    [{ max: 0 }, [true, false, false, false, false]],
    [{ min: 0 }, [true, true, true, true, true]],
  ])("frequency %j is inclusive at both ends (RUL-7, RUL-13)", (frequency, expected) => {
    const happened = Array.from({ length: 4 }, (_, n) => ago(n * MINUTE));
    const verdicts = expected.map((_, count) => judge(event({ frequency }), {}, happened.slice(0, count)).matches);
    expect(verdicts).toEqual(expected);
  });

  it("who did not do it in the window comes in when the window of the last one ends (RUL-13)", () => {
    const rule = event({ within: "1d", frequency: { max: 0 } });
    expect(judge(rule, {}, [ago(HOUR)])).toEqual({ matches: false, nextChangeAt: NOW + 23 * HOUR });
    expect(judge(rule, {}, [ago(DAY)])).toEqual({ matches: true, nextChangeAt: undefined });
  });

  it("only events whose properties satisfy `where` count (RUL-8)", () => {
    const rule = event({ where: { total: { $gte: 10 } }, frequency: { min: 2 } });
    const happened = [ago(1, { total: 10 }), ago(2, { total: 9 }), ago(3, { total: "50" })];
    expect(judge(rule, {}, happened).matches).toBe(false);
    expect(judge(rule, {}, [...happened, ago(4, { total: 11 })]).matches).toBe(true);
  });

  it("every clause has its result (F2)", () => {
    const rule = {
      group: {
        op: "or",
        nodes: [
          { attribute: { plan: { $eq: "pro" }, gone: { $exists: false } } },
          event({ within: "1d", frequency: { min: 3 }, where: { total: { $gt: 1 } } }),
        ],
      },
    };
    expect(compileRule(rule).explain(factsOf({ plan: "free" }, [ago(1, { total: 5 })]))).toEqual([
      { path: "group.nodes[0].attribute.plan", matched: false, expected: { $eq: "pro" }, actual: "free" },
      { path: "group.nodes[0].attribute.gone", matched: true, expected: { $exists: false } },
      {
        path: "group.nodes[1].event",
        matched: false,
        expected: { name: "buy", within_seconds: 86_400, frequency: { min: 3 }, where: { total: { $gt: 1 } } },
        actual: 1,
      },
    ]);
  });
});

describe("caps", () => {
  const capped = { lookbackDays: 30, eventConditionsPerRule: 1 };
  it.each([
    ["RUL-6 all time", event(), "event"],
    ["SEG-13 too far", event({ within: "31d" }), "event"],
    ["SEG-13 too many", { group: { op: "or", nodes: [event({ within: "1d" }), event({ within: "2d" })] } }, ""],
    ["AMB-69 flat, all time", event({ count: 2 }), "event"],
  ])("%s is beyond a capped plan, not beyond an uncapped one", (_, rule, path) => {
    expect(capProblem(compileRule(rule), capped)?.path).toBe(path);
    expect(capProblem(compileRule(rule), { lookbackDays: null, eventConditionsPerRule: 5 })).toBeUndefined();
  });

  it("a window within the cap is fine (RUL-6)", () => {
    expect(capProblem(compileRule(event({ within: "30d" })), capped)).toBeUndefined();
  });
});

// The oracle: reads the rule as it was written, looks at every event, and finds the next change by trying every moment.
const values = fc.constantFrom<unknown>(1, 2, 3, "a", "b", null, true);
const operators = fc.oneof(
  fc.record({ $eq: values }),
  fc.record({ $ne: values }),
  fc.record({ $gt: fc.constantFrom(1, 2) }),
  fc.record({ $in: fc.array(values, { maxLength: 3 }) }),
  fc.record({ $exists: fc.boolean() }),
);
const predicates = fc.dictionary(fc.constantFrom("p", "q"), operators, { minKeys: 1 });
const frequencies = fc
  .tuple(fc.option(fc.nat(3), { nil: undefined }), fc.option(fc.nat(3), { nil: undefined }))
  .filter(([min, max]) => (min ?? 0) <= (max ?? 9) && (min ?? max) !== undefined)
  .map(([min, max]) => ({ ...(min !== undefined && { min }), ...(max !== undefined && { max }) }));
const eventNodes = fc
  .record(
    {
      name: fc.constantFrom("x", "y"),
      within: fc.constantFrom("1m", "3m", "1h"),
      frequency: frequencies,
      where: predicates,
    },
    { requiredKeys: ["name"] },
  )
  .map((node) => ({ event: node }));
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3 },
    predicates.map((attribute) => ({ attribute })),
    eventNodes,
    fc.record({
      group: fc.record({
        op: fc.constantFrom("and", "or"),
        nodes: fc.array(tie("tree"), { minLength: 1, maxLength: 3 }),
      }),
    }),
  ),
}));
const histories = fc.array(
  fc.record({
    name: fc.constantFrom("x", "y"),
    at: fc.integer({ min: NOW - 5 * MINUTE, max: NOW + MINUTE }),
    properties: fc.dictionary(fc.constantFrom("p", "q"), values),
  }),
  { maxLength: 8 },
);
const attributes = fc.dictionary(fc.constantFrom("p", "q"), values);

// biome-ignore lint/suspicious/noExplicitAny: the oracle reads raw JSON
type Raw = any;
const span: Record<string, number> = { "1m": MINUTE, "3m": 3 * MINUTE, "1h": HOUR };

function oracle(rule: Raw, known: Record<string, unknown>, events: readonly PastEvent[], at: number): boolean {
  if (rule.group) {
    const results: boolean[] = rule.group.nodes.map((node: Raw) => oracle(node, known, events, at));
    return rule.group.op === "and" ? !results.includes(false) : results.includes(true);
  }
  if (rule.attribute) return compilePredicate(rule.attribute)(known);
  const { name, within, frequency = { min: 1 }, where = {} } = rule.event;
  const isMeant = compilePredicate(where);
  const count = events.filter(
    (one) => one.name === name && isMeant(one.properties) && (within === undefined || one.at > at - span[within]!),
  ).length;
  return count >= (frequency.min ?? 0) && count <= (frequency.max ?? Number.POSITIVE_INFINITY);
}

function oracleNextChange(rule: Raw, known: Record<string, unknown>, events: readonly PastEvent[]): number | undefined {
  const before = oracle(rule, known, events, NOW);
  return events
    .flatMap(({ at }) => Object.values(span).map((length) => at + length))
    .filter((at) => at > NOW)
    .sort((a, b) => a - b)
    .find((at) => oracle(rule, known, events, at) !== before);
}

it("the verdict and the moment it changes are the oracle's, for any rule and history (RUL-1 to RUL-8, RUL-13)", () => {
  fc.assert(
    fc.property(tree, attributes, histories, (rule, known, events) => {
      expect(judge(rule, known, events)).toEqual({
        matches: oracle(rule, known, events, NOW),
        nextChangeAt: oracleNextChange(rule, known, events),
      });
    }),
    { numRuns: 1_500 },
  );
});

it("nothing changes before the moment that the verdict names (AMB-71)", () => {
  fc.assert(
    fc.property(tree, attributes, histories, fc.integer({ min: 0, max: 2 * HOUR }), (rule, known, events, later) => {
      const { matches: now, nextChangeAt = Number.POSITIVE_INFINITY } = judge(rule, known, events);
      const at = NOW + later;
      if (at < nextChangeAt) expect(judge(rule, known, events, at).matches).toBe(now);
      if (at === nextChangeAt) expect(judge(rule, known, events, at).matches).toBe(!now);
    }),
    { numRuns: 500 },
  );
});

it("the flat form has the same result as its tree, for any subscriber (RUL-9 to RUL-12)", () => {
  const flatAttribute = fc.oneof(
    fc.record({ key: fc.constantFrom("p", "q"), value: values }),
    fc.record({ key: fc.constantFrom("p", "q"), operator: fc.constantFrom("eq", "ne"), value: values }),
    fc.record({
      key: fc.constantFrom("p", "q"),
      operator: fc.constantFrom("gt", "gte", "lt", "lte"),
      value: fc.constantFrom(1, 2),
    }),
    fc.record({ key: fc.constantFrom("p", "q"), operator: fc.constantFrom("in", "nin"), value: fc.array(values) }),
    fc.record({ key: fc.constantFrom("p", "q"), operator: fc.constant("exists"), value: fc.boolean() }),
  );
  const flatEvent = fc.record(
    {
      name: fc.constantFrom("x", "y"),
      operator: fc.constantFrom("gte", "lte", "eq"),
      count: fc.nat(3),
      within_days: fc.integer({ min: 1, max: 3 }),
    },
    { requiredKeys: ["name", "operator"] },
  );
  const treeOf = ({ attribute, event: counted }: Raw) => {
    const nodes: object[] = [];
    if (attribute)
      nodes.push({ attribute: { [attribute.key]: { [`$${attribute.operator ?? "eq"}`]: attribute.value } } });
    if (counted) {
      const { name, operator, count = 1, within_days } = counted;
      const frequency = { ...(operator !== "lte" && { min: count }), ...(operator !== "gte" && { max: count }) };
      nodes.push({ event: { name, frequency, ...(within_days && { within: `${within_days}d` }) } });
    }
    return { group: { op: "and", nodes } };
  };
  const days = histories.map((events) => events.map((one) => ({ ...one, at: NOW - (NOW - one.at) * 900 })));
  const flat = fc
    .record({ attribute: flatAttribute, event: flatEvent }, { requiredKeys: [] })
    .filter((rule) => rule.attribute !== undefined || rule.event !== undefined);
  fc.assert(
    fc.property(flat, attributes, days, (rule, known, events) => {
      expect(judge(rule, known, events)).toEqual(judge(treeOf(rule), known, events));
    }),
    { numRuns: 1_000 },
  );
});

it("a rule reads only what it mentions", () => {
  const rule = { group: { op: "or", nodes: [{ attribute: { a: { $eq: 1 }, b: { $eq: 1 } } }, event(), event()] } };
  const { attributes: keys, events, root } = compileRule(rule);
  expect([[...keys], events.map(({ name }: EventNode) => name), (root as RuleNode).kind]).toEqual([
    ["a", "b"],
    ["buy", "buy"],
    "group",
  ]);
});
