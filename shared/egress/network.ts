// The network below the egress client: resolves names and makes connections. The local service has its own.
import { lookup, Resolver } from "node:dns/promises";
import { connect as connectTcp, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import type { ProvidedChannel } from "../rules/channel-types.ts";

/** What a request is for; each purpose has its own pool of connections. */
export type Purpose = Exclude<ProvidedChannel, "email"> | "smtp" | "webhook" | "sign_in";

export interface ConnectOptions {
  purpose: Purpose;
  host: string;
  port: number;
  /** One of the addresses that `resolve` returned, already checked. */
  address: string;
  /** The protocols offered by ALPN, possibly none; absent for a connection without TLS. */
  tls?: readonly string[];
}

export type RecordType = "TXT" | "CNAME";

export interface Network {
  /** All addresses of a name. */
  resolve(host: string, purpose: Purpose): Promise<readonly string[]>;
  /** The DNS records of a name: its texts, or the names that it points to; an empty list if it has none. */
  records?(name: string, type: RecordType): Promise<readonly string[]>;
  /** A connection that is ready for writing, with TLS if requested; `signal` cancels it. */
  connect(options: ConnectOptions, signal: AbortSignal): Promise<Duplex>;
  /** Starts TLS on a connection that was opened without. */
  secure(socket: Duplex, host: string, signal: AbortSignal): Promise<Duplex>;
  /** Targets whose addresses and certificates are not checked; none in a deployed service. */
  exempts?(host: string, port: number, purpose: Purpose): boolean;
}

const DNS_TRY_MS = 2_000;
const DNS_TRIES = 2;
const NO_RECORD = new Set(["ENODATA", "ENOTFOUND"]);

/** The real network. It connects to the address that was checked: a name is resolved only once. */
export const systemNetwork: Network = {
  resolve: async (host) => {
    const found = await lookup(host, { all: true, order: "ipv4first" });
    return found.map(({ address }) => address);
  },
  records: async (name, type) => {
    const resolver = new Resolver({ timeout: DNS_TRY_MS, tries: DNS_TRIES });
    try {
      if (type === "CNAME") return await resolver.resolveCname(name);
      return (await resolver.resolveTxt(name)).map((parts) => parts.join(""));
    } catch (error) {
      if (error instanceof Error && "code" in error && NO_RECORD.has(String(error.code))) return [];
      throw error;
    }
  },
  connect: (options, signal) => connectSocket(options, signal),
  secure: (socket, host, signal) => secureSocket(socket, host, signal),
};

/** Starts TLS. `verify: false` accepts any certificate: only for exempt hosts. */
export function secureSocket(
  socket: Duplex,
  servername: string,
  signal: AbortSignal,
  { verify = true } = {},
): Promise<Duplex> {
  const options = { servername, minVersion: "TLSv1.2", rejectUnauthorized: verify } as const;
  return ready(connectTls({ socket, ...options }), "secureConnect", signal);
}

/** Connects to an address. `verify: false` accepts any certificate: only for exempt hosts. */
export function connectSocket(
  { host, port, address, tls }: ConnectOptions,
  signal: AbortSignal,
  { verify = true } = {},
): Promise<Duplex> {
  const to = { host: address, port, noDelay: true, keepAlive: true };
  if (!tls) return ready(connectTcp(to), "connect", signal);
  // The certificate must be for the name; without one, for the address.
  const servername = host === address ? undefined : host;
  const options = {
    ...(tls.length > 0 && { ALPNProtocols: [...tls] }),
    minVersion: "TLSv1.2",
    rejectUnauthorized: verify,
  } as const;
  const socket = connectTls({ ...to, ...options, ...(servername !== undefined && { servername }) });
  return ready(socket, "secureConnect", signal);
}

function ready(socket: Socket, event: "connect" | "secureConnect", signal: AbortSignal): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const cancel = () => socket.destroy(new Error("the connection took too long"));
    const done = (settle: () => void) => {
      signal.removeEventListener("abort", cancel);
      socket.removeListener("error", failed);
      socket.removeListener(event, connected);
      settle();
    };
    const failed = (error: Error) => done(() => reject(error));
    const connected = () => done(() => resolve(socket));
    socket.once("error", failed);
    socket.once(event, connected);
    signal.addEventListener("abort", cancel);
    if (signal.aborted) cancel();
  });
}
