import { fonts, type Kind } from "../design.ts";
import { paragraphs } from "../markup.ts";

export const footer: Kind<"footer"> = {
  label: "Footer",
  start: {
    text: "Your company, 1 Example Street, 10115 Berlin\n\nYou get this because you have an account.",
    align: "center",
  },
  about: ({ text }) => text,
  html: ({ text, align }, look) =>
    paragraphs(
      text,
      `font-family:${fonts[look.font]};font-size:13px;line-height:20px;color:#616875;text-align:${align}`,
      look.accent,
    ).replaceAll('class="t"', 'class="m"'),
};
