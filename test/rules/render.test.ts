import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileTemplate, type RenderScope } from "../../shared/rules/render.ts";

const now = Date.UTC(2026, 0, 2, 3, 4, 5);

const scope: RenderScope = {
  subscriber: {
    id: "s-1",
    external_id: "ext-1",
    email: "ann+news@example.com",
    attributes: {
      first_name: "Ann",
      id: "not this",
      plan: "pro",
      age: 30,
      vip: true,
      timezone: "America/New_York",
      tags: ["a", "b"],
      address: { city: "Ulm" },
      markup: `<b>"x" & 'y'</b>`,
      liquid: "{{ data.code }}{% if true %}!{% endif %}",
    },
  },
  data: { code: "X1", price: 12.5, at: "2026-07-01T03:30:00Z", born: "1990-05-06", items: [{ sku: "k" }], zero: 0 },
  event: { name: "bought", total: 3 },
};

const render = (text: string, mode: "none" | "html" = "none", given: RenderScope = scope) =>
  compileTemplate(text).render(given, { now, escape: mode });

describe("personalisation", () => {
  it.each([
    ["{{ subscriber.first_name }}", "Ann"],
    ["{{ subscriber.attributes.first_name }}", "Ann"],
    ["{{ subscriber.id }}|{{ subscriber.external_id }}|{{ subscriber.email }}", "s-1|ext-1|ann+news@example.com"],
    ["{{ subscriber.attributes.id }}", "not this"],
    ["{{ data.code }}-{{ data['code'] }}-{{ data.items[0].sku }}", "X1-X1-k"],
    ["{{ event.name }} {{ event.total }}", "bought 3"],
    ["{{ subscriber.age }} {{ subscriber.vip }} {{ data.zero }}", "30 true 0"],
    ["{{ subscriber.tags }} {{ subscriber.tags | join: ', ' }}", "ab a, b"],
    [
      "{{ subscriber.tags.size }} {{ subscriber.tags.first }} {{ subscriber.tags.last }} {{ subscriber.tags[1] }}",
      "2 a b b",
    ],
    ["{{ subscriber.first_name.size }}", "3"],
    ["{{ subscriber.address.city }}", "Ulm"],
    ["{{ data.items.first.sku }} {{ data.items.sku }}", "k k"],
    ['{{ subscriber.nick | default: "there" }}', "there"],
    ["{{ subscriber.first_name | default: 'there' }}", "Ann"],
    ["{{ 'aBc' | upcase }} {{ 'aBc' | downcase }} {{ 'aBC d' | capitalize }} {{ ' a ' | strip }}.", "ABC abc Abc d a."],
    ["{{ 'abcdefgh' | truncate: 5 }} {{ 'a-b' | replace: '-', '+' }}", "ab... a+b"],
    [
      "{{ 7 | plus: 1 }} {{ 7 | minus: 1 }} {{ 7 | times: 2 }} {{ 7 | divided_by: 2 }} {{ 2.567 | round: 1 }}",
      "8 6 14 3.5 2.6",
    ],
    ["{{ subscriber.tags | size }} {{ subscriber.tags | first }} {{ subscriber.tags | last }}", "2 a b"],
    ["{{ '<a>' | escape }}", "&lt;a&gt;"],
    ["https://x.example/?e={{ subscriber.email | url_encode }}", "https://x.example/?e=ann%2Bnews%40example.com"],
    ["{% if subscriber.plan == 'pro' %}P{% elsif subscriber.plan %}Q{% else %}R{% endif %}", "P"],
    ["{% if subscriber.age >= 18 and subscriber.tags contains 'b' %}yes{% endif %}", "yes"],
    ["{% unless subscriber.vip %}no{% else %}vip{% endunless %}", "vip"],
    ["{% case subscriber.plan %}{% when 'free' %}F{% when 'pro' %}P{% else %}?{% endcase %}", "P"],
    ["a {%- if true -%} b {%- endif %} c", "ab c"],
    ["{ not liquid } }} %} 100%", "{ not liquid } }} %} 100%"],
  ])("personalisation renders %s (D-LIQUID)", (text, expected) => {
    expect(render(text)).toEqual({ text: expected, unknown: [] });
  });

  it("personalisation renders an unknown variable empty and lists its path once (D-LIQUID)", () => {
    expect(
      render("Hi {{ subscriber.nick }}{{ subscriber.nick }}{{ foo }}{{ data.a.b }}{{ event.x | upcase }}!"),
    ).toEqual({
      text: "Hi !",
      unknown: ["subscriber.nick", "foo", "data.a.b", "event.x"],
    });
    const bare: RenderScope = { subscriber: { id: "s", attributes: {} }, data: {} };
    expect(render("{{ subscriber.email }}{{ event.total }}", "none", bare).unknown).toEqual([
      "subscriber.email",
      "event.total",
    ]);
  });

  it("personalisation does not list what a condition asks or a default replaces (D-LIQUID)", () => {
    expect(render("{% if subscriber.nick %}{{ subscriber.nick }}{% endif %}{{ subscriber.x | default: 'y' }}")).toEqual(
      {
        text: "y",
        unknown: [],
      },
    );
    expect(render("{% if subscriber.nick %}a{% endif %}{{ '' }}").unknown).toEqual([]);
    const emptied = { ...scope, data: { empty: "", nothing: null } };
    expect(render("{{ data.empty }}{{ data.nothing }}", "none", emptied).unknown).toEqual(["data.nothing"]);
  });

  it("personalisation reads a name with dots before the path through objects (D-LIQUID, AMB-148)", () => {
    const attributes = { "address.city": "Ulm", address: { city: "Bonn", zip: "53111" } };
    const text =
      "{{ subscriber.address.city }} {{ subscriber.attributes.address.city }} {{ subscriber.address.zip }} {{ data.a.b }}";
    const given = { ...scope, subscriber: { id: "s", attributes }, data: { "a.b": 1 } };

    expect(render(text, "none", given)).toEqual({ text: "Ulm Ulm 53111 1", unknown: [] });
  });

  it("personalisation reads own properties only, and no invented ones (D-LIQUID)", () => {
    const text =
      "{{ subscriber.constructor }}{{ subscriber.__proto__ }}{{ data.toString }}{{ data.hasOwnProperty.name }}" +
      "{{ subscriber.attributes.size }}{{ data.first }}{{ subscriber.first_name.length }}{{ subscriber.tags.map }}";
    expect(render(text).text).toBe("");
    const sized = { ...scope, subscriber: { id: "s", attributes: { size: "XL", first: 1 } } };
    expect(render("{{ subscriber.size }}{{ subscriber.attributes.first }}", "none", sized).text).toBe("XL1");
    const hostile = JSON.parse('{"__proto__": {"polluted": "p"}, "id": "z"}');
    expect(
      render("{{ subscriber.polluted }}{{ subscriber.id }}", "none", {
        ...scope,
        subscriber: { id: "s", attributes: hostile },
      }).text,
    ).toBe("s");
  });

  it("personalisation writes nothing for objects and impossible numbers (D-LIQUID)", () => {
    expect(render("[{{ subscriber.address }}{{ data.items }}{{ 1 | divided_by: 0 }}{{ nil }}{{ empty }}]").text).toBe(
      "[]",
    );
  });

  it("personalisation never expands a value again (D-LIQUID)", () => {
    expect(render("{{ subscriber.liquid }}").text).toBe(scope.subscriber.attributes.liquid);
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("{", "}", "%", " ", "a", "data.code") }), (value) => {
        expect(render("{{ data.v }}", "none", { ...scope, data: { v: value } }).text).toBe(value);
      }),
    );
  });

  it("personalisation escapes values for HTML, once, and leaves the template's own text alone (D-LIQUID)", () => {
    const escaped = "&lt;b&gt;&#34;x&#34; &amp; &#39;y&#39;&lt;/b&gt;";
    expect(render("<p>{{ subscriber.markup }}</p>", "html").text).toBe(`<p>${escaped}</p>`);
    expect(render("{{ subscriber.markup | escape }}", "html").text).toBe(escaped);
    expect(render("{{ subscriber.markup }}", "none").text).toBe(scope.subscriber.attributes.markup);
    fc.assert(
      fc.property(fc.string(), (value) => {
        const { text } = render("{{ data.v }}", "html", { ...scope, data: { v: value } });
        expect(text).not.toMatch(/[<>"']/);
      }),
    );
  });

  it.each([
    ["{{ 'now' | date: '%Y-%m-%d %H:%M:%S' }}", "2026-01-02 03:04:05"],
    ["{{ 'today' | date: '%F' }}", "2026-01-02"],
    ["{{ 'now' | date: '%F %R', subscriber.timezone }}", "2026-01-01 22:04"],
    ["{{ data.at | date: '%-d %B %Y, %H:%M', 'Europe/Berlin' }}", "1 July 2026, 05:30"],
    ["{{ data.at | date: '%H:%M', 'Nowhere/Land' }}", "03:30"],
    ["{{ data.born | date: '%d.%m.%Y', subscriber.timezone }}", "06.05.1990"],
    ["{{ 1767323045 | date: '%F %T' }} {{ '1767323045' | date: '%F' }}", "2026-01-02 03:04:05 2026-01-02"],
    ["{{ data.at | date }}", "July 1, 2026"],
    ["{{ 'not a date' | date: '%Y' }}", "not a date"],
    ["{{ '2026-02-30' | date: '%Y' }}", "2026-02-30"],
    ["{{ 99999999999999 | date: '%Y' }}", "99999999999999"],
    ["{{ subscriber.nick | date: '%Y' }}", ""],
  ])("formats dates by the time passed in: %s (D-LIQUID)", (text, expected) => {
    expect(render(text).text).toBe(expected);
  });

  it("personalisation leaves a text without placeholders untouched (D-LIQUID)", () => {
    const compiled = compileTemplate("100 % plain { text }");
    expect(compiled.isStatic).toBe(true);
    expect(compiled.render(scope, { now, escape: "html" })).toEqual({ text: "100 % plain { text }", unknown: [] });
    expect(compileTemplate("{{ a }}").isStatic).toBe(false);
    expect(compileTemplate("{% if a %}{% endif %}").isStatic).toBe(false);
  });

  it("personalisation remembers a template, and renders it for one subscriber after another (D-LIQUID)", () => {
    const text = "Hi {{ subscriber.first_name }}{{ subscriber.nick }}";
    expect(compileTemplate(text)).toBe(compileTemplate(text));
    const other: RenderScope = { subscriber: { id: "s-2", attributes: { nick: "Bo" } }, data: {} };
    expect(render(text)).toEqual({ text: "Hi Ann", unknown: ["subscriber.nick"] });
    expect(render(text, "none", other)).toEqual({ text: "Hi Bo", unknown: ["subscriber.first_name"] });
    expect(render(text)).toEqual({ text: "Hi Ann", unknown: ["subscriber.nick"] });
    const first = compileTemplate(text);
    for (let i = 0; i < 150; i++) compileTemplate(`{{ data.n${i} }}`);
    expect(compileTemplate(text)).not.toBe(first);
  });
});
