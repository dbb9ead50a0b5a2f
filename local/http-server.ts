// The loopback HTTP server before the gateway.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Gateway, type GatewayRequest, type GatewayResponse, pathOf, refusal } from "./gateway.ts";
import type { StreamOut } from "./lambda-stream.ts";
import type { Log } from "./mapping.ts";

interface HttpServer {
  readonly port: number;
  readonly url: string;
  /** Stops listening, gives running requests a moment and closes the rest. */
  close(): Promise<void>;
}

export interface HttpServerOptions {
  /** 0 takes a free port. */
  port: number;
  gateway: Gateway;
  /** Handles paths under `/_local` first. */
  control?: (request: GatewayRequest) => Promise<GatewayResponse | undefined>;
  log: Log;
  /** Called once a response has ended or its client has left. */
  onRequest?: (request: RequestLine) => void;
}

export interface RequestLine {
  method: string;
  /** The path without the query, which may hold a key, and without the token of a mail's link. */
  path: string;
  /** Undefined if the client left first. */
  status: number | undefined;
  ms: number;
  request_id: string | undefined;
}

const HOST = "127.0.0.1";
const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i;

/** A page of another site must not use the control surface, also not under a name that resolves to this machine. */
function isOwn({ headers: { host = "", origin } }: IncomingMessage): boolean {
  const from = origin === undefined ? host : (URL.parse(origin)?.host ?? "");
  return LOOPBACK.test(host) && LOOPBACK.test(from);
}

const CONTROL_LIMIT = 10 * 1024 * 1024;
const CLOSE_GRACE = 2_000;

export async function startHttpServer({
  port,
  gateway,
  control,
  log,
  onRequest,
}: HttpServerOptions): Promise<HttpServer> {
  const streams = new Set<ServerResponse>();
  let closing = false;

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = "GET", url = "/" } = request;
    const local = control && /^\/_local(\/|$)/.test(pathOf(url)) ? control : undefined;
    if (local && !isOwn(request)) return send(response, refusal(403, "Forbidden"));
    const { streaming, bodyLimitBytes } = local
      ? { streaming: false, bodyLimitBytes: CONTROL_LIMIT }
      : gateway.plan(method, url);

    const read = await readBody(request, bodyLimitBytes);
    if (read.kind === "gone") return;
    if (read.kind === "too large") {
      response.setHeader("connection", "close");
      return send(response, refusal(413, "Request Entity Too Large"));
    }

    const left = new AbortController();
    response.once("close", () => left.abort());
    const gatewayRequest = {
      method,
      path: url,
      headers: request.headersDistinct,
      body: read.body,
      sourceIp: request.socket.remoteAddress ?? HOST,
      signal: left.signal,
    };

    if (streaming) {
      streams.add(response.once("close", () => streams.delete(response)));
      return gateway.stream(gatewayRequest, outOf(response));
    }
    send(response, (await local?.(gatewayRequest)) ?? (await gateway.handle(gatewayRequest)));
  };

  const server = createServer({ keepAliveTimeout: 65_000, requestTimeout: 300_000 }, (request, response) => {
    response.on("error", () => undefined);
    if (onRequest) {
      const { method = "GET", url = "/" } = request;
      const { shownPath: path = pathOf(url) } = gateway.plan(method, url);
      whenClosed(response, { method, path }, onRequest);
    }
    answer(request, response)
      .catch((error: unknown) => {
        log("A request failed without a response.", { method: request.method, error: String(error) });
        if (response.headersSent) response.destroy();
        else send(response, refusal(500, "Internal Server Error"));
      })
      .finally(() => closing && response.once("close", () => server.closeIdleConnections()));
  });

  await once(server.listen(port, HOST), "listening");
  const listening = (server.address() as AddressInfo).port;

  const close = async () => {
    closing = true;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const response of streams) response.destroy();
    server.closeIdleConnections();
    const cut = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE);
    await closed;
    clearTimeout(cut);
  };

  return { port: listening, url: `http://${HOST}:${listening}`, close };
}

function send(response: ServerResponse, { status, headers, body }: GatewayResponse): void {
  if (response.destroyed) return;
  // A response to HEAD has the length of the body that it leaves out.
  const isSaid = response.req.method === "HEAD" && "content-length" in headers;
  const hasLength = status !== 204 && status !== 304 && !isSaid;
  writeHead(response, status, { ...headers, ...(hasLength && { "content-length": body.length }) });
  response.end(body);
}

/** Keeps the headers readable, which `response.writeHead` alone does not. */
function writeHead(
  response: ServerResponse,
  status: number,
  headers: Record<string, string | number | readonly string[]>,
): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.writeHead(status);
}

function whenClosed(
  response: ServerResponse,
  about: Pick<RequestLine, "method" | "path">,
  onRequest: (line: RequestLine) => void,
): void {
  const startedAt = performance.now();
  response.once("close", () => {
    const id = response.getHeader("x-request-id");
    onRequest({
      ...about,
      status: response.headersSent ? response.statusCode : undefined,
      ms: Math.round(performance.now() - startedAt),
      request_id: id === undefined ? undefined : String(id),
    });
  });
}

type ReadBody =
  | { kind: "read"; body: Buffer }
  /** The client left before the end. */
  | { kind: "gone" }
  | { kind: "too large" };

/** Reads at most `limit` bytes. */
async function readBody(request: IncomingMessage, limit: number): Promise<ReadBody> {
  if (Number(request.headers["content-length"] ?? 0) > limit) {
    request.resume();
    return { kind: "too large" };
  }
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) {
        request.removeAllListeners("data").resume();
        resolve({ kind: "too large" });
      } else chunks.push(chunk);
    });
    request.on("end", () => resolve({ kind: "read", body: Buffer.concat(chunks) }));
    request.on("error", () => resolve({ kind: "gone" }));
    request.on("close", () => resolve({ kind: "gone" }));
  });
}

function outOf(response: ServerResponse): StreamOut {
  return {
    start: (status, headers) => {
      if (response.destroyed) return;
      writeHead(response, status, headers);
      response.flushHeaders();
    },
    write: (chunk) => {
      if (response.destroyed) return false;
      response.write(chunk);
      return true;
    },
    end: (failed) => {
      if (failed) response.destroy();
      else response.end();
    },
  };
}
