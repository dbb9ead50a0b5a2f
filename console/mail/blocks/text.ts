import { fonts, type Kind } from "../design.ts";
import { paragraphs, styleOf } from "../markup.ts";

export const text: Kind<"text"> = {
  label: "Text",
  start: {
    text: "Hello {{ subscriber.first_name | default: 'there' }},\n\nsay what this is about, and what to do next.",
    size: "normal",
    align: "left",
  },
  about: ({ text: words }) => words,
  html: ({ text: words, size, align }, look) => {
    const style = styleOf({
      "font-family": fonts[look.font],
      "font-size": size === "small" ? 14 : 16,
      "line-height": size === "small" ? 22 : 26,
      color: look.text,
      "text-align": align,
    });
    return paragraphs(words, style, look.accent);
  },
  padding: [6, 32],
};
