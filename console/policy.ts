// How the console's files are served: headers, types and the one content policy, for the local service and CloudFront.

export const CONSOLE_PATH = "/console";

/** Hashed files, which never change. */
export const HASHED_PATH = `${CONSOLE_PATH}/a/`;

/**
 * Of every page.
 * @param uploads the origin that large import files are uploaded to, where it is not the service's own
 */
export const consolePolicy = (uploads?: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self' data: blob:",
    `connect-src 'self'${uploads ? ` ${uploads}` : ""}`,
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

export const commonHeaders = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
} as const;

export const IMMUTABLE = "public, max-age=31536000, immutable";
export const REVALIDATED = "no-cache";

export const isConsole = (path: string): boolean => path === CONSOLE_PATH || path.startsWith(`${CONSOLE_PATH}/`);

export const CONSOLE_DOCUMENT = `${CONSOLE_PATH}/index.html`;

/** What a path of a file ends with. A path without is a page of the router. */
export const EXTENSION = /\.[a-z0-9]+$/;

export const documentOf = (path: string): string => (EXTENSION.test(path) ? path : CONSOLE_DOCUMENT);

/** What a browser accepts that opens an address. At `/` it is led to the console. */
export const ACCEPTED_PAGE = /\btext\/html\b/i;
export const toConsole = {
  status: 302,
  headers: { location: CONSOLE_PATH, "cache-control": "no-store", vary: "accept" },
} as const;
