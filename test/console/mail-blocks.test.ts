// Mails made of blocks: what each block becomes as HTML, and the mails to begin with.
import { describe, expect, it } from "vitest";
import { onColour } from "../../console/mail/colours.ts";
import { type Block, type Design, PLAIN, readDesign } from "../../console/mail/design.ts";
import { kinds, newBlock, types } from "../../console/mail/kinds.ts";
import { inTheme, isTooLarge, mailHtml, sampled } from "../../console/mail/mail.ts";
import { blockOf } from "../../console/mail/refused.ts";
import { designOf, starters } from "../../console/mail/starters.ts";
import { contentProblems } from "../../shared/rules/content-grammar.ts";
import { validateTemplate } from "../../shared/rules/render.ts";

const designed = (...blocks: Block[]): Design => ({ look: PLAIN, blocks });
const htmlOf = (...blocks: Block[]): string => mailHtml(designed(...blocks));
/** What Gmail, Outlook, Apple Mail, Yahoo and Samsung's program all read, at least in part, by the data of caniemail.com. */
const READ = new Set(
  `html head meta style table tr td div h1 h2 h3 p a ul li span strong br img
  lang charset name content class style cellpadding cellspacing border width height bgcolor align valign href src alt
  margin margin-right padding padding-left padding-right background font font-family font-size font-weight line-height
  letter-spacing color text-align text-decoration vertical-align width max-width height border border-top border-color
  display:block display:inline-block display:none`.split(/\s+/),
);

/** What one of them drops, and what is left then. */
const DROPPED: Readonly<Record<string, string>> = {
  body: "a div with its styles takes its place",
  role: "for screen readers, which Outlook tells by itself",
  target: "links leave a mailbox anyhow",
  "@media": "columns wrap by their widths, and the mail stays light",
  "border-radius": "corners are square",
  overflow: "corners are square",
};

/** For Outlook alone, or nobody but it. */
const OUTLOOK = /^(-ms|mso)-/;

/** The elements, attributes and properties of a mail, without what comments say to Outlook alone. */
function usesOf(html: string): string[] {
  const shown = html.replaceAll(/<!--[\s\S]*?-->/g, "");
  const tags = [...shown.matchAll(/<([a-z]\w*)([^>]*)>/g)];
  const attributes = tags.flatMap(([, , all = ""]) => [...all.matchAll(/\s([a-z-]+)="([^"]*)"/g)]);
  const sheet = /<style>(.*?)<\/style>/s.exec(shown)?.[1] ?? "";
  const styles = attributes.flatMap(([, name, value]) => (name === "style" ? [value ?? ""] : []));
  const rules = [...styles, ...[...sheet.matchAll(/\{([^{}]*)\}/g)].map(([, rule = ""]) => rule)];
  const properties = rules
    .flatMap((rule) => [...rule.matchAll(/(?:^|;)\s*([a-z-]+):([^;]*)/g)])
    .map(([, name, value]) => (name === "display" ? `display:${value}` : (name ?? "")));
  const names = [...tags, ...attributes].map(([, name = ""]) => name);
  return [...new Set([...names, ...properties, ...(sheet.match(/@[a-z]+/g) ?? [])])];
}

const TEXT = { ...newBlock("text"), type: "text", size: "normal", align: "left" } as const;

describe("a block", () => {
  it("what the service refuses is said of the block that it stands in, and of none where the HTML is another (CON-3)", () => {
    const own = { ...newBlock("html"), code: "<p>\n{{ subscriber.name | shout }}</p>" } as Block;
    const design = designed({ ...TEXT, text: "Hello" }, own, { ...TEXT, text: "Bye" });
    const html = mailHtml(design);
    const [above = ""] = html.split("{{");
    const reason = `undefined filter: shout, line:${above.split("\n").length}, col:${above.split("\n").at(-1)!.length + 1}`;
    const refused = { id: own.id, name: "HTML, block 2 of 3", reason: "undefined filter: shout" };
    expect(blockOf(design, html, reason)).toEqual(refused);
    expect(validateTemplate(html)).toBe(reason);
    expect(blockOf(design, `${html} `, reason)).toBe(undefined);
    expect(blockOf(design, html, "undefined filter: shout, line:1, col:1")).toBe(undefined);
    expect(blockOf(design, html, "is too long")).toBe(undefined);
  });

  it("a block of a mail is escaped as text, but for what the service fills in (CON-3)", () => {
    const text = `1 < 2 & "3" {{ subscriber.name | default: "a <b>" }}`;
    expect(htmlOf({ ...TEXT, text })).toContain(
      `1 &lt; 2 &amp; &quot;3&quot; {{ subscriber.name | default: "a <b>" }}`,
    );
  });

  it("a block of text has paragraphs, lines, bold words, links and lists (CON-3)", () => {
    const html = htmlOf({ ...TEXT, text: "One **bold**\ntwo [words](https://a.example/)\n\n- x\n- y" });
    expect(html).toMatch(
      /<p [^>]*>One <strong>bold<\/strong><br>two <a href="https:\/\/a.example\/"[^>]*>words<\/a><\/p>/,
    );
    expect(html).toMatch(/<ul [^>]*><li [^>]*>x<\/li><li [^>]*>y<\/li><\/ul>/);
  });

  it.each(types)(
    "a block of kind %s is HTML without a class that carries its looks, and closes what it opens (CON-3)",
    (type) => {
      const html = htmlOf(newBlock(type));
      for (const tag of ["table", "tr", "td", "div", "p", "ul"]) {
        const count = (pattern: string) => html.match(new RegExp(pattern, "g"))?.length ?? 0;
        expect([tag, count(`<${tag}[ >]`)]).toEqual([tag, count(`</${tag}>`)]);
      }
      expect(html.match(/<!--\[if mso\]>/g)).toHaveLength(html.match(/<!\[endif\]-->/g)!.length);
      expect(kinds[type].label).not.toBe("");
    },
  );

  it("a block on a background of its own has one colour of text, also where the mailbox is dark (CON-3)", () => {
    const html = htmlOf({ ...TEXT, text: "Words", back: "#0b2a3a" });
    expect(html).toContain('bgcolor="#0b2a3a"');
    expect(html).toMatch(/<p style="[^"]*color:#ffffff[^"]*">Words/);
    expect(onColour("#ffe08a")).toBe("#111318");
  });
});

it.each([
  ["with 30,000 letters", "a", 30_000],
  ["with 103,000 letters, which are too many in its design", "a", 103_000],
  ["with 33,000 letters of three bytes", "字", 33_000],
])("a mail %s is said to be too large where the service refuses it (CON-3)", (_, letter, count) => {
  const design = designed({ ...TEXT, text: letter.repeat(count) });
  const html = mailHtml(design);
  const refusals = [...contentProblems({ email: { html, design: JSON.stringify(design) } }), validateTemplate(html)];
  expect(isTooLarge(html, design)).toBe(refusals.some(Boolean));
});

describe("a mail to begin with", () => {
  it.each(starters)(
    "the mail to begin with $name is short enough, and valid where the service fills it in (CON-3)",
    (starter) => {
      const design = designOf(starter);
      const html = mailHtml(design);
      const email = { html, design: JSON.stringify(design), subject: starter.subject, preheader: starter.preheader };
      expect(contentProblems({ email })).toEqual([]);
      expect(JSON.stringify(email).length).toBeLessThan(30_000);
      expect([html, starter.subject].map((text) => validateTemplate(text))).toEqual([undefined, undefined]);
      expect(readDesign(email.design)).toEqual(design);
    },
  );
});

it("mails use nothing that a large mailbox program drops, but what they can do without (CON-3)", () => {
  const pictured = { ...newBlock("image"), url: "https://a.example/b.png" } as Block;
  const mails = [...starters.map((starter) => mailHtml(designOf(starter))), htmlOf(pictured, ...types.map(newBlock))];
  const uses = [...new Set(mails.flatMap(usesOf))].filter((one) => !OUTLOOK.test(one));
  expect(uses).toContain("img");
  expect(uses.filter((use) => !READ.has(use)).sort()).toEqual(Object.keys(DROPPED).sort());
});

it("what another program kept as a design is not read as one (CON-3)", () => {
  expect(["", "{", "[]", '{"blocks":{}}', undefined].map(readDesign)).toEqual(Array(5).fill(undefined));
});

it("a mail is shown as a light or a dark mailbox shows it (CON-3)", () => {
  const html = htmlOf(newBlock("text"));
  expect(html).toContain("@media (prefers-color-scheme:dark)");
  expect(inTheme(html, true)).toContain("@media all{");
  expect(inTheme(html, false)).toContain("@media not all{");
});

it("a variable is shown as its fallback, or its name (CON-3)", () => {
  expect(sampled("Hello {{ subscriber.first_name | default: 'there' }}, {{subscriber.last_order}}")).toBe(
    "Hello there, last order",
  );
});
