import { fonts, type Kind } from "../design.ts";
import { escaped } from "../markup.ts";

export const social: Kind<"social"> = {
  label: "Social links",
  start: {
    links: [
      { name: "Instagram", url: "https://example.com/instagram" },
      { name: "LinkedIn", url: "https://example.com/linkedin" },
    ],
    align: "center",
  },
  about: ({ links }) => links.map(({ name }) => name).join(", "),
  html: ({ links, align }, look) => {
    const style = `color:${look.accent};text-decoration:none;font-weight:600`;
    const all = links.map(
      ({ name, url }) => `<a href="${escaped(url)}" target="_blank" class="a" style="${style}">${escaped(name)}</a>`,
    );
    const dot = '<span class="m" style="color:#6b7280">&nbsp;&nbsp;·&nbsp;&nbsp;</span>';
    return `<p style="margin:0;font-family:${fonts[look.font]};font-size:14px;line-height:22px;text-align:${align}">${all.join(dot)}</p>`;
  },
};
