import { fonts, type Kind } from "../design.ts";
import { escaped, styleOf } from "../markup.ts";

const sizes = { large: ["h1", 30, 38], medium: ["h2", 22, 30], small: ["h3", 17, 24] } as const;

export const heading: Kind<"heading"> = {
  label: "Heading",
  start: { text: "A clear heading", size: "medium", align: "left" },
  about: ({ text }) => text,
  html: ({ text, size, align }, look) => {
    const [tag, pixels, line] = sizes[size];
    const style = styleOf({
      margin: 0,
      "font-family": fonts[look.font],
      "font-size": pixels,
      "line-height": line,
      "font-weight": 700,
      "letter-spacing": "-0.01em",
      color: look.text,
      "text-align": align,
    }).replace("font-weight:700px", "font-weight:700");
    return `<${tag} class="t" style="${style}">${escaped(text)}</${tag}>`;
  },
  padding: [6, 32],
};
