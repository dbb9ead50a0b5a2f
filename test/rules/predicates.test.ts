import fc from "fast-check";
import { Query } from "mingo";
import { describe, expect, it } from "vitest";
import { compilePredicate, PREDICATE_OPERATORS, validatePredicate } from "../../shared/rules/predicates.ts";
import { growth, LINEAR } from "../support/growth.ts";

const instant = "2024-05-05T00:00:00Z";
const sameInstant = "2024-05-05T02:00:00.000+02:00";
const later = "2024-05-05T01:00:00+00:00";

const matches = (predicate: unknown, attributes: Record<string, unknown>): boolean =>
  compilePredicate(predicate)(attributes);

describe("predicates", () => {
  // Operator, operand, then values that match and values that do not (undefined stands for a missing key).
  const table: [string, unknown, unknown[], unknown[]][] = [
    ["$eq", 5, [5, [1, 5]], [4, "5", true, null, undefined, [], {}, [[5]]]],
    ["$eq", [], [[]], [0, "", null, undefined, [1], {}]],
    ["$ne", [], [0, null, undefined, [1]], [[]]],
    ["$in", [[], 1], [[], 1, [1]], [2, null, undefined]],
    ["$eq", "5", ["5"], [5, "05", undefined]],
    ["$eq", true, [true, [false, true]], [false, 1, "true", undefined]],
    ["$eq", null, [null], [undefined, 0, "", false]],
    ["$eq", 0, [0, -0], ["", false, null, undefined]],
    ["$eq", "", [""], [0, null, undefined]],
    ["$ne", 5, [4, "5", null, undefined, [], [4]], [5, [4, 5]]],
    ["$ne", null, [undefined, 0], [null]],
    ["$gt", 5, [6, 5.1, [1, 6]], [5, 4, "6", true, null, undefined, []]],
    ["$gte", 5, [5, 6], [4.9, "5", undefined]],
    ["$lt", 5, [4, -1e300], [5, 6, "4", null, false, undefined]],
    ["$lte", 5, [5, 4], [5.1, "5", undefined]],
    ["$gt", "b", ["ba", "c"], ["b", "a", "B", 99, undefined]],
    ["$gte", "b", ["b", "c"], ["a", "B", undefined]],
    ["$lt", "b", ["a", "B", ""], ["b", "c", 0, undefined]],
    ["$lte", "b", ["b", "a"], ["ba", null]],
    ["$gt", "\uffff", [], ["\u{1f600}"]], // by code unit, not by code point
    ["$in", [1, "a", true, null], [1, "a", true, null, ["z", "a"]], ["1", 2, false, undefined, []]],
    ["$in", [], [], [1, "", null, undefined, []]],
    ["$nin", [1, "a"], [2, "1", null, undefined, []], [1, "a", ["b", "a"]]],
    ["$nin", [], [1, undefined, []], []],
    ["$exists", true, [0, "", false, null, []], [undefined]],
    ["$exists", false, [undefined], [0, "", false, null, []]],
    ["$eq", instant, [instant, sameInstant, "2024-05-05"], [later, "2024-05-06", undefined]],
    ["$ne", instant, [later, "2024-05-06", undefined], [instant, sameInstant, "2024-05-05"]],
    ["$in", ["x", instant], ["x", sameInstant], [later]],
    ["$nin", [instant], [later, undefined], [sameInstant]],
    ["$gt", instant, [later], [instant, sameInstant, undefined]],
    ["$gte", instant, [later, sameInstant], ["2024-05-04T23:59:59Z"]],
    ["$lt", later, [sameInstant], [later]],
    ["$lt", instant, ["2024-05-04T23:59:59Z", "2024-05-04"], ["2024-05-05T01:00:00+01:00"]],
  ];

  it.each(table)("{%s: %j} decides on each side (NTF-15, AMB-52)", (operator, operand, accepted, refused) => {
    const predicate = compilePredicate({ key: { [operator]: operand } });
    const verdicts = (values: unknown[]) =>
      values.map((value) => [value, predicate(value === undefined ? { other: 1 } : { key: value })]);
    expect(verdicts(accepted)).toEqual(accepted.map((value) => [value, true]));
    expect(verdicts(refused)).toEqual(refused.map((value) => [value, false]));
  });

  it("the rule of predicates knows exactly the nine operators (NTF-15)", () => {
    expect([...PREDICATE_OPERATORS].sort()).toEqual(
      ["$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$exists"].sort(),
    );
  });

  it("a predicate ANDs several keys and several operators on one key (AMB-69)", () => {
    const predicate = { age: { $gte: 18, $lt: 65 }, plan: { $in: ["pro", "max"] } };
    expect(matches(predicate, { age: 18, plan: "pro" })).toBe(true);
    expect(matches(predicate, { age: 65, plan: "pro" })).toBe(false);
    expect(matches(predicate, { age: 17, plan: "pro" })).toBe(false);
    expect(matches(predicate, { age: 18, plan: "free" })).toBe(false);
    expect(matches(predicate, { age: 18 })).toBe(false);
    expect(matches({}, {})).toBe(true);
  });

  it("the rule of predicates reads own attributes only (NTF-13)", () => {
    for (const key of ["toString", "valueOf", "hasOwnProperty", "isPrototypeOf"]) {
      expect(matches({ [key]: { $exists: true } }, {})).toBe(false);
      expect(matches({ [key]: { $exists: true } }, { [key]: 1 })).toBe(true);
    }
    expect(matches({ a: { $exists: true } }, Object.create({ a: 1 }))).toBe(false);
    expect(matches({ a: { $exists: true } }, { a: undefined })).toBe(false);
    expect(matches({ "a.b": { $eq: 1 } }, { "a.b": 1 })).toBe(true);
  });

  const refusals: [string, unknown, string][] = [
    ["no object", [], ""],
    ["null", null, ""],
    ["a string", "age > 5", ""],
    ["a bare value", { age: 5 }, "age"],
    ["a null for a key", { age: null }, "age"],
    ["an array for a key", { age: [5] }, "age"],
    ["an empty operator object", { age: {} }, "age"],
    ["an unknown operator", { age: { $regex: "x" } }, "age.$regex"],
    ["an operator without $", { age: { eq: 5 } }, "age.eq"],
    ["an inherited operator name", { age: { toString: 5 } }, "age.toString"],
    ["logic on top", { $not: { $eq: 1 } }, "$not"],
    ["logic with a list", { $or: [{ a: { $eq: 1 } }] }, "$or"],
    ["an object to $eq", { age: { $eq: {} } }, "age.$eq"],
    ["an array to $eq", { age: { $eq: [1] } }, "age.$eq"],
    ["an infinite number", { age: { $ne: Number.POSITIVE_INFINITY } }, "age.$ne"],
    ["a boolean to $gt", { age: { $gt: true } }, "age.$gt"],
    ["a null to $lte", { age: { $lte: null } }, "age.$lte"],
    ["an array to $gte", { age: { $gte: [1] } }, "age.$gte"],
    ["NaN to $lt", { age: { $lt: Number.NaN } }, "age.$lt"],
    ["no array to $in", { age: { $in: 5 } }, "age.$in"],
    ["no array to $nin", { age: { $nin: "a" } }, "age.$nin"],
    ["an object inside $in", { age: { $in: [1, "a", {}] } }, "age.$in[2]"],
    ["an array inside $nin", { age: { $nin: [[1]] } }, "age.$nin[0]"],
    ["a number to $exists", { age: { $exists: 1 } }, "age.$exists"],
    ["a text to $exists", { age: { $exists: "true" } }, "age.$exists"],
    ["the second operator wrong", { age: { $gt: 1, $foo: 1 } }, "age.$foo"],
    ["the second key wrong", { age: { $gt: 1 }, b: 1 }, "b"],
    ["a prototype key", JSON.parse('{"__proto__": {"$eq": 1}}'), "__proto__"],
    ["the key constructor", { constructor: { $eq: 1 } }, "constructor"],
    ["a prototype key as operator", JSON.parse('{"a": {"__proto__": 1}}'), "a.__proto__"],
  ];

  it.each(refusals)("the rule of predicates refuses %s and names the place (RUL-4, AMB-69)", (_, predicate, path) => {
    expect(validatePredicate(predicate)?.path).toBe(path);
    expect(() => compilePredicate(predicate)).toThrow(TypeError);
  });

  it("the rule of predicates limits a predicate to 50 keys and 200 operands (NTF-13)", () => {
    const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, { $eq: i }]));
    const list = (count: number) => Array.from({ length: count }, (_, i) => i);
    expect(validatePredicate(keys(50))).toBeUndefined();
    expect(validatePredicate(keys(51))).toEqual({ path: "", reason: "must have at most 50 keys" });
    expect(validatePredicate({ a: { $in: list(199), $gt: 1 } })).toBeUndefined();
    expect(validatePredicate({ a: { $in: list(200), $gt: 1 } })?.reason).toBe("must have at most 200 operands");
    expect(validatePredicate({ a: { $nin: list(150) }, b: { $in: list(51) } })?.reason).toMatch(/200 operands/);
    const manyEmpty = Object.fromEntries(list(50).map((i) => [`k${i}`, { $in: [], $nin: [], $eq: 1, $ne: 2, $gt: 0 }]));
    expect(validatePredicate(manyEmpty)?.reason).toMatch(/200 operands/);
  });

  const word = fc.string({ maxLength: 2, unit: fc.constantFrom("a", "b", "B", "é", "\u{1f600}") });
  const scalar = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.constantFrom(0.5, -0.5), word, fc.boolean());
  const orderable = fc.oneof(fc.integer({ min: -3, max: 3 }), word);
  const operators = fc
    .record(
      {
        $eq: scalar,
        $ne: scalar,
        $gt: orderable,
        $gte: orderable,
        $lt: orderable,
        $lte: orderable,
        $in: fc.array(scalar, { maxLength: 4 }),
        $nin: fc.array(scalar, { maxLength: 4 }),
        $exists: fc.boolean(),
      },
      { requiredKeys: [] },
    )
    .filter((found) => Object.keys(found).length > 0);
  const key = fc.constantFrom("x", "y", "z");
  const attributes = fc.dictionary(key, fc.oneof(scalar, fc.array(scalar, { maxLength: 3 })), { maxKeys: 3 });

  it("the rule of predicates agrees with Mongo's semantics (mingo) wherever both define them (NTF-15)", () => {
    fc.assert(
      fc.property(fc.dictionary(key, operators, { maxKeys: 3 }), attributes, (predicate, subscriber) => {
        expect(matches(predicate, subscriber)).toBe(new Query(predicate).test(subscriber));
      }),
      { numRuns: 1_000 },
    );
  });

  it("the rule of predicates answers each operator and its opposite differently (NTF-15)", () => {
    fc.assert(
      fc.property(scalar, fc.array(scalar, { maxLength: 4 }), attributes, (operand, list, subscriber) => {
        const says = (operator: string, value: unknown) => matches({ x: { [operator]: value } }, subscriber);
        expect(says("$ne", operand)).toBe(!says("$eq", operand));
        expect(says("$nin", list)).toBe(!says("$in", list));
        expect(says("$exists", false)).toBe(!says("$exists", true));
        expect(says("$in", [operand])).toBe(says("$eq", operand));
      }),
    );
  });

  it("the rule of predicates never throws on hostile values (NTF-13)", () => {
    fc.assert(
      fc.property(fc.anything(), fc.dictionary(fc.string(), fc.anything()), (value, subscriber) => {
        if (validatePredicate(value) === undefined) expect(typeof matches(value, subscriber)).toBe("boolean");
      }),
    );
  });
});

describe("keys with dots", () => {
  const person = {
    address: { city: "Berlin", geo: { at: { lat: 1 } }, note: null },
    "plan.name": "pro",
    plan: { name: "free" },
    orders: [{ sku: "a", tags: ["x", "y"] }, { sku: "b", tags: [] }, 7],
    none: [],
  };

  it.each([
    ["a path", { "address.city": { $eq: "Berlin" } }, true],
    ["$ne is the negation", { "address.city": { $ne: "Berlin" } }, false],
    ["$nin is the negation", { "address.city": { $nin: ["Paris", "Berlin"] } }, false],
    ["four levels", { "address.geo.at.lat": { $eq: 1 } }, true],
    ["a null at its end has a value", { "address.note": { $exists: true } }, true],
    ["a literal key wins", { "plan.name": { $eq: "pro" } }, true],
    ["also where it does not match", { "plan.name": { $eq: "free" } }, false],
    ["any element of a list", { "orders.sku": { $in: ["b"] } }, true],
    ["no element of a list", { "orders.sku": { $nin: ["b"] } }, false],
    ["lists in lists", { "orders.tags": { $eq: "y" } }, true],
    ["a path that ends early", { "address.city.name": { $exists: true } }, false],
    ["a path of no attribute", { "office.city": { $ne: "Berlin" } }, true],
    ["a path through an empty list", { "none.sku": { $exists: false } }, true],
    ["a path through what an object inherits", { "address.toString": { $exists: true } }, false],
  ])("%s (AMB-148)", (_, predicate, expected) => {
    expect(matches(predicate, person)).toBe(expected);
  });

  it("a path of five levels has no value (AMB-148)", () => {
    expect(matches({ "a.b.c.d.e": { $exists: true } }, { a: { b: { c: { d: { e: 1 } } } } })).toBe(false);
  });

  it("$ne and $nin are the negations of $eq and $in, for any key and value (AMB-148)", () => {
    const leaf = fc.oneof(fc.constantFrom(1, "a", null, []), fc.array(fc.constantFrom(1, "a"), { maxLength: 2 }));
    const inner = fc.oneof(leaf, fc.record({ b: leaf }), fc.array(fc.record({ b: leaf }), { maxLength: 2 }));
    fc.assert(
      fc.property(
        fc.record({ a: inner }, { requiredKeys: [] }),
        fc.constantFrom(1, "a", null),
        (attributes, operand) => {
          const is = (operators: object) => matches({ "a.b": operators }, attributes);
          expect(is({ $ne: operand })).toBe(!is({ $eq: operand }));
          expect(is({ $nin: [operand] })).toBe(!is({ $in: [operand] }));
        },
      ),
    );
  });
});

describe("relative dates", () => {
  it.each(["now-3d", "NOW + 2 weeks", "today-1d", "now-1d/d", "now() - 3d", "now() - interval '3 days'"])(
    "%s is refused in every place of an operand (RUL-4)",
    (text) => {
      for (const operators of [{ $eq: text }, { $gte: text }, { $in: ["x", text] }])
        expect(validatePredicate({ last_seen: operators })?.reason).toMatch(/relative date/);
    },
  );

  it.each(["now/d", "now()", "CURRENT_DATE", "last week", "past 7 days", "-P3D", "PT12H", "{{ now }}"])(
    "before or after %s is refused: every other text would be before or after it (RUL-4)",
    (text) => {
      for (const operators of [{ $lt: text }, { $gte: text }])
        expect(validatePredicate({ last_seen: operators })?.reason).toMatch(/relative date/);
      expect(validatePredicate({ last_seen: { $eq: text } })).toBeUndefined();
    },
  );

  it.each(["Paris", "P3", "last", "this", "now and then"])("after %s is a text (RUL-4)", (text) => {
    expect(validatePredicate({ city: { $gt: text } })).toBeUndefined();
  });

  it.each(["+interval ", "-1d", "+1 d", " "])(
    "a text of many %j that is no relative date in the end takes no longer than its length (RUL-4)",
    async (part) => {
      const problem = (times: number) => validatePredicate({ last_seen: { $eq: `now${part.repeat(times)}\n` } });

      expect(problem(18)).toBeUndefined();
      expect(await growth(problem, 24)).toBeLessThan(LINEAR);
    },
  );

  it.each(["now", "now-playing", "today", "2024-04-19"])("%s is a text (RUL-4)", (text) => {
    expect(validatePredicate({ last_seen: { $eq: text } })).toBeUndefined();
  });
});
