// How the console's files are served: headers, types and the one content policy, for the local service and CloudFront.

/** Where the console is served. */
export const CONSOLE_PATH = "/console";

/** Hashed files, which never change. */
export const HASHED_PATH = `${CONSOLE_PATH}/a/`;

/** Of every page. A deployment adds the origin of its import bucket to `connect-src`. */
export const consolePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

/** The frame that shows a mail: an origin of its own, one script, and inline styles as in a mail program. */
export const letterPolicy = (scriptHash: string, images: string): string =>
  [
    "default-src 'none'",
    "sandbox allow-scripts",
    `script-src '${scriptHash}'`,
    `img-src ${images}`,
    "style-src 'unsafe-inline'",
    "frame-ancestors 'self'",
  ].join("; ");

export const commonHeaders: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
};

export const IMMUTABLE = "public, max-age=31536000, immutable";
export const REVALIDATED = "no-cache";

/** A path without extension is a page of the router: all of them are the one document. */
export const documentOf = (path: string): string => (/\.[a-z0-9]+$/.test(path) ? path : `${CONSOLE_PATH}/index.html`);
