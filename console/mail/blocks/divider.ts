import type { Kind } from "../design.ts";
import { table } from "../markup.ts";

export const divider: Kind<"divider"> = {
  label: "Divider",
  start: { space: 16 },
  about: () => "a line",
  html: ({ space }) =>
    table(
      `<tr><td style="padding:${space}px 0"><div class="d" style="border-top:1px solid #d9dde5;font-size:0;line-height:0">&nbsp;</div></td></tr>`,
      'width="100%"',
    ),
  padding: [0, 32],
};
