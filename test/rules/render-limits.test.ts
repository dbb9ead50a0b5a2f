import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  compileTemplate,
  isRenderError,
  RENDERED_BYTES,
  type RenderScope,
  TEMPLATE_BYTES,
  validateTemplate,
} from "../../shared/rules/render.ts";
import { growth, QUADRATIC } from "../support/growth.ts";

const scope: RenderScope = {
  subscriber: { id: "s-1", attributes: { first_name: "Ann" } },
  data: { code: "X1", items: [{ sku: "k" }] },
};

const render = (text: string, mode: "none" | "html" = "none", given: RenderScope = scope) =>
  compileTemplate(text).render(given, { now: 0, escape: mode });

describe("what personalisation refuses", () => {
  it.each([
    ["{% for a in data.items %}{% endfor %}", "for"],
    ["{% tablerow a in data.items %}{% endtablerow %}", "tablerow"],
    ["{% include 'a' %}", "include"],
    ["{% render 'a' %}", "render"],
    ["{% layout 'a' %}", "layout"],
    ["{% block a %}{% endblock %}", "block"],
    ["{% assign a = 1 %}", "assign"],
    ["{% capture a %}{% endcapture %}", "capture"],
    ["{% increment a %}", "increment"],
    ["{% decrement a %}", "decrement"],
    ["{% cycle 'a', 'b' %}", "cycle"],
    ["{% raw %}{{ a }}{% endraw %}", "raw"],
    ["{% echo a %}", "echo"],
    ["{% liquid echo a %}", "liquid"],
    ["{% comment %}{% endcomment %}", "comment"],
    ["{% constructor %}", "constructor"],
    ["{% __proto__ %}", "__proto__"],
    ["{{ data.items | map: 'sku' }}", "map"],
    ["{{ data.items | where_exp: 'a', 'b' }}", "where_exp"],
    ["{{ data | json }}", "json"],
    ["{{ data.code | raw }}", "raw"],
    ["{{ data.code | append: 'a' }}", "append"],
    ["{{ data.items | sample }}", "sample"],
    ["{{ data.code | constructor }}", "constructor"],
    ["{{ data.code", "not closed"],
    ["{% if data.code %}", "not closed"],
    ["{{ }}", "invalid value"],
    ["{% if %}{% endif %}", "invalid value"],
    ["{{ a ! b }}", "line:1"],
  ])("personalisation refuses %s and names the trouble (D-LIQUID)", (text, trouble) => {
    expect(validateTemplate(text)).toContain(trouble);
    expect(() => compileTemplate(text)).toThrow(expect.objectContaining({ name: "RenderError" }));
  });

  const nest = (depth: number) => "{% if true %}".repeat(depth) + "{% endif %}".repeat(depth);

  it.each<[limit: string, max: number, templateOf: (n: number) => string, said: RegExp]>([
    ["size", TEMPLATE_BYTES, (n) => "a".repeat(n), /at most 204800 bytes/],
    ["size, where signs have two bytes,", TEMPLATE_BYTES / 2, (n) => "é".repeat(n), /at most 204800 bytes/],
    ["nesting", 20, nest, /nest/],
    ["number of placeholders", 1_000, (n) => "{{ a }}".repeat(n), /1000 placeholders/],
  ])("personalisation limits a template's %s to %d (D-LIQUID)", (_, max, templateOf, said) => {
    expect(validateTemplate(templateOf(max))).toBeUndefined();
    expect(validateTemplate(templateOf(max + 1))).toMatch(said);
  });

  it("personalisation refuses a template that nests far too deep for its parser (D-LIQUID)", () => {
    expect(validateTemplate(nest(500))).toMatch(/nest/);
  });

  it("personalisation limits the result and the memory, with an Error named RenderError (D-LIQUID)", () => {
    const long = {
      ...scope,
      data: { v: "x".repeat(10_000), wide: "é".repeat(100_000), list: Array(200_000).fill("x") },
    };
    const failing = [
      "{{ data.v }}".repeat(30),
      "{{ data.wide }}{{ data.wide }}",
      "{{ (1..99999999) | size }}",
      "{{ (1..data.v) | join }}{{ (1..1e9) | join }}{{ data.list | join: data.v }}",
      `{{ data.v | replace: "x", data.v }}`,
    ];
    for (const text of failing) {
      expect(() => render(text, "none", long)).toThrow(expect.objectContaining({ name: "RenderError" }));
    }
    expect(render("{{ data.v }}".repeat(26), "none", long).text.length).toBeLessThan(RENDERED_BYTES);
    expect(() => render("{{ data.v }}".repeat(26), "html", { ...long, data: { v: "<".repeat(10_000) } })).toThrow();
  });

  it("personalisation tells its own errors from others (D-LIQUID)", () => {
    try {
      compileTemplate("{% for %}");
      expect.unreachable();
    } catch (error) {
      expect(isRenderError(error)).toBe(true);
    }
    expect(isRenderError(new Error("no"))).toBe(false);
  });

  it.each<[name: string, text: (length: number) => string]>([
    ["indices", (n) => `{{ ${"a[".repeat(n / 2)} }}`],
    ["properties", (n) => `{{ ${"a.".repeat(n / 2)} }}`],
    ["filters", (n) => `{{ a ${"| upcase ".repeat(n / 9)} }}`],
    ["conditions", (n) => `{% if ${"a and ".repeat(n / 6)} a %}{% endif %}`],
    ["blanks", (n) => `{{ ${" ".repeat(n)}`],
    ["backslashes", (n) => `{{ "${"\\".repeat(n)} }}`],
    ["tags that begin", (n) => "{%-".repeat(n / 3)],
    ["variables that begin", (n) => "{{".repeat(n / 2)],
    ["ranges that begin", (n) => `{{ ${"(1..".repeat(n / 4)} }}`],
  ])("personalisation of many %s takes at most the square of its length (D-LIQUID)", async (_name, text) => {
    const attempt = (length: number) => {
      try {
        if (validateTemplate(text(length)) === undefined) render(text(length));
      } catch (error) {
        expect(isRenderError(error)).toBe(true);
      }
    };

    expect(await growth(attempt, 60_000, QUADRATIC)).toBeLessThan(QUADRATIC);
  });

  it.each<[kind: string, nested: (levels: number) => string]>([
    ["indices", (levels) => `{{ ${"a[".repeat(levels)}0${"]".repeat(levels)} }}`],
    ["indices of a condition", (levels) => `{% if ${"a[".repeat(levels)}0${"]".repeat(levels)} %}{% endif %}`],
    ["indices after a text of brackets", (levels) => `{{ "[[" }}{{ ${"a[".repeat(levels)}0${"]".repeat(levels)} }}`],
  ])("%s nest at most 20 levels deep, whatever the machine's stack holds (D-LIQUID)", (_kind, nested) => {
    expect(validateTemplate(nested(20))).toBeUndefined();
    expect(validateTemplate(nested(21))).toBe("must not nest brackets deeper than 20 levels");
    expect(validateTemplate(nested(15_000))).toBe("must not nest brackets deeper than 20 levels");
  });

  it("brackets outside of placeholders are text, however deep they nest (D-LIQUID)", () => {
    expect(validateTemplate(`{{ a }}${"[(".repeat(100)}{{ "[[[[[[[[[[[[[[[[[[[[[[[[" }}`)).toBeUndefined();
  });

  it("personalisation never throws anything but a RenderError (D-LIQUID)", () => {
    const piece = fc.constantFrom(
      "{{",
      "}}",
      "{%",
      "%}",
      " if ",
      " else ",
      " endif ",
      " data.code ",
      "|",
      ":",
      "'",
      "date",
      "a",
      "[",
      "]",
      "(1..3)",
      "-",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 15 }), (pieces) => {
        const text = pieces.join("");
        if (validateTemplate(text) !== undefined) return;
        expect(typeof render(text).text).toBe("string");
      }),
      { numRuns: 500 },
    );
  });
});
