import type { Kind } from "../design.ts";

export const html: Kind<"html"> = {
  label: "HTML",
  start: { code: "<p>Your own HTML.</p>" },
  about: ({ code }) => code,
  html: ({ code }) => code,
};
