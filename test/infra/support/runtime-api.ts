// Lambda's Runtime API on a loopback port: serves invocations, and records the responses as received.
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { listenOnLoopback } from "../../support/loopback.ts";

const NEXT = "/2018-06-01/runtime/invocation/next";
const RESPONSE = /^\/2018-06-01\/runtime\/invocation\/([^/]+)\/response$/;
/** Between the prelude and the body of a streamed HTTP response. */
const SEPARATOR = Buffer.alloc(8);
const TIME_MS = 15 * 60_000;

interface Exchange {
  headers: IncomingHttpHeaders;
  bytes: Buffer;
  ended: boolean;
  /** By which a function says that it failed after its response began. */
  trailers: NodeJS.Dict<string>;
}

export async function startRuntimeApi() {
  const exchanges = new Map<string, Exchange>();
  const events: { id: string; event: unknown }[] = [];
  const asking: ServerResponse[] = [];
  /** What a streaming function must not ask or tell. */
  const unexpected: string[] = [];

  const handOut = () => {
    while (asking.length > 0 && events.length > 0) {
      const { id, event } = events.shift()!;
      const headers = {
        "lambda-runtime-aws-request-id": id,
        "lambda-runtime-deadline-ms": String(Date.now() + TIME_MS),
        "lambda-runtime-invoked-function-arn": "arn:aws:lambda:us-east-1:123456789012:function:stream",
        "lambda-runtime-trace-id": "Root=1-00000000-000000000000000000000000",
      };
      asking
        .shift()!
        .writeHead(200, { ...headers, "content-type": "application/json" })
        .end(JSON.stringify(event));
    }
  };

  const receive = async (request: IncomingMessage, exchange: Exchange) => {
    exchange.headers = request.headers;
    for await (const chunk of request as AsyncIterable<Buffer>) exchange.bytes = Buffer.concat([exchange.bytes, chunk]);
    exchange.trailers = request.trailers;
    exchange.ended = true;
  };

  const server = createServer(async (request, response) => {
    const { method, url = "" } = request;
    if (method === "GET" && url === NEXT) {
      asking.push(response);
      return handOut();
    }
    const exchange = exchanges.get(RESPONSE.exec(url)?.[1] ?? "");
    if (method !== "POST" || !exchange) {
      unexpected.push(`${method} ${url}`);
      return void response.writeHead(404).end();
    }
    try {
      await receive(request, exchange);
      response.writeHead(202, { "content-type": "application/json" }).end('{"status":"OK"}');
    } catch {
      response.destroy();
    }
  });
  const port = await listenOnLoopback(server);

  return {
    address: `127.0.0.1:${port}`,
    unexpected,
    invoke: (id: string, event: unknown): Exchange => {
      const exchange: Exchange = { headers: {}, bytes: Buffer.alloc(0), ended: false, trailers: {} };
      exchanges.set(id, exchange);
      events.push({ id, event });
      handOut();
      return exchange;
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The HTTP response that a function URL makes of what came. @throws where prelude and separator are not there. */
export function httpResponseOf({ bytes }: Exchange) {
  const at = bytes.indexOf(SEPARATOR);
  if (at < 0) throw new Error(`No prelude in: ${bytes.toString()}`);
  const prelude = JSON.parse(bytes.toString("utf8", 0, at)) as { statusCode: number; headers: Record<string, string> };
  return { ...prelude, body: bytes.toString("utf8", at + SEPARATOR.length) };
}
