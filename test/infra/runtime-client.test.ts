// The stream's bundle under Amazon's own runtime client, as Lambda's Runtime API sees it (SSE-1).
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it, onTestFailed, vi } from "vitest";
import { bundleFolder, bundleFunctions } from "../../infra/bundle.ts";
import { proxyEvent } from "../../local/gateway-event.ts";
import { bundledWorld } from "./support/bundled-world.ts";
import { httpResponseOf, startRuntimeApi } from "./support/runtime-api.ts";

const installed = fileURLToPath(new URL("../../.tools/ric", import.meta.url));
const client = join(installed, "node_modules", "aws-lambda-ric", "bin", "index.mjs");
const preload = new URL("./support/rapid-client.ts", import.meta.url).href;
const PATIENCE_MS = 120_000;
const soon = { timeout: 15_000, interval: 20 };

describe.skipIf(!existsSync(client))("under aws-lambda-ric (skipped until tools/install-ric.sh has run)", () => {
  let world: Awaited<ReturnType<typeof bundledWorld>>;
  let runtime: Awaited<ReturnType<typeof startRuntimeApi>>;
  let environment: ChildProcess | undefined;
  let said = "";

  beforeAll(async () => {
    await bundleFunctions({ hasMaps: false });
    world = await bundledWorld();
    runtime = await startRuntimeApi();
    environment = spawn(process.execPath, ["--import", preload, client, "index.handler"], {
      cwd: bundleFolder("stream"),
      env: {
        ...(await world.furnish("stream")),
        AWS_LAMBDA_RUNTIME_API: runtime.address,
        // Amazon's switch: the client then asks for invocations in JavaScript too.
        AWS_LAMBDA_NODEJS_USE_ALTERNATIVE_CLIENT_1: "true",
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const output of [environment.stdout!, environment.stderr!])
      output.on("data", (chunk: Buffer) => {
        said += chunk.toString();
      });
  }, PATIENCE_MS);
  afterAll(async () => {
    environment?.kill();
    await runtime?.close();
    await world?.close();
  });

  async function call(route: string, headers: Record<string, string>, body?: object) {
    const [method = "", path = ""] = route.split(" ");
    const payload = Buffer.from(body ? JSON.stringify(body) : "");
    const request = { method, path, headers: { ...headers, "content-type": "application/json" }, body: payload };
    const answer = await world.gateway.handle({ ...request, sourceIp: "203.0.113.7" });
    return JSON.parse(answer.body.toString());
  }

  const open = (id: string, query: string, headers: Record<string, string>) => {
    onTestFailed(() => console.error(said));
    const request = { method: "GET", path: `/v1/in-app/stream${query}`, headers, body: Buffer.alloc(0) };
    const target = { routeKey: "$default", functionUrl: true };
    return runtime.invoke(id, proxyEvent(world, { ...request, sourceIp: "203.0.113.7" }, target));
  };

  it("the runtime client refuses with a status, headers and a body, ends, and asks for the next invocation", async () => {
    for (const id of ["refused", "refused-again"]) {
      const exchange = open(id, "", {});
      await vi.waitFor(() => expect(exchange.ended).toBe(true), soon);
      const { statusCode, headers, body } = httpResponseOf(exchange);
      expect(statusCode).toBe(401);
      expect(headers).toMatchObject({ "content-type": "application/json", "cache-control": "no-store" });
      expect(JSON.parse(body)).toMatchObject({ code: "UNAUTHORIZED" });
      expect(exchange.trailers).toEqual({});
    }
  });

  it("streams a message while the response is open", { timeout: PATIENCE_MS }, async () => {
    const account = { email: "owner@example.com", password: "Correct-Horse-9-Battery", name: "Owner" };
    const registered = await call("POST /api/v1/auth/register", {}, { ...account, workspace_name: "Shop" });
    const owner = { authorization: `Bearer ${registered.access_token}` };
    const app = { "x-sdk-key": (await call("GET /api/v1/sdk-key", owner)).sdk_key };
    const { id } = await call("POST /api/v1/subscribers/upsert", app, { external_id: "anna" });

    const exchange = open("stream", `?subscriber_id=${id}`, app);
    await vi.waitFor(() => expect(httpResponseOf(exchange).body).toBe("retry: 2000\n\n"), soon);
    expect(exchange.headers).toMatchObject({
      "lambda-runtime-function-response-mode": "streaming",
      "content-type": "application/vnd.awslambda.http-integration-response",
      "transfer-encoding": "chunked",
    });
    expect(httpResponseOf(exchange)).toMatchObject({
      statusCode: 200,
      headers: { "content-type": "text/event-stream", "cache-control": "no-cache, no-transform" },
    });

    await call("POST /api/v1/notifications", owner, { subscriberIds: [id], title: "Hello", body: "Over the wire" });
    await world.settle();
    await vi.waitFor(() => expect(httpResponseOf(exchange).body).toContain("data: "), soon);
    const [, json = "", messageId] = /^data: (.*)\nid: (\S+)$/m.exec(httpResponseOf(exchange).body)!;
    expect(JSON.parse(json)).toMatchObject({ id: messageId, title: "Hello", body: "Over the wire" });
    expect(exchange.ended).toBe(false);
  });

  it("the runtime client asks for no right that its role has not, and tells the Runtime API nothing else", () => {
    expect([world.refused, world.trouble, runtime.unexpected]).toEqual([[], [], []]);
  });
});
