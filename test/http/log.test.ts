// The log: one line per request, without secrets or personal data.
import { readdirSync, readFileSync } from "node:fs";
import { expect, it, vi } from "vitest";
import { logLine, redact } from "../../shared/kernel/log.ts";
import { deployedDeps } from "../../shared/runtime/lambda.ts";
import { counted, withMetrics } from "../../shared/runtime/metrics.ts";
import { testWorld } from "../support/world.ts";

it("the log cuts out secrets by the name of their field, at any depth", () => {
  const entry = {
    password: "p",
    nested: { access_token: "t", Email: "a@b.example", list: [{ "X-SDK-Key": "k" }] },
    route: "GET /x",
  };
  expect(redact(entry)).toEqual({
    password: "[redacted]",
    nested: { access_token: "[redacted]", Email: "[redacted]", list: [{ "X-SDK-Key": "[redacted]" }] },
    route: "GET /x",
  });
});

it("the log cuts out secrets by their looks, wherever they stand", () => {
  const secrets = [
    `service_srv_${"a".repeat(32)}`,
    `service_mcp_${"b".repeat(32)}`,
    `whsec_${"c".repeat(32)}`,
    `sk_${"d".repeat(48)}.${"e".repeat(43)}`,
    `eyJ${"f".repeat(20)}.${"g".repeat(40)}.${"h".repeat(40)}`,
    "-----BEGIN PRIVATE KEY-----",
  ];
  for (const secret of secrets) {
    const line = logLine({ level: "error", message: `it said ${secret} and went on`, error: `x${secret}` });
    expect(line).not.toContain(secret);
    expect(JSON.parse(line).message).toBe("it said [redacted] and went on");
  }
});

it("a request leaves one line: id, workspace, route, status, milliseconds, and nothing of its content (ERR-17)", async () => {
  const world = await testWorld();
  const tenant = await world.tenant();
  world.logs.length = 0;
  const body = { external_id: "canary-external", email: "canary@example.com", attributes: { note: "canary-note" } };
  const answer = await world.call("POST /api/v1/subscribers/upsert", { as: tenant.sdk, body });
  await world.call("POST /api/v1/auth/login", { body: { email: "canary@example.com", password: "canary-password" } });
  await world.settle();
  const lines = world.logs.map(logLine);
  const [first] = world.logs;
  expect(first).toEqual({
    level: "info",
    message: "request",
    request_id: answer.headers["x-request-id"],
    tenant: tenant.id,
    route: "POST /api/v1/subscribers/upsert",
    status: 200,
    ms: 0,
  });
  for (const canary of ["canary", tenant.sdkKey]) expect(lines.join("\n")).not.toContain(canary);
});

it("the line of what failed in a request names its route and its workspace (D-HEALTH)", async () => {
  const world = await testWorld({
    hooks: (name) => ({
      before: (_, operation) => {
        if (name === "api-templates" && operation === "TransactWriteItems") throw new Error("broken");
      },
    }),
  });
  const tenant = await world.tenant();
  const route = "POST /api/v1/templates";

  const answer = await tenant.call(route, { name: "Hello", content: { title: "t", body: "b" } });

  const request_id = answer.headers["x-request-id"];
  const line = world.logs.find(({ message }) => message === "request failed");
  expect([answer.status, line]).toMatchObject([500, { request_id, tenant: tenant.id, route, error: "Error: broken" }]);
});

it("requests, failed messages, limits and late timers are counted by CloudWatch from their lines (D-HEALTH)", async () => {
  const world = await testWorld();
  await world.call("GET /nowhere");
  await world.call("GET /api/v1/me");
  const [entry] = world.logs.filter(({ message, status }) => message === "request" && status === 401);
  const line = JSON.parse(logLine(withMetrics(entry!, 1_795_000_000_000)));
  expect(line).toEqual({
    ...entry,
    Status: "401",
    Requests: 1,
    _aws: {
      Timestamp: 1_795_000_000_000,
      CloudWatchMetrics: [
        {
          Namespace: "EngagementMessaging",
          Dimensions: [["Status"]],
          Metrics: [{ Name: "Requests", Unit: "Count" }],
        },
      ],
    },
  });
  const rescued = withMetrics({ level: "warn", message: "the sweep found overdue rows", rescued: 7 }, 0);
  expect(rescued).toMatchObject({ OverdueTimers: 7, Level: "warn" });
  expect(withMetrics({ level: "info", message: "erased" }, 0)).toEqual({ level: "info", message: "erased" });
  const written = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  deployedDeps().log(entry!);
  const [[said] = []] = written.mock.calls;
  written.mockRestore();
  expect(JSON.parse(String(said))).toMatchObject({ Requests: 1, _aws: { Timestamp: expect.any(Number) } });
});

it("what is counted is what is logged: every message of the list is one of the product's (D-HEALTH)", () => {
  const sources = ["shared", "functions"].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts") && !file.endsWith("metrics.ts"))
      .map((file) => readFileSync(`${folder}/${file}`, "utf8")),
  );
  const said = (message: string) => sources.some((text) => text.includes(`message: "${message}"`));
  expect(Object.keys(counted).filter((message) => !said(message))).toEqual([]);
});
