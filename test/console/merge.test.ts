// What two people changed at once, put together.
import { expect, it } from "vitest";
import { changesOf, isSame, merge } from "../../console/app/merge.ts";

it("what only one of two people changed is taken from each (CON-3)", () => {
  const base = { name: "Hello", content: { title: "A", body: "B" } };
  const mine = { name: "Hello", content: { title: "Mine", body: "B" } };
  const theirs = { name: "Theirs", content: { title: "A", body: "Also theirs" } };
  const both = { name: "Theirs", content: { title: "Mine", body: "Also theirs" } };
  expect(merge(base, mine, theirs)).toEqual({ mine: both, theirs: both, overlaps: [] });
});

it("what both changed is named, with either of the two (CON-3)", () => {
  const merged = merge({ steps: [1], name: "A" }, { steps: [1, 2], name: "B" }, { steps: [0, 1], name: "A" });
  expect(merged).toEqual({
    mine: { steps: [1, 2], name: "B" },
    theirs: { steps: [0, 1], name: "B" },
    overlaps: [{ path: "steps", mine: [1, 2], theirs: [0, 1] }],
  });
});

it("what one person took away stays away, unless the other changed it (CON-3)", () => {
  expect(merge({ a: 1, b: 1 }, { b: 2 }, { a: 1, b: 1 }).mine).toEqual({ b: 2 });
  expect(merge({ a: 1 }, {}, { a: 2 }).overlaps).toEqual([{ path: "a", mine: undefined, theirs: 2 }]);
});

it("values are the same whatever the order of their keys (CON-3)", () => {
  expect(isSame({ a: 1, b: [{ c: null }] }, { b: [{ c: null }], a: 1, d: undefined })).toBe(true);
  expect(isSame({ a: [1] }, { a: [2] })).toBe(false);
});

it("a form saves what was changed in it alone, and empties what was emptied (CON-3)", () => {
  const begun = { name: "News", description: "Weekly", note: "", events: ["a"], active: true };
  const mine = { name: "News", events: ["a", "b"], active: false, more: "" };

  expect(changesOf<unknown>(begun, mine)).toEqual({ description: null, events: ["a", "b"], active: false, more: "" });
});
