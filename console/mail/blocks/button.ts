import { onColour } from "../colours.ts";
import { fonts, type Kind } from "../design.ts";
import { escaped, styleOf, table } from "../markup.ts";

export const button: Kind<"button"> = {
  label: "Button",
  start: { label: "Take a look", url: "https://example.com/", align: "left", look: "full" },
  about: ({ label }) => label,
  html: (says, look) => buttonHtml(says, look),
};

interface Says {
  label: string;
  url: string;
  align: string;
  look: "full" | "line";
}

/** A cell that is coloured as a whole: Outlook pads cells, and not links. */
export function buttonHtml(
  { label, url, align, look: kind }: Says,
  look: { accent: string; font: "sans" | "serif"; radius: number },
): string {
  const isFull = kind === "full";
  const cell = styleOf({
    "border-radius": Math.min(look.radius, 24),
    background: isFull ? look.accent : undefined,
    border: isFull ? undefined : `2px solid ${look.accent}`,
    padding: isFull ? "14px 28px" : "12px 26px",
    "mso-padding-alt": isFull ? "14px 28px" : "12px 26px",
  });
  const link = styleOf({
    display: "inline-block",
    "font-family": fonts[look.font],
    "font-size": 16,
    "line-height": 20,
    color: isFull ? onColour(look.accent) : look.accent,
    "text-decoration": "none",
  });
  const a = `<a href="${escaped(url)}" target="_blank" style="${link};font-weight:600">${escaped(label)}</a>`;
  const back = isFull ? ` bgcolor="${look.accent}"` : "";
  return table(
    `<tr><td class="${isFull ? "b" : "l"}" align="center"${back} style="${cell}">${a}</td></tr>`,
    `align="${align}"${align === "center" ? ' style="margin:0 auto"' : ""}`,
  );
}
