// The two bodies of an email: HTML if the content starts with a tag, else text with paragraphs; always a text part
// (D-EMAIL).
import { escapeHtml } from "./characters.ts";
import { textOfHtml } from "./mail-text.ts";

const STARTS_WITH_TAG = /^\s*<[a-z!]/i;
export const isHtml = (body: string): boolean => STARTS_WITH_TAG.test(body);
const URL_IN_TEXT = /https?:\/\/[^\s<>"]+/g;
const ENDS_A_SENTENCE = new Set(".,;:!?'");
const OPENING: Readonly<Record<string, string>> = { ")": "(", "]": "[", "}": "{" };
export interface MailBodies {
  text: string;
  html: string;
}

/**
 * The placeholder of the link in a mail that asks to confirm an opt-in. The link is made when the mail is sent, and is
 * only in that mail, because it confirms for anybody who has it (AMB-129).
 */
export const CONFIRM_LINK = "https://confirm.invalid/";

export const withConfirmLink = ({ text, html }: MailBodies, link: string): MailBodies => ({
  text: text.replaceAll(CONFIRM_LINK, link),
  html: html.replaceAll(CONFIRM_LINK, link),
});

export const mailBodies = (body: string, isMarkup = isHtml(body)): MailBodies =>
  isMarkup ? { text: textOfHtml(body), html: body } : { text: body, html: htmlOfText(body) };

/** Keeps a mailbox from showing the beginning of the body after a short preheader. */
const FILLER = "&#847;&zwnj;&nbsp;".repeat(60);

/** The tags after which the content of a document begins, in order of search. */
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

export const mappedUrls = (text: string, change: (url: string) => string): string =>
  text.replaceAll(URL_IN_TEXT, (run) => {
    const url = urlIn(run);
    return url === undefined ? run : change(url) + run.slice(url.length);
  });

/** A URL without the punctuation of its sentence, and without closing brackets that it does not open. */
function urlIn(run: string): string | undefined {
  const surplus = new Map<string, number>();
  for (const character of run) {
    const opening = OPENING[character] ?? character;
    surplus.set(opening, (surplus.get(opening) ?? 0) + (opening === character ? -1 : 1));
  }
  let end = run.length;
  for (; end > 0; end--) {
    const last = run[end - 1] ?? "";
    if (ENDS_A_SENTENCE.has(last)) continue;
    const opening = OPENING[last];
    const closed = opening === undefined ? 0 : (surplus.get(opening) ?? 0);
    if (opening === undefined || closed <= 0) break;
    surplus.set(opening, closed - 1);
  }
  const url = run.slice(0, end);
  return /^https?:\/\/./.test(url) ? url : undefined;
}

/** Text as HTML, its URLs as links (AMB-121). */
function withLinks(text: string): string {
  let html = "";
  let from = 0;
  for (const { 0: run, index } of text.matchAll(URL_IN_TEXT)) {
    const url = urlIn(run);
    if (url === undefined) continue;
    html += `${escapeHtml(text.slice(from, index))}<a href="${escapeHtml(url)}">${escapeHtml(url)}</a>`;
    from = index + url.length;
  }
  return html + escapeHtml(text.slice(from));
}
