// What applies to every answer (GEN, D-HTTPCODES, D-REQID), and what browsers need (D-CORS).
import { describe, expect, it } from "vitest";
import { awsFailure } from "../../local/aws/index.ts";
import { addPeople } from "../support/people.ts";
import { requests } from "../support/requests.ts";
import { UNKNOWN } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const UPSERT = "POST /api/v1/subscribers/upsert";

describe("answers", () => {
  it("every answer has its own X-Request-Id, the log has the same, and JSON is never cached or sniffed (D-REQID)", async () => {
    const { world, tenant } = await withTenant();
    const answers = [
      await world.call(UPSERT, { as: tenant.sdk, body: { external_id: "a" } }),
      await world.call(UPSERT, { as: tenant.sdk, body: {} }),
      await world.call(UPSERT, {}),
      await world.call("GET /nothing"),
    ];
    const ids = answers.map(({ headers }) => headers["x-request-id"]);
    expect(new Set(ids).size).toBe(4);
    const logged = world.logs.map(({ request_id }) => request_id);
    for (const [n, { headers }] of answers.entries()) {
      expect(logged).toContain(ids[n]);
      expect(headers).toMatchObject({ "x-content-type-options": "nosniff", "cache-control": "no-store" });
      expect(headers["content-type"]).toMatch(/^application\/json/);
    }
  });

  it("what breaks inside is answered 500 and names the request in its message and nothing else (ERR-17, D-REQID)", async () => {
    const query = requests({ operation: "Query" });
    query.fail(awsFailure("AccessDeniedException", "secret arn:aws:iam::1:role/x"));
    const { world, tenant } = await withTenant({ hooks: query.hooks });
    const { status, body, headers } = await tenant.call("GET /api/v1/channels");

    expect(status).toBe(500);
    expect(body).toEqual({ code: "INTERNAL_ERROR", message: expect.any(String) });
    expect(body.message).toContain(headers["x-request-id"]);
    expect(JSON.stringify(body)).not.toContain("arn:");
    expect(world.logs).toContainEqual(expect.objectContaining({ level: "error", request_id: headers["x-request-id"] }));
  });

  it.each([
    ["that is unavailable", awsFailure("ServiceUnavailable", "busy")],
    ["as S3 says that it is", awsFailure("SlowDown", "Reduce your request rate.", { status: 503 })],
    ["that failed for a moment", awsFailure("InternalFailure", "We encountered an error.", { status: 500 })],
    ["that gave up waiting for us", awsFailure("RequestTimeout", "Your socket was not read.", { status: 400 })],
    ["with too many requests", awsFailure("TooManyRequestsException", "Rate exceeded.", { status: 429 })],
    ["whose connection broke", Object.assign(new Error("socket hang up"), { code: "ECONNRESET" })],
  ])("a dependency %s is answered 503 with Retry-After (ERR-18)", async (_, failure) => {
    const query = requests({ operation: "Query" });
    query.fail(failure);
    const { tenant } = await withTenant({ hooks: query.hooks });
    const { status, body, headers } = await tenant.call("GET /api/v1/channels");

    expect(status).toBe(503);
    expect(body.code).toBe("SERVICE_UNAVAILABLE");
    expect(headers["retry-after"]).toBe("1");
  });

  it("ids are UUIDs throughout (GEN-3)", async () => {
    const { world, tenant } = await withTenant();
    const [id] = await addPeople(world, tenant, 1);
    const body = { subscriberIds: [id], title: "t", body: "b" };
    const sent = (await tenant.call("POST /api/v1/notifications", body)).body.id;
    const channel = (await tenant.call("GET /api/v1/channels")).body.channels[0].id;
    for (const each of [id, sent, channel, tenant.id])
      expect(each).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});

describe("browsers", () => {
  it("SDK-key routes are open to any origin without credentials, on success and on refusal (D-CORS)", async () => {
    const { world, tenant } = await withTenant();
    for (const options of [{ as: tenant.sdk, body: { external_id: "a" } }, { as: tenant.sdk, body: {} }, {}]) {
      const { headers } = await world.call(UPSERT, { ...options, headers: { origin: "https://shop.example" } });
      expect(headers["access-control-allow-origin"]).toBe("*");
      expect(headers).not.toHaveProperty("access-control-allow-credentials");
    }
    for (const as of [await tenant.dashboard(), {}]) {
      const { headers } = await world.call("GET /api/v1/templates", {
        as,
        headers: { origin: "https://shop.example" },
      });
      expect(Object.keys(headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
    }
  });

  it.each([
    ["/api/v1/subscribers/upsert", "POST"],
    ["/v1/in-app/messages", "GET"],
    [`/v1/in-app/messages/${UNKNOWN}/read`, "POST"],
    ["/v1/in-app/stream", "GET"],
  ])("the preflight of %s names its method and headers (D-CORS)", async (path, method) => {
    const { world } = await withTenant();
    const headers = { origin: "https://shop.example", "access-control-request-method": method };
    const answer = await world.call(`OPTIONS ${path}`, { headers });

    expect(answer.status).toBe(204);
    expect(answer.headers["access-control-allow-origin"]).toBe("*");
    expect(String(answer.headers["access-control-allow-methods"]).split(", ")).toContain(method);
    expect(String(answer.headers["access-control-allow-headers"]).split(", ")).toEqual(
      expect.arrayContaining(["content-type", "x-sdk-key", "last-event-id"]),
    );
  });

  it.each(["/api/v1/templates", "/api/v1/notifications", "/v1/subscribers", "/nothing"])(
    "the preflight of %s is 404 without any permission (D-CORS)",
    async (path) => {
      const { world } = await withTenant();
      const { status, headers } = await world.call(`OPTIONS ${path}`, { headers: { origin: "https://shop.example" } });

      expect(status).toBe(404);
      expect(Object.keys(headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
    },
  );
});
