// Pieces of HTML for mails: texts without tags of their own, and tables, which every mailbox program lays out alike.
import { escapeHtml } from "../../shared/rules/characters.ts";

/** What the service fills in when it sends: left as it is. */
const LIQUID = /\{\{.*?\}\}|\{%.*?%\}/gs;

/** Text and values of attributes; Liquid in them stays as it is. */
export function escaped(text: string): string {
  let from = 0;
  let html = "";
  for (const { 0: placeholder, index } of text.matchAll(LIQUID)) {
    html += escapeHtml(text.slice(from, index)) + placeholder;
    from = index + placeholder.length;
  }
  return html + escapeHtml(text.slice(from));
}

const LINK = /\[([^\]]+)\]\(([^)\s]+)\)/g;
const BOLD = /\*\*(.+?)\*\*/g;

/** One line: `**bold**` and `[words](address)`. */
const inline = (text: string, link: string): string =>
  escaped(text)
    .replaceAll(LINK, `<a href="$2" style="color:${link};text-decoration:underline">$1</a>`)
    .replaceAll(BOLD, "<strong>$1</strong>");

/** Empty lines separate paragraphs, lines that begin with `- ` make a list. */
export function paragraphs(text: string, style: string, link: string): string {
  const parts = text.trim().split(/\n\s*\n/);
  return parts
    .map((part, n) => {
      const margin = n < parts.length - 1 ? "0 0 16px" : "0";
      const lines = part.split("\n");
      if (!lines.every((line) => line.startsWith("- ")))
        return `<p class="t" style="margin:${margin};${style}">${lines.map((line) => inline(line, link)).join("<br>")}</p>`;
      const items = lines.map((line) => `<li style="margin:0 0 6px">${inline(line.slice(2), link)}</li>`);
      return `<ul class="t" style="margin:${margin};padding:0 0 0 22px;${style}">${items.join("")}</ul>`;
    })
    .join("");
}

export const styleOf = (values: Record<string, string | number | undefined>): string =>
  Object.entries(values)
    .filter(([, value]) => value !== undefined && value !== "")
    .map(([name, value]) => `${name}:${typeof value === "number" ? `${value}px` : value}`)
    .join(";");

/** A table that is no table of data. */
export const table = (rows: string, attributes: string): string =>
  `<table role="presentation" cellpadding="0" cellspacing="0" border="0" ${attributes}>${rows}</table>`;
