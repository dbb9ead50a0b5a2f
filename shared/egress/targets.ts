// Where a request may go, as far as its URL tells: https, a port that is meant for it, and no name or address of the inside.
import { isIP } from "node:net";
import { isPublicAddress } from "./addresses.ts";

export interface Target {
  /** As the URL says it, an IPv6 address without brackets. */
  host: string;
  port: number;
  /** Path and query. */
  path: string;
}

const MAX_URL = 2_048;
export const HTTPS_PORT = 443;
/** Names that mean the machine itself or its own network. */
const INSIDE = /(^|\.)(localhost|localdomain|local|internal)$/;

/**
 * Reads a URL that we are to send to. `exempts` names hosts that need no check (the local service's loopback).
 * @returns why it is refused, or where it leads; the addresses behind a name are checked when connecting.
 */
export function targetOf(
  text: string,
  exempts: (host: string, port: number) => boolean = () => false,
  ports: readonly number[] = [HTTPS_PORT],
): Target | { refused: string } {
  if (text.length > MAX_URL) return { refused: `must be at most ${MAX_URL} characters` };
  const url = URL.parse(text);
  if (!url?.hostname) return { refused: "must be an absolute URL" };
  if (url.protocol !== "https:") return { refused: "must be an https URL" };
  if (url.username || url.password) return { refused: "must not contain a user name or password" };
  return hostOf(url, exempts, ports);
}

/** The same for a host name or address with its port, as those of mail servers are given. */
export function serverOf(
  host: string,
  port: number,
  ports: readonly number[],
  exempts: (host: string, port: number) => boolean = () => false,
): Target | { refused: string } {
  const url = /^[\w.:[\]-]{1,255}$/.test(host) ? URL.parse(`https://${bracketed(host)}:${port}/`) : null;
  if (!url?.hostname || url.pathname !== "/") return { refused: "must be a host name" };
  return hostOf(url, exempts, ports);
}

function hostOf(
  { hostname, port: given, pathname, search }: URL,
  exempts: (host: string, port: number) => boolean,
  ports: readonly number[],
): Target | { refused: string } {
  const host = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
  const port = given === "" ? HTTPS_PORT : Number(given);
  const target = { host, port, path: `${pathname}${search}` };
  if (exempts(host, port)) return target;
  if (!ports.includes(port)) return { refused: `must use port ${ports.join(" or ")}` };
  if (isIP(host)) return isPublicAddress(host) ? target : { refused: "must lead to a public address" };
  const name = host.replace(/\.$/, "");
  if (!name.includes(".") || INSIDE.test(name)) return { refused: "must lead to a public host" };
  return target;
}

const bracketed = (host: string) => (host.includes(":") && !host.startsWith("[") ? `[${host}]` : host);
