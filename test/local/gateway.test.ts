// The gateway: events as API Gateway makes them, answers as it reads them.
import type { APIGatewayProxyEventV2 } from "aws-lambda";
import { describe, expect, test } from "vitest";
import { createClock } from "../../local/clock.ts";
import { createGateway, type GatewayRequest, type GatewayRoute } from "../../local/gateway.ts";
import { createLambdaHost } from "../../local/lambda.ts";
import { SECOND } from "../../shared/kernel/clock.ts";
import { systemIds } from "../../shared/runtime/system.ts";

type Answer = (event: APIGatewayProxyEventV2) => unknown;

const routes: GatewayRoute[] = [
  "GET /api/v1/templates/{id}",
  "GET /api/v1/templates/summary",
  "POST /api/v1/templates/{id}/versions/{version}",
  "ANY /api/v1/any",
  "GET /files/{path+}",
  "POST /api/v1/import",
  "$default",
].map((routeKey) => ({
  routeKey,
  function: "api",
  ...(routeKey.endsWith("import") && { bodyLimitBytes: 20 * 2 ** 20 }),
}));

function world(answer: Answer = (event) => event.routeKey, table: GatewayRoute[] = routes) {
  const clock = createClock({ start: Date.UTC(2026, 2, 12, 19, 3, 58, 390), ticking: false });
  const host = createLambdaHost({ clock, ids: systemIds });
  const logged: string[] = [];
  const log = (message: string) => logged.push(message);
  host.register({
    name: "api",
    timeoutSeconds: 60,
    payloadLimit: false,
    create: () => async (event: APIGatewayProxyEventV2) => answer(event),
  });
  const gateway = createGateway({ clock, ids: systemIds, host, routes: table, log });
  const call = async (method: string, path: string, more: Partial<GatewayRequest> = {}) => {
    const response = await gateway.handle({
      method,
      path,
      headers: {},
      body: Buffer.alloc(0),
      sourceIp: "127.0.0.1",
      ...more,
    });
    return { ...response, text: response.body.toString() };
  };
  const eventOf = async (method: string, path: string, more: Partial<GatewayRequest> = {}) => {
    const echo = world((event) => ({ statusCode: 200, body: JSON.stringify(event) }), table);
    return JSON.parse((await echo.call(method, path, more)).text) as APIGatewayProxyEventV2;
  };
  return { clock, host, gateway, call, eventOf, log, logged };
}

test("a request beyond the account's invocations at once gets AWS's own 503", async () => {
  const clock = createClock({ start: 0, ticking: false });
  const host = createLambdaHost({ clock, ids: systemIds, accountConcurrency: 0 });
  host.register({ name: "api", timeoutSeconds: 60, create: () => () => "never" });
  const gateway = createGateway({ clock, ids: systemIds, host, routes, log: () => undefined });
  const request = { method: "GET", path: "/nowhere", headers: {}, body: Buffer.alloc(0), sourceIp: "127.0.0.1" };
  const { status, body } = await gateway.handle(request);
  expect([status, JSON.parse(body.toString())]).toEqual([503, { message: "Service Unavailable" }]);
});

test("requests beyond the stage's limit get the gateway's own 429, until the next second has filled it (D9)", async () => {
  const clock = createClock({ start: 0, ticking: false });
  const host = createLambdaHost({ clock, ids: systemIds });
  host.register({ name: "api", timeoutSeconds: 60, create: () => async () => ({ statusCode: 200, body: "{}" }) });
  const gateway = createGateway({ clock, ids: systemIds, host, routes, log: () => undefined, requestsPerSecond: 4 });
  const request = { method: "GET", path: "/nowhere", headers: {}, body: Buffer.alloc(0), sourceIp: "127.0.0.1" };
  const ask = async (n: number) => {
    const answers = [];
    for (let i = 0; i < n; i++) answers.push(await gateway.handle(request));
    return answers.map(({ status }) => status);
  };
  expect(await ask(3)).toEqual([200, 200, 429]);
  expect(JSON.parse((await gateway.handle(request)).body.toString())).toEqual({ message: "Too Many Requests" });
  clock.jumpTo(500);
  expect(await ask(3)).toEqual([200, 200, 429]);
});

describe("the event", () => {
  test("the event of the gateway is the one of payload format 2.0", async () => {
    const event = await world().eventOf("POST", "/api/v1/templates/a%20b/versions/3?x=1&x=2&name=J%C3%BCrgen&empty=", {
      headers: {
        Host: "api.test:3000",
        "User-Agent": "toy/1",
        "X-Many": ["a", "b"],
        Cookie: "a=1; b=2",
        "content-type": "application/json",
      },
      body: Buffer.from('{"ü":1}'),
    });
    expect(event).toEqual({
      version: "2.0",
      routeKey: "POST /api/v1/templates/{id}/versions/{version}",
      rawPath: "/api/v1/templates/a b/versions/3",
      rawQueryString: "x=1&x=2&name=J%C3%BCrgen&empty=",
      cookies: ["a=1", "b=2"],
      headers: {
        host: "api.test:3000",
        "user-agent": "toy/1",
        "x-many": "a,b",
        "content-type": "application/json",
        "content-length": "8",
        "x-amzn-trace-id": expect.stringMatching(/^Root=1-[0-9a-f]{8}-[0-9a-f]{24}$/),
        "x-forwarded-for": "127.0.0.1",
        "x-forwarded-port": "443",
        "x-forwarded-proto": "https",
      },
      queryStringParameters: { x: "1,2", name: "Jürgen", empty: "" },
      pathParameters: { id: "a b", version: "3" },
      requestContext: {
        accountId: "000000000000",
        apiId: "local",
        domainName: "api.test",
        domainPrefix: "api",
        http: {
          method: "POST",
          path: "/api/v1/templates/a b/versions/3",
          protocol: "HTTP/1.1",
          sourceIp: "127.0.0.1",
          userAgent: "toy/1",
        },
        requestId: expect.any(String),
        routeKey: "POST /api/v1/templates/{id}/versions/{version}",
        stage: "$default",
        time: "12/Mar/2026:19:03:58 +0000",
        timeEpoch: Date.UTC(2026, 2, 12, 19, 3, 58, 390),
      },
      body: '{"ü":1}',
      isBase64Encoded: false,
    });
  });

  test("the event of the gateway has neither body, parameters nor cookies where there are none", async () => {
    const event = await world().eventOf("GET", "/api/v1/templates/summary");
    expect(event.isBase64Encoded).toBe(false);
    for (const absent of ["body", "cookies", "queryStringParameters", "pathParameters"])
      expect(event).not.toHaveProperty(absent);
  });

  test.each([
    ["text/csv; charset=utf-8", false],
    ["application/problem+json", false],
    ["application/xml", false],
    ["application/x-www-form-urlencoded", true],
    ["multipart/form-data; boundary=x", true],
    ["application/octet-stream", true],
    [undefined, true],
  ])("a body of %s is base64: %s", async (type, isBase64Encoded) => {
    const body = Buffer.from("a=1");
    const event = await world().eventOf("ANY", "/api/v1/any", { body, headers: { "content-type": type } });
    expect(event).toMatchObject({ isBase64Encoded, body: body.toString(isBase64Encoded ? "base64" : "utf8") });
  });
});

describe("routing", () => {
  test.each([
    ["GET", "/api/v1/templates/summary", "GET /api/v1/templates/summary"],
    ["GET", "/api/v1/templates/other", "GET /api/v1/templates/{id}"],
    ["GET", "/api/v1/templates/a%2Fb", "GET /api/v1/templates/{id}"],
    ["POST", "/api/v1/templates/summary", "$default"],
    ["GET", "/api/v1/templates/", "$default"],
    ["GET", "/api/v1/templates/a/b", "$default"],
    ["PATCH", "/api/v1/any?x=/y", "ANY /api/v1/any"],
    ["GET", "/files/a/b/c", "GET /files/{path+}"],
    ["GET", "/", "$default"],
  ])("%s %s goes to %s", async (method, path, routeKey) => {
    expect((await world().call(method, path)).text).toBe(routeKey);
  });

  test("without a default, what is unknown is not found; a broken escape is a bad request", async () => {
    const { call } = world(undefined, routes.slice(0, 1));
    expect(await call("GET", "/nowhere")).toMatchObject({ status: 404, text: '{"message":"Not Found"}' });
    expect(await call("GET", "/api/v1/templates/%zz")).toMatchObject({
      status: 400,
      text: '{"message":"Bad Request"}',
    });
  });

  test("10 MB is the limit, but for a route that says otherwise", async () => {
    const { call } = world();
    const body = Buffer.alloc(10 * 2 ** 20 + 1);
    expect(await call("PUT", "/api/v1/any", { body })).toMatchObject({
      status: 413,
      text: '{"message":"Request Entity Too Large"}',
    });
    expect((await call("POST", "/api/v1/import", { body })).status).toBe(200);
  });
});

describe("the answer", () => {
  const broken = { status: 500, text: '{"message":"Internal Server Error"}' };
  const json = { "content-type": "application/json" };
  test.each<[string, unknown, object]>([
    [
      "a structure",
      { statusCode: 201, headers: { "X-A": 1, "content-type": "text/csv" }, body: "a" },
      { status: 201, headers: { "x-a": "1", "content-type": "text/csv" }, text: "a" },
    ],
    ["no content", { statusCode: 204 }, { status: 204, headers: {}, text: "" }],
    ["no content type", { statusCode: 200, body: "a" }, { headers: { "content-type": "text/plain;charset=utf-8" } }],
    ["base64", { statusCode: 200, body: "w7w=", isBase64Encoded: true }, { text: "ü" }],
    ["cookies", { statusCode: 200, cookies: ["a=1", "b=2"] }, { headers: { "set-cookie": ["a=1", "b=2"] } }],
    ["a bare object", { hello: "world" }, { status: 200, headers: json, text: '{"hello":"world"}' }],
    ["a bare text", "hello", { status: 200, headers: json, text: "hello" }],
    ["a status that is none", { statusCode: "many" }, broken],
    ["a body that is no text", { statusCode: 200, body: {} }, broken],
    ["a header that is no text", { statusCode: 200, headers: { a: [] } }, broken],
    ["cookies that are no list", { statusCode: 200, cookies: "a=1" }, broken],
  ])("%s", async (_, given, expected) => {
    expect(await world(() => given).call("GET", "/")).toMatchObject(expected);
  });

  test("an error of the function is a 500 and logged; after 30 seconds the gateway gives up", async () => {
    const failing = world(() => {
      throw new Error("secret");
    });
    expect(await failing.call("GET", "/")).toMatchObject(broken);
    expect(failing.logged).toEqual(["A function failed."]);
    const slow = world(() => new Promise(() => undefined));
    const answer = slow.call("GET", "/");
    await new Promise(setImmediate);
    slow.clock.jumpTo(slow.clock.now() + 30 * SECOND);
    expect(await answer).toMatchObject({ status: 503, text: '{"message":"Service Unavailable"}' });
  });
});
