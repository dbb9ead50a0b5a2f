// The variables of a text, for code that does not fill them: the engine of templates is large.

export const hasPlaceholders = (text: string): boolean => text.includes("{{") || text.includes("{%");

const PART = /\.[\p{L}\p{N}_-]+|\[(?:"[^"{}]*"|'[^'{}]*')\]/u;
/** The path is matched once: a lookahead finds it, and a back reference passes it. */
const VARIABLE = new RegExp(
  `\\{\\{-?\\s*(?:subscriber|event|data|workspace)(?=((?:${PART.source})+))\\1[^{}]*\\}\\}`,
  "gu",
);

/** `Hello {{ subscriber.first_name | default: 'you' }}` as `Hello [first name]`. Tags (`{% if … %}`) stay. */
export const inPlain = (text: string): string =>
  text.replaceAll(
    VARIABLE,
    (_, path: string) =>
      `[${path
        .split(/[._"'[\]]+/)
        .join(" ")
        .trim()}]`,
  );

/** `subscriber.first name` as Liquid reads it: `subscriber["first name"]`. */
export const liquidOf = (path: string): string =>
  path
    .split(".")
    .map((part) => (/^[\p{L}\p{N}_-]+$/u.test(part) ? `.${part}` : `[${JSON.stringify(part)}]`))
    .join("")
    .slice(1);
