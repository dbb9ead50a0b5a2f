// The two bodies of an e-mail: HTML if it starts with a tag, else text with paragraphs; a text part always (D-EMAIL).

const STARTS_WITH_TAG = /^\s*<[a-z!]/i;
export const isHtml = (body: string): boolean => STARTS_WITH_TAG.test(body);
/** Without the punctuation that ends a sentence. */
const URL_IN_TEXT = /https?:\/\/[^\s<>"]*[^\s<>".,;:!?)\]}']/g;
/** Elements whose content is not displayed. */
export const SILENT: ReadonlySet<string> = new Set(["head", "script", "style", "title", "template"]);
const BREAKS = new Set(["br", "tr", "li", "div", "hr"]);
const PARAGRAPHS = new Set(["p", "h1", "h2", "h3", "h4", "h5", "h6", "table", "ul", "ol", "blockquote", "section"]);
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

export interface MailBodies {
  text: string;
  html: string;
}

/**
 * In the content of a mail that asks to confirm an opt-in, in place of the link: that is made when the mail is sent, and
 * is in the mail alone, for whoever has it confirms (AMB-129).
 */
export const CONFIRM_LINK = "https://confirm.invalid/";

/** The bodies of a mail with its link to confirm. */
export const withConfirmLink = ({ text, html }: MailBodies, link: string): MailBodies => ({
  text: text.replaceAll(CONFIRM_LINK, link),
  html: html.replaceAll(CONFIRM_LINK, link),
});

/** The text and the HTML of a body. */
export const mailBodies = (body: string, isMarkup = isHtml(body)): MailBodies =>
  isMarkup ? { text: textOfHtml(body), html: body } : { text: body, html: htmlOfText(body) };

/** Keeps a mailbox from showing the beginning of the body after a short preheader. */
const FILLER = "&#847;&zwnj;&nbsp;".repeat(60);

/** After what the content of a document begins, in the order in which they are looked for. */
const OPENINGS = [/<body(?:\s[^>]{0,2000})?>/i, /<\/head\s*>/i, /^\s*<!doctype[^>]{0,200}>/i];

/** HTML that begins with a hidden text, which mailboxes show after the subject (CHC-4). */
export function withPreheader(html: string, preheader: string): string {
  if (preheader.trim() === "") return html;
  const style = "display:none;max-height:0;overflow:hidden;mso-hide:all";
  const hidden = `<div style="${style}">${escapeHtml(preheader.replaceAll(/\s+/g, " ").trim())}${FILLER}</div>`;
  const opening = OPENINGS.map((pattern) => pattern.exec(html)).find(Boolean);
  const at = opening ? opening.index + opening[0].length : 0;
  return html.slice(0, at) + hidden + html.slice(at);
}

/** Empty lines separate paragraphs; other line ends become `<br>`. */
export function htmlOfText(text: string): string {
  const paragraphs = text
    .replaceAll("\r\n", "\n")
    .split(/\n{2,}/)
    .filter((paragraph) => paragraph.trim() !== "")
    .map((paragraph) => `<p>${withLinks(paragraph.trim()).replaceAll("\n", "<br>\n")}</p>`);
  return `<!doctype html>\n<html><body>\n${paragraphs.join("\n")}\n</body></html>`;
}

/** Text as HTML, its URLs as links (AMB-121). */
function withLinks(text: string): string {
  let html = "";
  let from = 0;
  for (const { 0: url, index } of text.matchAll(URL_IN_TEXT)) {
    html += `${escapeHtml(text.slice(from, index))}<a href="${escapeHtml(url)}">${escapeHtml(url)}</a>`;
    from = index + url.length;
  }
  return html + escapeHtml(text.slice(from));
}

export const escapeHtml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/** HTML without its tags, in one pass, with the URL after the text of each link. */
export function textOfHtml(html: string): string {
  const output = openText();
  const lower = html.toLowerCase();
  let link: { href: string; label(): string } | undefined;

  for (let at = 0; at < html.length; ) {
    const open = html.indexOf("<", at);
    output.add(decodeEntities(html.slice(at, open < 0 ? html.length : open)));
    if (open < 0) break;
    const comment = html.startsWith("<!--", open);
    const close = comment ? html.indexOf("-->", open) : html.indexOf(">", open);
    if (close < 0) break;
    at = close + (comment ? 3 : 1);
    const [, slash = "", name = ""] = /^<(\/?)([a-z][a-z0-9]{0,20})/i.exec(html.slice(open, open + 24)) ?? [];
    const tag = name.toLowerCase();
    if (SILENT.has(tag) && !slash) {
      const end = lower.indexOf(`</${tag}`, at);
      if (end < 0) break;
      at = end;
    } else if (PARAGRAPHS.has(tag)) output.breakLine(2);
    else if (BREAKS.has(tag)) output.breakLine(1);
    else if (tag === "a" && !slash) link = { href: hrefOf(html.slice(open, close)), label: output.since() };
    else if (tag === "a" && link) {
      if (link.href && link.label() !== link.href) output.add(` (${link.href})`);
      link = undefined;
    }
  }
  return output.text();
}

/** Collects text: repeated spaces become one, and lines neither start nor end with one. */
function openText() {
  const pieces: string[] = [];
  let breaks = 0;
  return {
    add: (added: string) => {
      const words = added.replaceAll(/\s+/g, " ");
      const isAtStart = breaks > 0 || pieces.length === 0 || pieces.at(-1)?.endsWith(" ");
      const text = isAtStart ? words.trimStart() : words;
      if (!text) return;
      const last = breaks > 0 ? pieces.pop() : undefined;
      if (last !== undefined) pieces.push(`${last.trimEnd()}${"\n".repeat(breaks)}`);
      pieces.push(text);
      breaks = 0;
    },
    breakLine: (count: number) => {
      breaks = Math.max(breaks, count);
    },
    /** Returns a function that returns the text added from here on. */
    since: () => {
      const from = pieces.length;
      return () => pieces.slice(from).join("").trim();
    },
    text: () => pieces.join("").trim(),
  };
}

function hrefOf(tag: string): string {
  const at = tag.search(/\shref\s{0,5}=/i);
  if (at < 0) return "";
  const value = tag.slice(tag.indexOf("=", at) + 1).trimStart();
  const quote = value[0] === '"' || value[0] === "'" ? value[0] : undefined;
  const end = quote ? value.indexOf(quote, 1) : value.search(/\s/);
  const href = decodeEntities(value.slice(quote ? 1 : 0, end < 0 ? value.length : end));
  return /^(https?:|mailto:)/i.test(href) ? href : "";
}

/** Text with its character references resolved. */
export function decodeEntities(text: string): string {
  if (!text.includes("&")) return text;
  return text.replaceAll(/&(#x?[0-9a-f]{1,8}|[a-z]{1,10});/gi, (whole, name: string) => {
    if (!name.startsWith("#")) return (name.length <= MAX_ENTITY && ENTITIES[name]) || whole;
    const hex = name[1]?.toLowerCase() === "x";
    const point = Number.parseInt(name.slice(hex ? 2 : 1), hex ? 16 : 10);
    return point > 0 && point <= LAST_CODE_POINT ? String.fromCodePoint(point) : whole;
  });
}
