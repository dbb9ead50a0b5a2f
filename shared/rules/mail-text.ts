// The text of an HTML body, for mailboxes without HTML and channels of plain text (D-EMAIL). It takes linear time for
// any HTML (docs/decisions/0104).
import { compile, type FormatCallback } from "html-to-text";
import { Parser } from "htmlparser2";

/** A document is cut where it is nested deeper than any real mail. */
const MAX_DEPTH = 256;
/** Deeper quotes and lists become paragraphs: each level would repeat its prefix before every line. */
const MAX_INDENTS = 5;
/** A text is at most as long as its HTML, except a short one: rules and prefixes are longer than their tags. */
const SHORT_CHARACTERS = 10_000;
const LINK = { linkBrackets: ["(", ")"] as [string, string], hideLinkHrefIfSameAsText: true };

/** The open elements while a document is walked. */
interface Open {
  indents: number;
  links: number;
}

interface Formatting {
  metadata: Open;
  options: { formatters: Record<string, FormatCallback> };
}

/** The format of the library, or another one if this many of the kind are open. */
const upTo =
  (most: number, kind: keyof Open, usual: string, deeper: string): FormatCallback =>
  (element, walk, builder, options) => {
    const { metadata: open, options: known } = builder as unknown as Formatting;
    const format = known.formatters[open[kind] < most ? usual : deeper];
    open[kind] += 1;
    format?.(element, walk, builder, options);
    open[kind] -= 1;
  };

/** Separates the cells of a row, whatever their content. */
const cell: FormatCallback = (element, walk, builder) => {
  walk(element.children, builder);
  builder.addInline(" ");
};

/** The alternative text of an image. */
const alternative: FormatCallback = (element, _, builder) => {
  const { alt = "" } = element.attribs as { alt?: string };
  builder.addInline(alt);
};

const convert: (html: string, open?: Open) => string = compile({
  wordwrap: false,
  limits: { maxDepth: MAX_DEPTH, ellipsis: "" },
  formatters: {
    cell,
    alternative,
    link: upTo(1, "links", "anchor", "inline"),
    quote: upTo(MAX_INDENTS, "indents", "blockquote", "block"),
    bullets: upTo(MAX_INDENTS, "indents", "unorderedList", "block"),
    numbers: upTo(MAX_INDENTS, "indents", "orderedList", "block"),
  },
  selectors: [
    { selector: "a", format: "inline" },
    { selector: 'a[href^="http:" i]', format: "link", options: LINK },
    { selector: 'a[href^="https:" i]', format: "link", options: LINK },
    { selector: 'a[href^="mailto:" i]', format: "link", options: LINK },
    { selector: "img", format: "alternative" },
    { selector: "blockquote", format: "quote" },
    { selector: "ul", format: "bullets", options: { itemPrefix: "- " } },
    { selector: "ol", format: "numbers" },
    ...["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({
      selector,
      options: { uppercase: false, leadingLineBreaks: 2 },
    })),
    ...["li", "tr"].map((selector) => ({
      selector,
      format: "block",
      options: { leadingLineBreaks: 1, trailingLineBreaks: 1 },
    })),
    { selector: "td", format: "cell" },
    { selector: "th", format: "cell" },
    ...["head", "script", "style", "title", "template"].map((selector) => ({ selector, format: "skip" })),
  ],
});

/** The document up to the element that is nested too deep: to close an element, a parser searches all open ones. */
function shallow(html: string): string {
  let depth = 0;
  let end = html.length;
  const parser = new Parser({
    onopentagname: () => {
      depth += 1;
      if (depth <= MAX_DEPTH) return;
      end = parser.startIndex;
      parser.pause();
    },
    onclosetag: () => {
      depth -= 1;
    },
  });
  parser.write(html);
  return html.slice(0, end);
}

/** HTML without its tags: paragraphs and cells apart, lists with bullets, the URL after the text of each link. */
export const textOfHtml = (html: string): string =>
  convert(shallow(html), { indents: 0, links: 0 }).trim().slice(0, Math.max(html.length, SHORT_CHARACTERS));
