// The links of an HTML body, found in one pass with the tolerance of a browser.
import { escapeHtml } from "./characters.ts";
import { usesRefusedScheme } from "./safe-url.ts";

const MAX_LINKS = 1_000;
/** Elements without markup inside. Each has its end; the end of a head may be omitted. */
const SILENT: ReadonlySet<string> = new Set(["script", "style", "title", "template"]);

/** The targets of the http and https links of an HTML body, and the pieces of the body around their `href` values. */
export function htmlLinks(html: string): { pieces: string[]; targets: string[] } {
  const pieces: string[] = [];
  const targets: string[] = [];
  let from = 0;
  for (const { tag, href } of hrefsOf(html)) {
    const target = tag === "a" ? targetOf(html.slice(href.valueFrom, href.valueTo)) : undefined;
    if (target === undefined || targets.length >= MAX_LINKS) continue;
    pieces.push(html.slice(from, href.from));
    targets.push(target);
    from = href.to;
  }
  pieces.push(html.slice(from));
  return { pieces, targets };
}

/** An HTML body with new targets for its http and https links. `n`: the position among them; `count`: their number. */
export function mappedLinks(html: string, change: (target: string, n: number, count: number) => string): string {
  const { pieces, targets } = htmlLinks(html);
  const [first = "", ...others] = pieces;
  return (
    first + others.map((piece, n) => `"${escapeHtml(change(targets[n] ?? "", n, targets.length))}"${piece}`).join("")
  );
}

/** An HTML body without targets for links with a scheme that runs or embeds something (`javascript:`, `data:`). */
export function withSafeLinks(html: string): string {
  let safe = "";
  let from = 0;
  for (const { href } of hrefsOf(html)) {
    if (!usesRefusedScheme(readUrl(html.slice(href.valueFrom, href.valueTo)))) continue;
    safe += `${html.slice(from, href.from)}"#"`;
    from = href.to;
  }
  return safe + html.slice(from);
}

/** The first `href` of each tag that has one. */
function* hrefsOf(html: string): Generator<{ tag: string; href: Value }> {
  for (let at = html.indexOf("<"); at >= 0; at = html.indexOf("<", at)) {
    if (html.startsWith("<!--", at)) {
      const end = html.slice(at + 2).search(/--!?>/);
      if (end < 0) return;
      at += 2 + end;
      continue;
    }
    const [, name = ""] = /^<([a-z][a-z0-9]{0,20})(?=[\s/>])/i.exec(html.slice(at, at + 24)) ?? [];
    const tag = name.toLowerCase();
    if (!tag) {
      at++;
      continue;
    }
    const { href, end } = attributesOf(html, at + 1 + name.length);
    at = end;
    if (SILENT.has(tag)) {
      // In lower case a text may be longer, such as one with İ.
      const close = html.slice(at).search(new RegExp(`</${tag}`, "i"));
      if (close < 0) return;
      at += close;
    }
    if (href) yield { tag, href };
  }
}

interface Value {
  /** The position of the value, with its quotes. */
  from: number;
  to: number;
  valueFrom: number;
  valueTo: number;
}

/** The first `href` of a tag, and where the tag ends, in one pass. */
function attributesOf(html: string, start: number): { href: Value | undefined; end: number } {
  let href: Value | undefined;
  let at = start;
  const skip = (pattern: RegExp) => {
    pattern.lastIndex = at;
    at = pattern.test(html) ? pattern.lastIndex : at;
  };
  while (at < html.length) {
    skip(/[\s/]*/y);
    if (html[at] === ">" || at >= html.length) break;
    const named = at;
    skip(/=?[^\s/>=]*/y);
    const name = html.slice(named, at).toLowerCase();
    skip(/\s*/y);
    if (html[at] !== "=") continue;
    at++;
    skip(/\s*/y);
    const from = at;
    const opening = html[at];
    const quote = opening === '"' || opening === "'" ? opening : "";
    if (quote) {
      const close = html.indexOf(quote, at + 1);
      // An unclosed quote makes it no tag.
      if (close < 0) return { href: undefined, end: html.length };
      at = close + 1;
    } else skip(/[^\s>]*/y);
    if (name === "href") href ??= { from, to: at, valueFrom: from + quote.length, valueTo: at - quote.length };
  }
  return { href, end: Math.min(at, html.length) };
}

/** The URL as a browser reads it; undefined if it is not an http or https URL. */
function targetOf(value: string): string | undefined {
  const text = readUrl(value);
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  return new URL(text).href;
}

/** The URL without the characters that a browser ignores. */
const readUrl = (value: string): string =>
  decodeEntities(value)
    .replaceAll(/[\t\r\n]/g, "")
    .replace(/^[\0-\x20]+/, "")
    .trimEnd();

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  copy: "©",
  reg: "®",
  euro: "€",
  hellip: "…",
  ndash: "–",
  mdash: "—",
  lsquo: "‘",
  rsquo: "’",
  ldquo: "“",
  rdquo: "”",
  bull: "•",
  middot: "·",
  shy: "",
};
const MAX_ENTITY = 10;
const LAST_CODE_POINT = 0x10ffff;

/** Text with its character references resolved. */
function decodeEntities(text: string): string {
  if (!text.includes("&")) return text;
  return text.replaceAll(/&(#x?[0-9a-f]{1,8}|[a-z]{1,10});/gi, (whole, name: string) => {
    if (!name.startsWith("#")) return (name.length <= MAX_ENTITY && ENTITIES[name]) || whole;
    const hex = name[1]?.toLowerCase() === "x";
    const point = Number.parseInt(name.slice(hex ? 2 : 1), hex ? 16 : 10);
    return point > 0 && point <= LAST_CODE_POINT ? String.fromCodePoint(point) : whole;
  });
}
