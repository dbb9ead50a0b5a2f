import { describe, expect, it } from "vitest";
import { isRenderError } from "../../shared/rules/render.ts";
import { compileData, validateData } from "../../shared/rules/render-data.ts";

const scope = { subscriber: { id: "s-1", attributes: { name: "Ann" } }, data: {} };
const render = (data: object) => compileData(data).render(scope, { now: 0 });

describe("personalised data", () => {
  it("personalised data have strings filled at any depth, names and other values as they are, and what is unknown listed once (D-LIQUID)", () => {
    const data = {
      "{{ x }}": ["{{ subscriber.name }}", { a: "{{ subscriber.no }}{{ subscriber.no }}", n: 1.5, z: null }],
    };
    expect(render(data)).toEqual({
      data: { "{{ x }}": ["Ann", { a: "", n: 1.5, z: null }] },
      unknown: ["subscriber.no"],
    });
    expect(data["{{ x }}"][0]).toBe("{{ subscriber.name }}");
  });

  it("personalised data without placeholders are the same object (D-LIQUID)", () => {
    const data = { a: "} {", b: ["{ }"] };
    expect(compileData(data).isStatic).toBe(true);
    expect(render(data).data).toBe(data);
  });

  it("a string of personalised data that is not valid stays as it is, beside valid ones (D-LIQUID)", () => {
    const data = { bad: "{{ oops", good: "{{ subscriber.name }}" };
    expect(render(data).data).toEqual({ bad: "{{ oops", good: "Ann" });
    expect(compileData({ bad: "{{ oops" }).isStatic).toBe(true);
    expect(validateData(data)).toMatch(/^bad: /);
  });

  it("personalised data are bounded in placeholders and in bytes of the result (D-LIQUID)", () => {
    expect(validateData({ list: Array.from({ length: 1_000 }, () => "{{ a }}") })).toBeUndefined();
    expect(validateData({ list: Array.from({ length: 501 }, () => "{{ a }}{{ b }}") })).toMatch(/1000 placeholders/);
    const wide = { ...scope, subscriber: { id: "s-1", attributes: { name: "é".repeat(40_000) } } };
    const fill = (data: object) => () => compileData(data).render(wide, { now: 0 });
    expect(fill({ a: "{{ subscriber.name }}" })).not.toThrow();
    expect(fill({ a: "{{ subscriber.name }}", b: "{{ subscriber.name }}" })).toThrow(expect.toSatisfy(isRenderError));
  });
});
