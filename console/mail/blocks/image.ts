import type { Kind } from "../design.ts";
import { escaped, styleOf } from "../markup.ts";

export const image: Kind<"image"> = {
  label: "Image",
  start: { url: "", alt: "", link: "", width: 536, align: "center" },
  about: ({ alt, url }) => alt || url || "no image yet",
  html: ({ url, alt, link, width, align }, look) => {
    if (!url) return "";
    const style = styleOf({
      display: "inline-block",
      width: "100%",
      "max-width": width,
      height: "auto",
      border: "0",
      "border-radius": look.radius,
    });
    const img = `<img src="${escaped(url)}" alt="${escaped(alt)}" width="${width}" style="${style}">`;
    const shown = link ? `<a href="${escaped(link)}" target="_blank">${img}</a>` : img;
    return `<div style="text-align:${align};font-size:0;line-height:0">${shown}</div>`;
  },
};
