// Adds to a mail: tracked links, an open pixel, and links to unsubscribe and to the preferences (D-EMAIL, TPC-4).

import { decodeEntities, escapeHtml, type MailBodies, SILENT } from "../rules/mail-body.ts";
import type { Translation } from "../rules/translations.ts";

export type MailParts = MailBodies;

export interface MailUrls {
  /** Only of marketing mail. */
  unsubscribe?: string | undefined;
  /** Only of mail with a topic. */
  preferences?: string | undefined;
  /** The lines of its sender, and the words of its links; English without. */
  sender?: readonly string[];
  words?: Pick<Translation, "unsubscribe" | "preferences">;
  /** Both only of mail whose opens and clicks are counted. */
  open?: string | undefined;
  click?(target: string, link: number, links: number): string;
}

/** The parts of a mail. The links of the text part are not tracked. */
export function mailParts({ text, html }: MailBodies, urls: MailUrls): MailParts {
  const { sender = [], words = { unsubscribe: "Unsubscribe", preferences: "Preferences" } } = urls;
  const own = [
    { label: words.unsubscribe, url: urls.unsubscribe },
    { label: words.preferences, url: urls.preferences },
  ].flatMap(({ label, url }) => (url === undefined ? [] : [{ label, url }]));
  const anchors = own.map(({ label, url }) => `<a href="${url}">${label}</a>`).join(" ");
  const lines = [...sender.map(escapeHtml), anchors].join("<br>");
  const added =
    (own.length === 0 ? "" : `${UNSUBSCRIBE}${lines}</p>`) +
    (urls.open === undefined ? "" : `${PIXEL}src="${urls.open}" width="1" height="1" alt="" style="border:0">`);
  const linked = urls.click ? withLinks(html, urls.click) : html;
  const end = linked.toLowerCase().lastIndexOf("</body");
  const at = end < 0 ? linked.length : end;
  return {
    text:
      own.length === 0
        ? text
        : text + SIGNATURE + [...sender, ...own.map(({ label, url }) => `${label}: ${url}`)].join("\n"),
    html: linked.slice(0, at) + added + linked.slice(at),
  };
}

function withLinks(html: string, click: NonNullable<MailUrls["click"]>): string {
  const { pieces, targets } = htmlLinks(html);
  const [first = "", ...others] = pieces;
  return (
    first + others.map((piece, n) => `"${escapeHtml(click(targets[n] ?? "", n, targets.length))}"${piece}`).join("")
  );
}

const UNSUBSCRIBE = '<p data-part="unsubscribe" style="font-size:12px;color:#666666">';
const PIXEL = '<img data-part="open" ';
const SIGNATURE = "\n\n-- \n";

const FOOTER = /(<p data-part="unsubscribe"[^>]*>.*?<\/p>)?<img data-part="open" [^>]*>/;

/** The parts without the footer and the pixel of `mailParts`. Tracked links stay. */
export function withoutAdditions({ text, html }: MailParts): MailParts {
  const hasFooter = FOOTER.exec(html)?.[1] !== undefined;
  const end = hasFooter ? text.lastIndexOf(SIGNATURE) : -1;
  return { text: end < 0 ? text : text.slice(0, end), html: html.replace(FOOTER, "") };
}

/** The targets of the http and https links of an HTML body, and the pieces of the body around their `href` values. */
export function htmlLinks(html: string): { pieces: string[]; targets: string[] } {
  const pieces: string[] = [];
  const targets: string[] = [];
  const lower = html.toLowerCase();
  let from = 0;
  for (let at = html.indexOf("<"); at >= 0; at = html.indexOf("<", at)) {
    if (html.startsWith("<!--", at)) {
      const end = html.indexOf("-->", at);
      if (end < 0) break;
      at = end;
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
      const close = lower.indexOf(`</${tag}`, at);
      if (close < 0) break;
      at = close;
    }
    const target = tag === "a" && href ? targetOf(html.slice(href.valueFrom, href.valueTo)) : undefined;
    if (!href || target === undefined || targets.length >= MAX_LINKS) continue;
    pieces.push(html.slice(from, href.from));
    targets.push(target);
    from = href.to;
  }
  pieces.push(html.slice(from));
  return { pieces, targets };
}

const MAX_LINKS = 1_000;

interface Value {
  /** With its quotes. */
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
      // Without its closing quote it is not a tag.
      if (close < 0) return { href: undefined, end: html.length };
      at = close + 1;
    } else skip(/[^\s>]*/y);
    if (name === "href") href ??= { from, to: at, valueFrom: from + quote.length, valueTo: at - quote.length };
  }
  return { href, end: Math.min(at, html.length) };
}

/** The URL as a browser reads it; undefined if it is not an http or https URL. */
function targetOf(value: string): string | undefined {
  const text = decodeEntities(value)
    .replaceAll(/[\t\r\n]/g, "")
    .trim();
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  return new URL(text).href;
}
