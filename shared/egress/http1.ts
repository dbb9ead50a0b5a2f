// HTTP/1.1 over pooled connections that were judged when they were made.
import { Agent, type ClientRequestArgs, type IncomingHttpHeaders, request as startRequest } from "node:http";
import type { Duplex } from "node:stream";
import { type Clock, SECOND } from "../clock.ts";
import { type Connect, type Exchange, notSent, type Outgoing, reasonOf } from "./egress.ts";
import { HTTPS_PORT, type Target } from "./targets.ts";

/** A connection left alone longer may have been closed by the other side while this environment was frozen. */
const IDLE_MS = 4 * SECOND;
const MAX_CONNECTIONS = 64;
/** What is read of an answer. */
export const MAX_READ_BYTES = 65_536;

/** Requests over keep-alive connections of their own pool. */
export function openHttp1(clock: Clock, connect: Connect): (request: Outgoing) => Promise<Exchange> {
  const agent = new Agent({ keepAlive: true, maxSockets: MAX_CONNECTIONS, maxFreeSockets: MAX_CONNECTIONS });
  const idleSince = new WeakMap<Duplex, number>();
  agent.on("free", (socket: Duplex) => idleSince.set(socket, clock.now()));
  // The agent asks for a connection and takes it when it is there.
  agent.createConnection = (options: ClientRequestArgs, done) => {
    const { host, port, limit } = options as { host: string; port: number; limit: AbortSignal };
    connect({ host, port, path: "" }, ["http/1.1"], limit).then(
      (socket) => done?.(null, socket),
      (error: Error) => done?.(error, undefined as never),
    );
    return undefined;
  };

  const dropIdle = () => {
    for (const sockets of Object.values(agent.freeSockets))
      for (const socket of sockets ?? []) if (clock.now() - (idleSince.get(socket) ?? 0) > IDLE_MS) socket.destroy();
  };

  return ({ method, target, headers, body, signal }) => {
    dropIdle();
    return new Promise((resolve) => {
      let isSent = false;
      const { host, port, path } = target;
      const args = {
        ...{ agent, host, port, method, path, signal },
        setHost: false,
        headers: { host: hostHeader(target), "content-length": String(body.length), ...headers },
        // Under another name, for the request keeps its signal from the agent.
        limit: signal,
      };
      const request = startRequest(args);
      const failed = (error: unknown) => {
        const why = signal.aborted ? new Error("no answer in time") : error;
        resolve(isSent ? { outcome: "unknown", reason: reasonOf(why) } : notSent(why));
      };
      request.once("socket", () => {
        isSent = true;
      });
      request.once("error", failed);
      request.once("response", (response) => {
        const chunks: Buffer[] = [];
        let size = 0;
        // Its status is known from here on, whatever becomes of the rest.
        const answered = () => {
          const text = Buffer.concat(chunks).subarray(0, MAX_READ_BYTES).toString();
          resolve({
            outcome: "answered",
            status: response.statusCode ?? 0,
            headers: flat(response.headers),
            body: text,
          });
        };
        response.on("data", (chunk: Buffer) => {
          chunks.push(chunk);
          size += chunk.length;
          if (size > MAX_READ_BYTES) request.destroy();
        });
        response.once("end", answered);
        response.once("error", answered);
        response.once("close", answered);
      });
      request.end(body);
    });
  };
}

/** What names the host to itself: its port only where it is not that of https. */
export const hostHeader = ({ host, port }: Target): string =>
  `${host.includes(":") ? `[${host}]` : host}${port === HTTPS_PORT ? "" : `:${port}`}`;

/** One text per header. */
export function flat(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || name.startsWith(":") ? [] : [[name, Array.isArray(value) ? value.join(", ") : value]],
    ),
  );
}
