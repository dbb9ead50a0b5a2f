// The URLs that requests may go to: https, an allowed port, and no internal name or address.
import { isIP } from "node:net";
import { isPublicAddress } from "./addresses.ts";

export interface Target {
  /** The host as in the URL; an IPv6 address without brackets. */
  host: string;
  port: number;
  /** Path and query. */
  path: string;
}

const MAX_URL = 2_048;
export const HTTPS_PORT = 443;
/** Names of the machine itself or of its own network. */
const INTERNAL = /(^|\.)(localhost|localdomain|local|internal)$/;

export type TargetVerdict = { kind: "allowed"; target: Target } | { kind: "refused"; reason: string };

/**
 * Reads the URL of a request. `exempts` names hosts that are not checked (loopback, in the local service). The
 * addresses of a name are checked when connecting. @returns its target, or why it is refused
 */
export function targetOf(text: string, exempts: (host: string, port: number) => boolean = () => false): TargetVerdict {
  if (text.length > MAX_URL) return { kind: "refused", reason: `must be at most ${MAX_URL} characters` };
  const url = URL.parse(text);
  if (!url?.hostname) return { kind: "refused", reason: "must be an absolute URL" };
  if (url.protocol !== "https:") return { kind: "refused", reason: "must be an https URL" };
  if (url.username || url.password) return { kind: "refused", reason: "must not contain a user name or password" };
  return hostOf(url, exempts, [HTTPS_PORT]);
}

/** The same check for a host name or address with a port, such as those of mail servers. */
export function serverOf(
  host: string,
  port: number,
  ports: readonly number[],
  exempts: (host: string, port: number) => boolean = () => false,
): TargetVerdict {
  const url = /^[\w.:[\]-]{1,255}$/.test(host) ? URL.parse(`https://${bracketed(host)}:${port}/`) : null;
  if (!url?.hostname || url.pathname !== "/") return { kind: "refused", reason: "must be a host name" };
  return hostOf(url, exempts, ports);
}

function hostOf(
  { hostname, port: written, pathname, search }: URL,
  exempts: (host: string, port: number) => boolean,
  ports: readonly number[],
): TargetVerdict {
  const host = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
  const port = written === "" ? HTTPS_PORT : Number(written);
  const target = { host, port, path: `${pathname}${search}` };
  if (exempts(host, port)) return { kind: "allowed", target };
  if (!ports.includes(port)) return { kind: "refused", reason: `must use port ${ports.join(" or ")}` };
  if (isIP(host))
    return isPublicAddress(host)
      ? { kind: "allowed", target }
      : { kind: "refused", reason: "must lead to a public address" };
  const name = host.replace(/\.$/, "");
  if (!name.includes(".") || INTERNAL.test(name)) return { kind: "refused", reason: "must lead to a public host" };
  return { kind: "allowed", target };
}

const bracketed = (host: string) => (host.includes(":") && !host.startsWith("[") ? `[${host}]` : host);
