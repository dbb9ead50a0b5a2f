// The loopback server before the gateway: bodies, limits, streams, clients that go away, a clean end.
import { Agent, request as httpRequest, type IncomingMessage } from "node:http";
import type { APIGatewayProxyEventV2 } from "aws-lambda";
import { afterEach, describe, expect, test } from "vitest";
import { createClock } from "../../local/clock.ts";
import { createGateway, type GatewayRoute } from "../../local/gateway.ts";
import { type HttpServerOptions, type RequestLine, startHttpServer } from "../../local/http-server.ts";
import { createLambdaHost, type LambdaHost } from "../../local/lambda.ts";
import { awslambda, type ResponseStream } from "../../local/lambda-stream.ts";
import { SECOND } from "../../shared/kernel/clock.ts";
import { systemIds } from "../../shared/runtime/system.ts";

type Answer = (event: APIGatewayProxyEventV2) => unknown;

const routes: GatewayRoute[] = [
  { routeKey: "GET /api/v1/stream", function: "feed", functionUrl: true },
  { routeKey: "POST /api/v1/import", function: "api", bodyLimitBytes: 20 * 2 ** 20 },
  { routeKey: "GET /u/{token}", function: "api" },
  { routeKey: "$default", function: "api" },
];

describe("the server", () => {
  const open: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const server of open.splice(0)) await server.close();
  });

  async function served(
    answer: Answer = (event) => event.routeKey,
    control?: HttpServerOptions["control"],
    onRequest?: HttpServerOptions["onRequest"],
  ) {
    const clock = createClock({ start: 0, ticking: false });
    const host = createLambdaHost({ clock, ids: systemIds });
    host.register({
      name: "api",
      timeoutSeconds: 60,
      payloadLimit: false,
      create: () => async (event: never) => answer(event),
    });
    const log = () => undefined;
    const gateway = createGateway({ clock, ids: systemIds, host, routes, log });
    const server = await startHttpServer({
      port: 0,
      gateway,
      log,
      ...(control && { control }),
      ...(onRequest && { onRequest }),
    });
    open.push(server);
    return { clock, host, server };
  }

  const feed = (host: LambdaHost, handler: (event: APIGatewayProxyEventV2, stream: ResponseStream) => Promise<void>) =>
    host.registerStreaming({ name: "feed", timeoutSeconds: 900, create: () => handler });

  const opened = (url: string, headers = {}) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      httpRequest(url, { headers, agent: new Agent() }, resolve).on("error", reject).end();
    });

  test("an answer to HEAD keeps the length of the body that it leaves out", async () => {
    const { server } = await served(() => ({ statusCode: 200, headers: { "content-length": "70" } }));
    const lengths = await Promise.all(
      ["HEAD", "GET"].map(async (method) => (await fetch(`${server.url}/x`, { method })).headers.get("content-length")),
    );
    expect(lengths).toEqual(["70", "0"]);
  });

  test("the control surface answers only requests that are addressed to this machine, and no page of another site", async () => {
    const { server } = await served(undefined, async () => ({ status: 200, headers: {}, body: Buffer.from("ok") }));
    const status = async (path: string, headers: Record<string, string>) =>
      (await opened(`${server.url}${path}`, headers)).statusCode;
    const host = new URL(server.url).host;
    expect(await status("/_local/clock", {})).toBe(200);
    expect(await status("/_local/clock", { origin: `http://${host}` })).toBe(200);
    expect(await status("/_local/clock", { host: "rebound.example" })).toBe(403);
    expect(await status("/_local/clock", { origin: "https://evil.example" })).toBe(403);
    expect(await status("/_local/clock", { origin: "null" })).toBe(403);
    expect(await status("/x", { host: "rebound.example", origin: "https://evil.example" })).toBe(200);
  });

  test("the local server tells of each request once, without its query and the token of a mail", async () => {
    const lines: RequestLine[] = [];
    const answer = () => ({ statusCode: 202, headers: { "x-request-id": "r-1" }, body: "ok" });
    const { server } = await served(answer, undefined, (line) => lines.push(line));
    await (await fetch(`${server.url}/x?sdk_key=secret`, { method: "POST", body: "a" })).text();
    await (await fetch(`${server.url}/u/secret-of-a-mail?x=1`)).text();
    await server.close();
    const answered = { status: 202, ms: expect.any(Number), request_id: "r-1" };
    expect(lines).toEqual([
      { method: "POST", path: "/x", ...answered },
      { method: "GET", path: "/u/…", ...answered },
    ]);
  });

  test("the local server passes method, path, headers and body on, and the answer back", async () => {
    const { server } = await served((event) => ({
      statusCode: 201,
      headers: { "content-type": "application/json" },
      cookies: ["a=1", "b=2"],
      body: JSON.stringify([
        event.requestContext.http.method,
        event.rawPath,
        event.rawQueryString,
        event.body,
        event.cookies,
      ]),
    }));
    const response = await fetch(`${server.url}/api/v1/any?x=%20y`, {
      method: "PUT",
      headers: { "content-type": "text/plain", cookie: "c=3" },
      body: "grüezi",
    });
    expect(response.status).toBe(201);
    expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
    expect(await response.json()).toEqual(["PUT", "/api/v1/any", "x=%20y", "grüezi", ["c=3"]]);
    expect((await fetch(`${server.url}/`, { method: "HEAD" })).status).toBe(201);
  });

  test("the local server refuses a body over the limit, announced or not", async () => {
    const { server } = await served();
    const body = Buffer.alloc(11 * 2 ** 20);
    for (const sent of [body, new Blob([body]).stream()]) {
      const init = { method: "POST", body: sent, duplex: "half" } as RequestInit;
      const response = await fetch(`${server.url}/api/v1/any`, init);
      expect([response.status, await response.text()]).toEqual([413, '{"message":"Request Entity Too Large"}']);
    }
    expect((await fetch(`${server.url}/api/v1/import`, { method: "POST", body })).status).toBe(200);
  });

  test("the local server asks the control surface first, for its own paths only", async () => {
    const control: HttpServerOptions["control"] = async ({ path }) =>
      path === "/_local/health" ? { status: 200, headers: {}, body: Buffer.from("ready") } : undefined;
    const { server } = await served(undefined, control);
    const textOf = async (path: string) => (await fetch(server.url + path)).text();
    expect(await textOf("/_local/health")).toBe("ready");
    expect(await textOf("/_local/other")).toBe("$default");
    expect(await textOf("/_localhost")).toBe("$default");
  });

  test("streams as the function writes, with the viewer's credential where CloudFront puts it", async () => {
    const { server, host } = await served();
    let release = () => {};
    feed(host, async (event, raw) => {
      const response = awslambda.HttpResponseStream.from(raw, {
        statusCode: 200,
        headers: { "content-type": "text/event-stream" },
      });
      response.write(`data: ${event.routeKey} ${event.headers["x-viewer-authorization"]}\n\n`);
      await new Promise<void>((resolve) => (release = resolve));
      response.end("data: bye\n\n");
    });
    const response = await opened(`${server.url}/api/v1/stream`, { authorization: "Bearer x" });
    expect(response.headers["content-type"]).toBe("text/event-stream");
    const chunks = response.setEncoding("utf8")[Symbol.asyncIterator]();
    expect((await chunks.next()).value).toBe("data: $default Bearer x\n\n");
    release();
    expect((await chunks.next()).value).toBe("data: bye\n\n");
    expect((await chunks.next()).done).toBe(true);
  });

  test("a client that goes away leaves the function running, and closing ends what is open", async () => {
    const { server, host, clock } = await served();
    let ended = 0;
    feed(host, async (_, response) => {
      for (let beat = 0; beat < 3; beat++) {
        response.write("beat");
        await clock.sleep(SECOND);
      }
      response.end();
      ended++;
    });
    const first = await opened(`${server.url}/api/v1/stream`);
    first.on("error", () => undefined).destroy();
    const second = await opened(`${server.url}/api/v1/stream`);
    const cut = new Promise((resolve) => second.on("error", resolve).resume());
    await server.close();
    expect(await cut).toMatchObject({ code: "ECONNRESET" });
    expect(host.running("feed")).toBe(2);
    for (let beat = 0; beat < 3; beat++) {
      clock.jumpTo(clock.now() + SECOND);
      await new Promise(setImmediate);
    }
    expect([ended, host.running()]).toEqual([2, 0]);
  });
});
