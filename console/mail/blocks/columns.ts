import { type Cell, fonts, type Kind, type MailTheme } from "../design.ts";
import { escaped, paragraphs, table } from "../markup.ts";

export const EMPTY_CELL: Cell = { image: "", title: "A column", text: "Two or three lines.", label: "", url: "" };
/** Of a card of 600 pixels, without its sides. */
const WIDTH = 536;
const GAP = 20;

export const columns: Kind<"columns"> = {
  label: "Columns",
  start: { cells: [EMPTY_CELL, EMPTY_CELL] },
  about: ({ cells }) => cells.map(({ title }) => title).join(" | "),
  // Outlook lays out cells of a table; others break boxes into lines where the window is narrow.
  html: ({ cells }, look) => {
    const width = Math.floor((WIDTH - GAP * (cells.length - 1)) / cells.length);
    const boxes = cells.map((cell, n) => {
      const isLast = n === cells.length - 1;
      return `<!--[if mso]><td width="${width + (isLast ? 0 : GAP)}" valign="top"><![endif]--><div class="col" style="display:inline-block;vertical-align:top;width:100%;max-width:${width}px;margin:0 ${isLast ? 0 : GAP}px 0 0">${cellHtml(cell, look, width)}</div><!--[if mso]></td><![endif]-->`;
    });
    return `<div style="font-size:0">${`<!--[if mso]><table role="presentation" width="${WIDTH}" cellpadding="0" cellspacing="0"><tr><![endif]-->`}${boxes.join("")}<!--[if mso]></tr></table><![endif]--></div>`;
  },
};

function cellHtml({ image, title, text, label, url }: Cell, look: MailTheme, width: number): string {
  const font = `font-family:${fonts[look.font]};color:${look.text}`;
  const parts = [
    image &&
      `<img src="${escaped(image)}" alt="" width="${width}" style="display:block;width:100%;max-width:${width}px;height:auto;border:0;border-radius:${look.radius}px;margin:0 0 12px">`,
    title &&
      `<p class="t" style="margin:0 0 6px;${font};font-size:16px;line-height:24px;font-weight:700">${escaped(title)}</p>`,
    text && paragraphs(text, `${font};font-size:15px;line-height:23px`, look.accent),
    label &&
      `<p style="margin:10px 0 0;${font};font-size:15px;line-height:23px"><a href="${escaped(url)}" target="_blank" class="a" style="color:${look.accent};font-weight:600;text-decoration:none">${escaped(label)} →</a></p>`,
  ];
  return table(`<tr><td style="padding:4px 0 12px">${parts.filter(Boolean).join("")}</td></tr>`, 'width="100%"');
}
