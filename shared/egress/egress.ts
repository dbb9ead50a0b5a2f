// The one way out for every request that does not go to AWS: judged targets, own pools, a time limit, no redirects.
import type { Duplex } from "node:stream";
import { type Clock, SECOND } from "../clock.ts";
import { isPublicAddress } from "./addresses.ts";
import { openHttp1 } from "./http1.ts";
import { openHttp2 } from "./http2.ts";
import { type Network, type Purpose, systemNetwork, type Wish } from "./network.ts";
import { serverOf, type Target, targetOf } from "./targets.ts";

/** What became of a request, as far as can be known. */
export type Exchange =
  | { outcome: "answered"; status: number; headers: Readonly<Record<string, string>>; body: string }
  /** Nothing was sent. `isRefused`: the target is one that we never send to, so that trying again is of no use. */
  | { outcome: "not_sent"; reason: string; isRefused: boolean }
  /** Something was sent and no answer came: it may have had its effect. */
  | { outcome: "unknown"; reason: string };

export interface EgressRequest {
  purpose: Purpose;
  url: string;
  /** `POST` if absent. */
  method?: string;
  headers?: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
  /** HTTP/2 on a shared connection. */
  http2?: boolean;
  /** All in all; 10 s if absent. */
  timeoutMs?: number;
}

export interface Server {
  purpose: Purpose;
  host: string;
  port: number;
  /** TLS from the first byte. */
  tls: boolean;
}

export type Line =
  | { outcome: "connected"; socket: Duplex; secure(): Promise<Duplex> }
  | { outcome: "not_sent"; reason: string; isRefused: boolean };

export interface Egress {
  /** Sends one request; never throws. Redirects are answers like any other, and at most 64 KB are read. */
  request(request: EgressRequest): Promise<Exchange>;
  /** Why a URL could never be sent to, or undefined: for those who take it from a client (no name is looked up). */
  refusal(url: string, purpose: Purpose): string | undefined;
  /** A connection for a protocol that is not HTTP; `signal` ends it. */
  connect(server: Server, signal: AbortSignal): Promise<Line>;
  /** The same judgement of a mail server's name. */
  serverRefusal(host: string, port: number, purpose: Purpose): string | undefined;
}

/** A request as it goes on the wire. */
export interface Outgoing {
  method: string;
  target: Target;
  headers: Readonly<Record<string, string>>;
  body: Uint8Array;
  signal: AbortSignal;
}

/** Opens a judged connection. */
export type Connect = (target: Target, tls: readonly string[], signal: AbortSignal) => Promise<Duplex>;

export const TIMEOUT_MS = 10 * SECOND;
const MAIL_PORTS = [25, 465, 587, 2525];
const NOTHING = new Uint8Array();
/** A reason made once: one of its own for each request would cost a stack trace. */
export const DONE = Symbol("done");

export function openEgress({ clock, network = systemNetwork }: { clock: Clock; network?: Network }): Egress {
  const exempts = (purpose: Purpose) => (host: string, port: number) => network.exempts?.(host, port, purpose) ?? false;

  /** Connects to an address that was judged just now: the first that takes the connection. */
  const connectTo = async (purpose: Purpose, { host, port }: Target, tls: Wish["tls"], signal: AbortSignal) => {
    const addresses = await withSignal(network.resolve(host, purpose), signal);
    const isExempt = exempts(purpose)(host, port);
    if (addresses.length === 0) throw new Error("the host has no address");
    if (!isExempt && !addresses.every(isPublicAddress))
      throw refusedTarget("the host has an address that is not public");
    let failure: unknown;
    for (const address of addresses) {
      if (signal.aborted) break;
      const wish: Wish = { purpose, host, port, address, ...(tls && { tls }) };
      try {
        return await network.connect(wish, signal);
      } catch (error) {
        failure = error;
      }
    }
    throw failure ?? new Error("the connection took too long");
  };

  const pools = new Map<Purpose, { http1: ReturnType<typeof openHttp1>; http2: ReturnType<typeof openHttp2> }>();
  const poolOf = (purpose: Purpose) => {
    let pool = pools.get(purpose);
    if (!pool) {
      const connect: Connect = (target, tls, signal) => connectTo(purpose, target, tls, signal);
      pool = { http1: openHttp1(clock, connect), http2: openHttp2(clock, connect) };
      pools.set(purpose, pool);
    }
    return pool;
  };

  const request: Egress["request"] = async (wanted) => {
    const { purpose, url, method = "POST", headers = {}, body = NOTHING, timeoutMs = TIMEOUT_MS } = wanted;
    const target = targetOf(url, exempts(purpose));
    if ("refused" in target) return { outcome: "not_sent", reason: `the URL ${target.refused}`, isRefused: true };
    const { http1, http2 } = poolOf(purpose);
    const limit = new AbortController();
    const done = new AbortController();
    clock.sleep(timeoutMs, done.signal).then(() => {
      if (!done.signal.aborted) limit.abort();
    });
    const bytes = typeof body === "string" ? Buffer.from(body) : body;
    const outgoing: Outgoing = { method, target, headers, body: bytes, signal: limit.signal };
    try {
      return await (wanted.http2 ? http2(outgoing) : http1(outgoing));
    } finally {
      done.abort(DONE);
    }
  };

  const connect: Egress["connect"] = async ({ purpose, host, port, tls }, signal) => {
    const target = serverOf(host, port, MAIL_PORTS, exempts(purpose));
    if ("refused" in target) return { outcome: "not_sent", reason: `the host ${target.refused}`, isRefused: true };
    try {
      const socket = await connectTo(purpose, target, tls ? [] : undefined, signal);
      return { outcome: "connected", socket, secure: () => network.secure(socket, target.host, signal) };
    } catch (error) {
      return notSent(error);
    }
  };

  return {
    request,
    connect,
    refusal: (url, purpose) => refusalOf(targetOf(url, exempts(purpose))),
    serverRefusal: (host, port, purpose) => refusalOf(serverOf(host, port, MAIL_PORTS, exempts(purpose))),
  };
}

const refusalOf = (target: Target | { refused: string }) => ("refused" in target ? target.refused : undefined);

const REFUSED = "RefusedTarget";
const refusedTarget = (message: string): Error => Object.assign(new Error(message), { name: REFUSED });

/** What failed before anything was sent. */
export function notSent(error: unknown): Exchange & { outcome: "not_sent" } {
  const isRefused = error instanceof Error && error.name === REFUSED;
  return { outcome: "not_sent", reason: reasonOf(error), isRefused };
}

/** A short reason without addresses or other details of a network's inside. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "the connection failed";
  const { code } = error as NodeJS.ErrnoException;
  return code ? `the connection failed (${code})` : error.message;
}

/** A promise that is given up on when the signal comes. */
function withSignal<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new Error("the connection took too long"));
    if (signal.aborted) return giveUp();
    signal.addEventListener("abort", giveUp, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", giveUp));
  });
}
