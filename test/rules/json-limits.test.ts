import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isRefusedKey, type JsonLimits, checkJson as problemOf } from "../../shared/rules/json-limits.ts";

const checkJson = (value: unknown, limits?: Partial<JsonLimits>): string | undefined => {
  const { path, reason } = problemOf(value, limits) ?? {};
  return path ? `${reason} at ${path}` : reason;
};

const nested = (depth: number): unknown => {
  let value: unknown = 1;
  for (let i = 0; i < depth; i++) value = i % 2 ? [value] : { a: value };
  return value;
};
const wide = (keys: number): unknown => Object.fromEntries(Array.from({ length: keys }, (_, i) => [`k${i}`, i]));

describe("limits on parsed JSON", () => {
  it("the limit on parsed JSON accepts scalars and ordinary values", () => {
    for (const value of [null, true, 0, -1.5, "", "text", [], {}, { a: [{ b: null }] }]) {
      expect(checkJson(value)).toBeUndefined();
    }
  });

  it("the limit on parsed JSON refuses depth beyond the limit and names the place", () => {
    expect(checkJson(nested(20))).toBeUndefined();
    expect(checkJson(nested(21))).toMatch(/^must not be nested deeper than 20 levels at /);
    expect(checkJson({ rule: { nodes: [0, { group: {} }] } }, { depth: 4 })).toBe(
      "must not be nested deeper than 4 levels at rule.nodes[1].group",
    );
    expect(checkJson([], { depth: 0 })).toBe("must not be nested deeper than 0 levels");
    expect(checkJson("bare", { depth: 0 })).toBeUndefined();
  });

  it("the limit on parsed JSON survives hostile depth and width without recursing", () => {
    expect(checkJson(JSON.parse("[".repeat(200_000) + "]".repeat(200_000)))).toMatch(/deeper than 20/);
    expect(checkJson(nested(100_000), { depth: 200_000 })).toMatch(/keys/);
    expect(checkJson(nested(3_000), { depth: 3_000, keys: 3_000 })).toBeUndefined();
    expect(checkJson(Array.from({ length: 500_000 }, (_, i) => i))).toMatch(/20000 list entries/);
  });

  it("the limit on parsed JSON counts keys over the whole value, not the elements of arrays", () => {
    expect(checkJson(wide(1_000))).toBeUndefined();
    expect(checkJson(wide(1_001))).toBe("must not hold more than 1000 keys");
    expect(checkJson([wide(600), wide(400)])).toBeUndefined();
    expect(checkJson([wide(600), wide(401)])).toBe("must not hold more than 1000 keys");
    expect(checkJson(wide(6), { keys: 5 })).toBe("must not hold more than 5 keys");
  });

  it("the limit on parsed JSON counts the elements of all arrays together", () => {
    const list = (length: number) => Array<number>(length).fill(0);
    expect(checkJson(list(20_000))).toBeUndefined();
    expect(checkJson({ a: list(20_001) })).toBe("must not hold more than 20000 list entries");
    expect(checkJson([list(3), list(2)], { elements: 7 })).toBeUndefined();
    expect(checkJson([list(3), list(3)], { elements: 7 })).toBe("must not hold more than 7 list entries");
  });

  it("the limit on parsed JSON counts the text of keys and strings together", () => {
    expect(checkJson({ abc: ["de", "f"] }, { characters: 6 })).toBeUndefined();
    expect(checkJson({ abc: ["de", "fg"] }, { characters: 6 })).toBe("must not hold more than 6 characters of text");
    expect(checkJson({ abc: "", defg: "" }, { characters: 6 })).toBe("must not hold more than 6 characters of text");
    expect(checkJson("x".repeat(1_048_577))).toMatch(/characters/);
  });

  it.each(["__proto__", "constructor", "prototype"])(
    "the limit on parsed JSON refuses the key %s at any depth",
    (key) => {
      expect(isRefusedKey(key)).toBe(true);
      expect(checkJson(JSON.parse(`{"${key}": 1}`))).toBe(`must not use the key "${key}"`);
      expect(checkJson(JSON.parse(`{"a": [{"b": {"${key}": {}}}]}`))).toBe(`must not use the key "${key}" at a[0].b`);
    },
  );

  it("the limit on parsed JSON refuses half of a surrogate pair: two such ids would have the same bytes (GEN-3)", () => {
    for (const half of ["\ud83d", "\ude00", "a\ude00\ud83d"]) {
      expect(checkJson({ external_id: half })).toBe("must not hold half a character at external_id");
      expect(checkJson({ a: [{ [half]: 1 }] })).toBe("must not hold half a character in a key at a[0]");
    }
    expect(checkJson({ external_id: "\ud83d\ude00" })).toBeUndefined();
  });

  it("the limit on parsed JSON allows other inherited names and look-alikes", () => {
    expect(
      checkJson(JSON.parse('{"toString": 1, "hasOwnProperty": 2, "Constructor": 3, "__proto": 4}')),
    ).toBeUndefined();
    expect(isRefusedKey("toString")).toBe(false);
    expect(checkJson(["__proto__", "constructor"])).toBeUndefined();
  });

  it("the limit on parsed JSON refuses numbers that are not finite", () => {
    expect(checkJson(JSON.parse('{"a": {"b": [1, 1e400]}}'))).toBe("must not hold a number out of range at a.b[1]");
    expect(checkJson(Number.NaN)).toBe("must not hold a number out of range");
    expect(checkJson([Number.NEGATIVE_INFINITY])).toBe("must not hold a number out of range at [0]");
  });

  it("shortens a long path", () => {
    const reason = checkJson({ ["k".repeat(500)]: Number.NaN }) ?? "";
    expect(reason.length).toBeLessThan(180);
    expect(reason.endsWith("…")).toBe(true);
  });

  it("the limit on parsed JSON finds exactly the depth that a recursive count finds", () => {
    const depthOf = (value: unknown): number =>
      typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.integer({ min: 0, max: 6 }), (value, depth) => {
        const reason = checkJson(value, { depth });
        if (reason === undefined) expect(depthOf(value)).toBeLessThanOrEqual(depth);
        else if (reason.includes("deeper")) expect(depthOf(value)).toBeGreaterThan(depth);
      }),
    );
  });
});
