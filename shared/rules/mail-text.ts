// The text of an HTML body: what a mailbox without HTML shows, and what channels of plain text say (D-EMAIL).
import { compile, type FormatCallback } from "html-to-text";

/** A document nested deeper than any mail is cut there. */
const MAX_DEPTH = 500;
const LINK = { linkBrackets: ["(", ")"] as [string, string], hideLinkHrefIfSameAsText: true };

/** Cells of a row are apart, whatever is in them. */
const cell: FormatCallback = (element, walk, builder) => {
  walk(element.children, builder);
  builder.addInline(" ");
};

/** What an image says to those who do not see it. */
const alternative: FormatCallback = (element, _, builder) => {
  const { alt = "" } = element.attribs as { alt?: string };
  builder.addInline(alt);
};

const convert = compile({
  wordwrap: false,
  limits: { maxDepth: MAX_DEPTH, ellipsis: "" },
  formatters: { cell, alternative },
  selectors: [
    { selector: "a", format: "inline" },
    { selector: 'a[href^="http:" i]', format: "anchor", options: LINK },
    { selector: 'a[href^="https:" i]', format: "anchor", options: LINK },
    { selector: 'a[href^="mailto:" i]', format: "anchor", options: LINK },
    { selector: "img", format: "alternative" },
    { selector: "ul", options: { itemPrefix: "- " } },
    ...["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({
      selector,
      options: { uppercase: false, leadingLineBreaks: 2 },
    })),
    { selector: "tr", format: "block", options: { leadingLineBreaks: 1, trailingLineBreaks: 1 } },
    { selector: "td", format: "cell" },
    { selector: "th", format: "cell" },
    ...["head", "script", "style", "title", "template"].map((selector) => ({ selector, format: "skip" })),
  ],
});

/** HTML without its tags: paragraphs and cells apart, lists with bullets, the URL after the text of each link. */
export const textOfHtml = (html: string): string => convert(html).trim();
