// Texts of Pinpoint become Liquid, and what has no counterpart is named (F26).
import { describe, expect, it } from "vitest";
import { createReport } from "../../sdk/src/cli/pinpoint/report.ts";
import { liquidOf } from "../../sdk/src/cli/pinpoint/texts.ts";
import { compileTemplate } from "../../shared/rules/render.ts";

const at = { kind: "templates", name: "Welcome" };
const defaults = { User: { UserAttributes: { FirstName: "friend" } } };

function converted(text: string, field = "Body") {
  const report = createReport();
  const liquid = liquidOf(text, defaults, report, at, field);
  return { liquid, lost: report.entries.map(({ reason }) => reason) };
}

const shown = (text: string, subscriber: object): string =>
  compileTemplate(converted(text).liquid).render(
    { subscriber: { id: "s", external_id: "ada", email: null, attributes: subscriber } } as never,
    {
      now: 0,
      escape: "none",
    },
  ).text;

describe("placeholders", () => {
  it.each([
    ["{{User.UserAttributes.FirstName}}", { FirstName: "Ada" }, "Ada"],
    ["{{User.UserAttributes.FirstName}}", {}, "friend"],
    ["{{User.UserAttributes.Interests.[0]}}", { Interests: ["music", "sport"] }, "music"],
    ["{{User.UserAttributes.Interests.[0]}}", { Interests: "music" }, "music"],
    ["{{User.UserAttributes.Interests.[1]}}", { Interests: ["music", "sport"] }, "sport"],
    ["{{User.UserAttributes.FirstName.[0]}}", {}, "friend"],
    ["{% of {{User.UserAttributes.FirstName}}%}", {}, "{% of friend%}"],
    ["{{upper User.UserAttributes.FirstName}}", { FirstName: "Ada" }, "ADA"],
    ["{{upper Attributes.likes.[0]}}", { likes: ["tea", "go"] }, "TEA"],
    ["{{upper Attributes.likes.[0]}}", { likes: "tea" }, "TEA"],
    ['{{defaultIfEmpty Attributes.likes.[0] "nothing"}}', { likes: ["tea", "go"] }, "tea"],
    ["a{{!-- was {{User.UserId}} --}}b", {}, "ab"],
    ["{{lower User.UserAttributes.FirstName}}", {}, "friend"],
    ["{{defaultIfEmpty Attributes.city 'your town'}}", {}, "your town"],
    ["{{join Attributes.likes ', '}}", { likes: ["a", "b"] }, "a, b"],
    ["a{{!-- what people do not see --}}b{{! nor this }}", {}, "ab"],
  ])("%s of %j is %s (F26)", (text, subscriber, expected) => {
    expect(shown(text, subscriber)).toBe(expected);
  });
});

describe("blocks", () => {
  const greeting = "{{#if Attributes.vip}}Dear{{else}}Hi{{/if}} you";
  it.each([
    [greeting, { vip: "yes" }, "Dear you"],
    [greeting, {}, "Hi you"],
    [greeting, { vip: "" }, "Hi you"],
    ["{{#unless Attributes.vip}}Join{{/unless}}", {}, "Join"],
    ['{{#eq Attributes.plan "pro"}}P{{else}}F{{/eq}}', { plan: "pro" }, "P"],
    ['{{#eq Attributes.plan "pro"}}P{{else}}F{{/eq}}', { plan: "free" }, "F"],
    ["{{#gt Metrics.age 17}}adult{{/gt}}", { age: 36 }, "adult"],
    ["{{#if Attributes.a}}A{{else if Attributes.b}}B{{else}}C{{/if}}", { b: "1" }, "B"],
    ["{{#if Attributes.a}}{{#if Attributes.b}}both{{/if}}{{/if}}!", { a: "1", b: "1" }, "both!"],
    ["{{#each Attributes.likes}}{{this}}, {{/each}}", { likes: ["a", "b"] }, "a, b"],
    ["{{#each Attributes.likes}}<li>{{this}}</li>{{else}}none{{/each}}", { likes: ["a", "b"] }, "<li>a</li><li>b</li>"],
    ["{{#each Attributes.likes}}<li>{{this}}</li>{{else}}none{{/each}}", { likes: "a" }, "<li>a</li>"],
    ["{{#each Attributes.likes}}<li>{{this}}</li>{{else}}none{{/each}}", {}, "none"],
    ['{{#eq Attributes.city.[0] "Ulm"}}U{{else}}-{{/eq}}', { city: "Ulm" }, "U"],
    ['{{#eq Attributes.city.[0] "Ulm"}}U{{else}}-{{/eq}}', { city: ["Ulm", "Bonn"] }, "U"],
    ['{{#eq Attributes.city.[1] "Ulm"}}U{{else}}-{{/eq}}', { city: ["Ulm", "Bonn"] }, "-"],
    ['{{#neq Attributes.plan "pro"}}N{{else}}-{{/neq}}', { plan: "free" }, "N"],
    ['{{#ne Attributes.city.[0] "Ulm"}}N{{else}}-{{/ne}}', { city: ["Ulm", "Bonn"] }, "-"],
    ["{{#if Attributes.city.[0]}}Y{{else}}-{{/if}}", { city: ["Ulm"] }, "Y"],
    ["{{#if Attributes.city.[1]}}Y{{else}}-{{/if}}", { city: ["Ulm"] }, "-"],
    ["{{~#if Attributes.vip~}}Dear{{~else~}}Hi{{~/if~}}", { vip: "1" }, "Dear"],
  ])("%s of %j is %s (F26)", (text, subscriber, expected) => {
    expect(converted(text).lost).toEqual([]);
    expect(shown(text, subscriber)).toBe(expected);
  });

  it("a block without a counterpart is left out and named, and its else is kept (F26)", () => {
    const { liquid, lost } = converted("a{{#with User}}x{{else}}y{{/with}}b");
    expect([liquid, lost]).toEqual(["ayb", ["has {{#with User}}…{{/with}}, which was left out"]]);
  });

  it("a value of HTML is text here, which is named where it matters (F26)", () => {
    const { liquid, lost } = converted("{{{Attributes.banner}}}", "HtmlPart");
    expect(liquid).toBe("{{ subscriber.banner }}");
    expect(lost).toEqual(["has {{{Attributes.banner}}}, whose value is shown as text: HTML in it is none here"]);
    expect(converted("{{{Attributes.banner}}}").lost).toEqual([]);
  });

  it.each(["{{join Attributes.likes}}", "{{upper Attributes.a 'b'}}", "{{capitalize Attributes.a}}"])(
    "a helper without a filter of its meaning is left out and named: %s (F26)",
    (text) => {
      expect(converted(text)).toEqual({ liquid: "", lost: [`has ${text}, which was left out`] });
    },
  );

  it("a block that is never closed loses its tag alone (F26)", () => {
    const { liquid, lost } = converted("a {{#if Attributes.vip}} b");
    expect([liquid, lost]).toEqual(["a  b", ["has {{#if Attributes.vip}}, which was left out"]]);
  });
});
