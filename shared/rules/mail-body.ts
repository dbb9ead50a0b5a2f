// The two bodies of an e-mail: HTML if it starts with a tag, else text with paragraphs; a text part always (D-EMAIL).
import { textOfHtml } from "./mail-text.ts";

const STARTS_WITH_TAG = /^\s*<[a-z!]/i;
export const isHtml = (body: string): boolean => STARTS_WITH_TAG.test(body);
/** Without the punctuation that ends a sentence. */
const URL_IN_TEXT = /https?:\/\/[^\s<>"]*[^\s<>".,;:!?)\]}']/g;
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
  return `<!doctype html>\n<html><body dir="auto">\n${paragraphs.join("\n")}\n</body></html>`;
}

/** Text whose URLs are replaced. */
export const mappedUrls = (text: string, change: (url: string) => string): string =>
  text.replaceAll(URL_IN_TEXT, (url) => change(url));

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
