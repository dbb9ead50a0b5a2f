import type { Kind } from "../design.ts";

export const spacer: Kind<"spacer"> = {
  label: "Space",
  start: { height: 24 },
  about: ({ height }) => `${height} pixels`,
  html: ({ height }) => `<div style="height:${height}px;line-height:${height}px;font-size:1px">&nbsp;</div>`,
  padding: [0, 0],
};
