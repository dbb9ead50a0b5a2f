// The client for all outbound requests except those to AWS. It checks targets, limits the time, and follows no redirects.
import { validateHeaderName, validateHeaderValue } from "node:http";
import type { Duplex } from "node:stream";
import { type Clock, SECOND } from "../kernel/clock.ts";
import { withTimeLimit } from "../kernel/time-limit.ts";
import { isPublicAddress } from "./addresses.ts";
import { type Connect, type Exchange, notSent, type Pool, reasonOf, refusedTarget } from "./exchange.ts";
import { openHttp1 } from "./http1.ts";
import { openHttp2 } from "./http2.ts";
import { type ConnectOptions, type Network, type Purpose, type RecordType, systemNetwork } from "./network.ts";
import { serverOf, type Target, type TargetVerdict, targetOf } from "./targets.ts";

export interface EgressRequest {
  purpose: Purpose;
  url: string;
  /** Default: `POST`. */
  method?: string;
  headers?: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
  /** HTTP/2 on a shared connection. */
  http2?: boolean;
  /** For the whole request. Default: 10 s. */
  timeoutMs?: number;
}

interface Server {
  purpose: Purpose;
  host: string;
  port: number;
  /** TLS from the first byte. */
  tls: boolean;
}

type Connection =
  | { kind: "connected"; socket: Duplex; secure(): Promise<Duplex> }
  | { kind: "not_sent"; reason: string; isRefused: boolean };

type Records = { kind: "known"; records: readonly string[] } | { kind: "failed"; reason: string };

export interface Egress {
  /** Sends one request; never throws. A redirect is an answer, and at most 64 KB of an answer are read. */
  request(request: EgressRequest): Promise<Exchange>;
  /** Why requests to a URL of a client are never allowed, or undefined. The host is not resolved. */
  refusal(url: string, purpose: Purpose): string | undefined;
  /** The DNS records of a name. It connects to no host. */
  records(name: string, type: RecordType): Promise<Records>;
  /** A connection for a protocol that is not HTTP; `signal` ends it. */
  connect(server: Server, signal: AbortSignal): Promise<Connection>;
  /** The same for a mail server. */
  serverRefusal(host: string, port: number, purpose: Purpose): string | undefined;
}

export const TIMEOUT_MS = 10 * SECOND;
const MAIL_PORTS = [25, 465, 587, 2525];
const NO_BODY = new Uint8Array();

/** The requests and connections of a function. Each target is checked with all its addresses before anything is sent to it. */
export function openEgress(deps: { clock: Clock; network?: Network }): Egress {
  const { clock, network = systemNetwork } = deps;
  const exempts = (purpose: Purpose) => (host: string, port: number) => network.exempts?.(host, port, purpose) ?? false;
  const poolOf = openPools(clock, network);

  const request: Egress["request"] = async (wanted) => {
    const { purpose, url, method = "POST", headers = {}, body = NO_BODY, timeoutMs = TIMEOUT_MS } = wanted;
    const allowed = targetOf(url, exempts(purpose));
    if (allowed.kind === "refused") return { kind: "not_sent", reason: `the URL ${allowed.reason}`, isRefused: true };
    const { target } = allowed;
    const { http1, http2 } = poolOf(purpose);
    const bytes = typeof body === "string" ? Buffer.from(body) : body;
    try {
      // HTTP/2 in Node does not check values, and checks names only when it is connected.
      for (const [name, value] of Object.entries(headers)) {
        validateHeaderName(name);
        validateHeaderValue(name, value);
      }
      return await withTimeLimit(clock, timeoutMs, (signal) =>
        (wanted.http2 ? http2 : http1)({ method, target, headers, body: bytes, signal }),
      );
    } catch (error) {
      // A value that a header cannot carry is refused before anything is sent, because a retry would not help.
      return { ...notSent(error), isRefused: error instanceof TypeError };
    }
  };

  const connect: Egress["connect"] = async ({ purpose, host, port, tls }, signal) => {
    const allowed = serverOf(host, port, MAIL_PORTS, exempts(purpose));
    if (allowed.kind === "refused") return { kind: "not_sent", reason: `the host ${allowed.reason}`, isRefused: true };
    const { target } = allowed;
    try {
      const socket = await connectTo(network, purpose, target, tls ? [] : undefined, signal);
      return { kind: "connected", socket, secure: () => network.secure(socket, target.host, signal) };
    } catch (error) {
      return notSent(error);
    }
  };

  const records: Egress["records"] = async (name, type) => {
    try {
      return { kind: "known", records: (await network.records?.(name, type)) ?? [] };
    } catch (error) {
      return { kind: "failed", reason: reasonOf(error) };
    }
  };

  return {
    request,
    connect,
    records,
    refusal: (url, purpose) => refusalOf(targetOf(url, exempts(purpose))),
    serverRefusal: (host, port, purpose) => refusalOf(serverOf(host, port, MAIL_PORTS, exempts(purpose))),
  };
}

/** One pool of connections per purpose. */
function openPools(clock: Clock, network: Network) {
  const pools = new Map<Purpose, { http1: Pool; http2: Pool }>();
  return (purpose: Purpose) => {
    let pool = pools.get(purpose);
    if (!pool) {
      const connect: Connect = (target, tls, signal) => connectTo(network, purpose, target, tls, signal);
      pool = { http1: openHttp1(clock, connect), http2: openHttp2(clock, connect) };
      pools.set(purpose, pool);
    }
    return pool;
  };
}

/** Resolves the host, checks all its addresses, and connects to the first that accepts. */
async function connectTo(
  network: Network,
  purpose: Purpose,
  { host, port }: Target,
  tls: ConnectOptions["tls"],
  signal: AbortSignal,
): Promise<Duplex> {
  const addresses = await withSignal(network.resolve(host, purpose), signal);
  const isExempt = network.exempts?.(host, port, purpose) ?? false;
  if (addresses.length === 0) throw new Error("the host has no address");
  if (!isExempt && !addresses.every(isPublicAddress)) throw refusedTarget("the host has an address that is not public");
  let failure: unknown;
  for (const address of addresses) {
    if (signal.aborted) break;
    try {
      return await network.connect({ purpose, host, port, address, ...(tls && { tls }) }, signal);
    } catch (error) {
      failure = error;
    }
  }
  throw failure ?? new Error("the connection took too long");
}

const refusalOf = (allowed: TargetVerdict) => (allowed.kind === "refused" ? allowed.reason : undefined);

/** The result of a promise, or a rejection when the signal aborts. */
function withSignal<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new Error("the connection took too long"));
    if (signal.aborted) return giveUp();
    signal.addEventListener("abort", giveUp, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", giveUp));
  });
}
