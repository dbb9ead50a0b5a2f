// Serves a provider's protocol on connections that never leave the process.
import { createServer as createHttp, type Server } from "node:http";
import { performServerHandshake } from "node:http2";
import { type Duplex, duplexPair } from "node:stream";
import { HANGS, type Sink, type SinkAnswer } from "./sink.ts";

/** Methods that a connection pool calls on a socket and that do nothing here. */
const manners = {
  setKeepAlive: () => undefined,
  setNoDelay: () => undefined,
  setTimeout: () => undefined,
  ref: () => undefined,
  unref: () => undefined,
};

/**
 * A connection that never leaves the process: two ends of one stream that behave like sockets.
 * @param notify called for every chunk, so that the process does not count as idle meanwhile
 */
export function openLine(notify: () => void): [near: Duplex, far: Duplex] {
  const [near, far] = duplexPair();
  for (const side of [near, far]) {
    const write = side._write;
    Object.assign(side, manners, {
      _write: (...piece: Parameters<Duplex["_write"]>) => {
        notify();
        write.apply(side, piece);
      },
    });
    side.on("error", () => undefined);
  }
  near.once("close", () => far.destroy());
  far.once("close", () => near.destroy());
  return [near, far];
}

/** A server that does not listen: connections are passed to it. */
export function serveHttp1(sink: Sink): Server {
  return createHttp({ keepAliveTimeout: 0 }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on("error", () => undefined);
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "GET", url = "/", headers } = request;
      const answer = ask(sink, method, url, flat(headers), Buffer.concat(chunks));
      if (answer === HANGS) return;
      const [body, more] = written(answer);
      response.writeHead(answer.status, { ...more, "content-length": body.length }).end(body);
    });
  });
}

/** HTTP/2 on one connection. */
export function serveHttp2(line: Duplex, sink: Sink): void {
  const session = performServerHandshake(line);
  session.on("error", () => undefined);
  session.on("stream", (stream, headers) => {
    const chunks: Buffer[] = [];
    stream.on("error", () => undefined);
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("end", () => {
      const { ":method": method = "", ":path": path = "", ...rest } = headers;
      const plain = flat({ ...rest, host: headers[":authority"] });
      const answer = ask(sink, method, path, plain, Buffer.concat(chunks));
      if (answer === HANGS) return;
      const [body, more] = written(answer);
      stream.respond({ ":status": answer.status, ...more });
      stream.end(body);
    });
  });
}

function ask(sink: Sink, method: string, url: string, headers: Record<string, string>, body: Buffer) {
  const { pathname, searchParams, host } = new URL(url, `https://${headers.host}`);
  return sink({ method, host, path: pathname, query: searchParams, headers, body });
}

function written({ body, headers }: SinkAnswer): [body: Buffer, headers: Record<string, string>] {
  if (body === undefined) return [Buffer.alloc(0), { ...headers }];
  if (typeof body === "string") return [Buffer.from(body), { ...headers }];
  return [Buffer.from(JSON.stringify(body)), { "content-type": "application/json", ...headers }];
}

const flat = (headers: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      name.startsWith(":") || value === undefined ? [] : [[name, String(value)]],
    ),
  );
