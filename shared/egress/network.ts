// The network below the egress client: names to addresses, addresses to connections. The local service brings its own.
import { lookup } from "node:dns/promises";
import { connect as connectTcp, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";

/** Whom a request is for: pools are kept apart by it. */
export type Purpose = "apns" | "fcm" | "web-push" | "sms" | "chat-app" | "smtp" | "webhook";

export interface Wish {
  purpose: Purpose;
  host: string;
  port: number;
  /** One of the addresses that `resolve` gave, already judged. */
  address: string;
  /** The protocols offered inside TLS, perhaps none; absent for a connection without TLS. */
  tls?: readonly string[];
}

export interface Network {
  /** All addresses of a name. */
  resolve(host: string, purpose: Purpose): Promise<readonly string[]>;
  /** A connection that is ready to be written to, TLS and all; `signal` gives up on it. */
  connect(wish: Wish, signal: AbortSignal): Promise<Duplex>;
  /** Goes on with TLS on a connection that began without. */
  secure(line: Duplex, host: string, signal: AbortSignal): Promise<Duplex>;
  /** Targets that are not judged, nor their certificates; the deployed service knows none. */
  exempts?(host: string, port: number, purpose: Purpose): boolean;
}

/** The real network. A connection goes to the very address that was judged: no name is looked up twice. */
export const systemNetwork: Network = {
  resolve: async (host) => {
    const found = await lookup(host, { all: true, order: "ipv4first" });
    return found.map(({ address }) => address);
  },
  connect: (wish, signal) => connectSocket(wish, signal),
  secure: (line, host, signal) => {
    const secured = connectTls({ socket: line as Socket, servername: host, minVersion: "TLSv1.2" });
    return ready(secured, "secureConnect", signal);
  },
};

/** Connects to a real address. `verify: false` takes any certificate, which only an exempt host may ask for. */
export function connectSocket(
  { host, port, address, tls }: Wish,
  signal: AbortSignal,
  { verify = true } = {},
): Promise<Duplex> {
  const to = { host: address, port, noDelay: true, keepAlive: true };
  if (!tls) return ready(connectTcp(to), "connect", signal);
  // A certificate is for the name; a literal address is checked as one.
  const servername = host === address ? undefined : host;
  const how = {
    ...(tls.length > 0 && { ALPNProtocols: [...tls] }),
    minVersion: "TLSv1.2",
    rejectUnauthorized: verify,
  } as const;
  return ready(connectTls({ ...to, ...how, ...(servername !== undefined && { servername }) }), "secureConnect", signal);
}

function ready(socket: Socket, event: "connect" | "secureConnect", signal: AbortSignal): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const giveUp = () => socket.destroy(new Error("the connection took too long"));
    const done = (settle: () => void) => {
      signal.removeEventListener("abort", giveUp);
      socket.removeListener("error", failed);
      socket.removeListener(event, connected);
      settle();
    };
    const failed = (error: Error) => done(() => reject(error));
    const connected = () => done(() => resolve(socket));
    socket.once("error", failed);
    socket.once(event, connected);
    signal.addEventListener("abort", giveUp);
    if (signal.aborted) giveUp();
  });
}
