// Cookies of the browser session: how a handler reads them, and how a response sets one.

export interface Cookie {
  name: string;
  /** Empty: the browser removes the cookie. */
  value: string;
  path: string;
  maxAgeSeconds: number;
  /** Sent over HTTPS only. */
  isSecure: boolean;
}

/** Whether cookies must be secure. @param origin the URL of the service, with plain HTTP only on a laptop */
export const isSecureOrigin = (origin: string): boolean => origin.startsWith("https:");

/** The cookies of a request by name. The first one of a name wins, because its path is the longest. */
export function readCookies(texts: readonly string[] = []): Readonly<Record<string, string>> {
  const cookies = new Map<string, string>();
  for (const text of texts) {
    const [name = "", ...value] = text.trim().split("=");
    if (!cookies.has(name)) cookies.set(name, value.join("="));
  }
  return Object.fromEntries(cookies);
}

/** The text of `Set-Cookie`: out of reach of scripts, and sent with requests of the same site only. */
export const cookieText = ({ name, value, path, maxAgeSeconds, isSecure }: Cookie): string =>
  [
    `${name}=${value}`,
    `Path=${path}`,
    `Max-Age=${value === "" ? 0 : maxAgeSeconds}`,
    "HttpOnly",
    "SameSite=Strict",
    ...(isSecure ? ["Secure"] : []),
  ].join("; ");
