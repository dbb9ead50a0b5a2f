// URLs in content: action targets and images. The targets that the server itself connects to are checked elsewhere.

export const URL_LENGTH = 2_048;

const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]{0,31}:/;
const WEB_SCHEMES = new Set(["http", "https"]);
const REFUSED_SCHEMES = new Set([
  "about",
  "blob",
  "data",
  "file",
  "filesystem",
  "javascript",
  "jar",
  "livescript",
  "mocha",
  "vbscript",
  "view-source",
]);
// Controls, spaces, invisible and direction marks, lone surrogates, and what could break out of an attribute.
const REFUSED_CHARACTERS = /[\p{C}\p{Z}"<>\\]/u;

/**
 * The reason why a URL is refused, or undefined. A `link` may be http, https or an app scheme (`myapp://…`, `tel:…`), an `image`
 * only http or https. Script, data and file schemes, spaces and control characters, credentials, relative URLs and
 * more than 2,048 characters are refused.
 */
export function checkUrl(text: string, kind: "link" | "image" = "link"): string | undefined {
  if (text.length > URL_LENGTH) return `must be at most ${URL_LENGTH} characters`;
  if (REFUSED_CHARACTERS.test(text)) return "must not contain spaces, control characters, quotes or backslashes";
  const scheme = schemeOf(text);
  if (scheme === undefined) return "must be an absolute URL such as https://example.com/";
  if (REFUSED_SCHEMES.has(scheme)) return `must not use the scheme ${scheme}:`;
  if (!WEB_SCHEMES.has(scheme)) {
    if (kind === "image") return "must be an http or https URL";
    if (text.length === scheme.length + 1) return "must name a target after the scheme";
    return URL.canParse(text) ? undefined : "must be a valid URL";
  }
  const url = text.slice(scheme.length + 1).startsWith("//") ? URL.parse(text) : null;
  if (!url?.hostname) return "must be a valid URL";
  return url.username || url.password ? "must not contain a user name or password" : undefined;
}

/** Whether a URL has a scheme that runs or embeds something. */
export const usesRefusedScheme = (text: string): boolean => REFUSED_SCHEMES.has(schemeOf(text) ?? "");

const schemeOf = (text: string) => SCHEME.exec(text)?.[0].slice(0, -1).toLowerCase();

/**
 * `checkUrl` for a URL with Liquid: each `{{ … }}` and `{% … %}` counts as one letter. A URL that begins with one is
 * checked as far as possible. The rendered URL must pass `checkUrl` before it is sent.
 */
export function checkUrlTemplate(text: string, kind: "link" | "image" = "link"): string | undefined {
  if (text.length > URL_LENGTH) return `must be at most ${URL_LENGTH} characters`;
  const filled = withoutLiquid(text);
  return text.startsWith("{") && filled !== text ? checkUrl(`https://${filled}`, kind) : checkUrl(filled, kind);
}

/** By the letter after an opening brace. */
const LIQUID_CLOSINGS: Readonly<Record<string, string>> = { "{": "}}", "%": "%}" };

function withoutLiquid(text: string): string {
  let filled = "";
  let from = 0;
  for (let open = text.indexOf("{", from); open >= 0; open = text.indexOf("{", open + 1)) {
    const closing = LIQUID_CLOSINGS[text[open + 1] ?? ""];
    if (!closing || open < from) continue;
    const end = text.indexOf(closing, open + 2);
    if (end < 0) break;
    filled += `${text.slice(from, open)}x`;
    from = end + 2;
  }
  return filled + text.slice(from);
}
