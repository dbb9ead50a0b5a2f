// HTTP/1.1 over pooled connections, whose addresses were checked when they were made.
import { Agent, type ClientRequestArgs, request as startRequest } from "node:http";
import type { Duplex } from "node:stream";
import { type Clock, SECOND } from "../kernel/clock.ts";
import { type Connect, type Exchange, notSent, type OutgoingRequest, type Pool, reasonOf } from "./exchange.ts";
import { HTTPS_PORT, type Target } from "./targets.ts";

/** A connection idle for longer may have been closed by the server while this environment was frozen. */
const IDLE_MS = 4 * SECOND;
const MAX_CONNECTIONS = 64;
/** The most bytes of an answer that are read. */
export const MAX_READ_BYTES = 65_536;

/** Requests over a pool of keep-alive connections. */
export function openHttp1(clock: Clock, connect: Connect): Pool {
  const agent = new Agent({ keepAlive: true, maxSockets: MAX_CONNECTIONS, maxFreeSockets: MAX_CONNECTIONS });
  const idleSince = new WeakMap<Duplex, number>();
  agent.on("free", (socket: Duplex) => idleSince.set(socket, clock.now()));
  // The agent calls this for each connection and receives it through `done`.
  agent.createConnection = (options: ClientRequestArgs, done) => {
    const { host, port, limit } = options as { host: string; port: number; limit: AbortSignal };
    connect({ host, port, path: "" }, ["http/1.1"], limit).then(
      (socket) => done?.(null, socket),
      (error: Error) => done?.(error, undefined as never),
    );
    return undefined;
  };
  const closeIdle = () => {
    for (const sockets of Object.values(agent.freeSockets))
      for (const socket of sockets ?? []) if (clock.now() - (idleSince.get(socket) ?? 0) > IDLE_MS) socket.destroy();
  };
  return (request) => {
    closeIdle();
    return exchange(agent, request);
  };
}

function exchange(agent: Agent, { method, target, headers, body, signal }: OutgoingRequest): Promise<Exchange> {
  return new Promise((resolve) => {
    let isSent = false;
    const { host, port, path } = target;
    const options = {
      agent,
      host,
      port,
      method,
      path,
      signal,
      setHost: false,
      headers: { host: hostHeader(target), "content-length": String(body.length), ...headers },
      // Under a second name, because the request removes `signal` before it calls the agent.
      limit: signal,
    };
    const request = startRequest(options);
    request.once("socket", () => {
      isSent = true;
    });
    let isAnswered = false;
    const fail = (error: Error) => {
      if (isAnswered) return;
      const cause = signal.aborted ? new Error("no answer in time") : error;
      resolve(isSent ? { kind: "unknown", reason: reasonOf(cause) } : notSent(cause));
    };
    request.once("error", fail);
    // A 101, which was not requested, closes the request without an error or a response.
    request.once("close", () => fail(new Error("the connection was closed")));
    request.once("response", (response) => {
      isAnswered = true;
      const chunks: Buffer[] = [];
      let size = 0;
      // The status is known from here on, even if the rest is not received.
      const finish = () => {
        const text = Buffer.concat(chunks).subarray(0, MAX_READ_BYTES).toString();
        resolve({
          kind: "answered",
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
      response.once("end", finish);
      response.once("error", finish);
      response.once("close", finish);
    });
    request.end(body);
  });
}

/** The value of the `Host` header: with the port unless it is that of https. */
export const hostHeader = ({ host, port }: Target): string =>
  `${host.includes(":") ? `[${host}]` : host}${port === HTTPS_PORT ? "" : `:${port}`}`;

/** One text per header. */
export function flat(headers: Readonly<NodeJS.Dict<string | string[] | number>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || name.startsWith(":")
        ? []
        : [[name, Array.isArray(value) ? value.join(", ") : String(value)]],
    ),
  );
}
