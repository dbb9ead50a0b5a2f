// What applies to every request: routes and bodies (GEN, ERR-0 to ERR-2).
import { describe, expect, it } from "vitest";
import { groups } from "../../functions/index.ts";
import { type TestWorld, testWorld, UNKNOWN } from "../support/world.ts";
import { shared, worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const UPSERT = "POST /api/v1/subscribers/upsert";
const json = { "content-type": "application/json" };

describe("routes", () => {
  const open = shared((own) => own.withTenant());

  it("management and SDK writes are under /api/v1, delivery and integrations under /v1 (GEN-1, GEN-14)", () => {
    const routes = groups.flatMap((group) => group.endpoints.map(({ route }) => route));
    for (const route of [
      "POST /api/v1/subscribers/upsert",
      "DELETE /api/v1/subscribers/:id",
      "POST /api/v1/subscribers/bulk-delete",
      "GET /v1/subscribers",
      "POST /api/v1/notifications",
      "GET /api/v1/notifications/:id",
      "POST /api/v1/templates",
      "GET /api/v1/templates",
      "GET /api/v1/templates/:id",
      "PATCH /api/v1/templates/:id",
      "DELETE /api/v1/templates/:id",
      "GET /v1/in-app/messages",
      "POST /v1/in-app/messages/read",
      "POST /v1/in-app/messages/:id/read",
      "POST /v1/in-app/messages/:id/dismiss",
      "GET /v1/whoami",
    ])
      expect(routes).toContain(route);
    const isLinkOfMail = (route: string) => /^[A-Z]+ \/[a-z]\/:token$/.test(route);
    const elsewhere = routes.filter((route) => !/^[A-Z]+ \/(api\/)?v1\//.test(route) && !isLinkOfMail(route));
    const aboutItself = ["GET /healthz", "GET /.well-known/jwks.json", "GET /.well-known/receipts.json"];
    expect(elsewhere.filter((route) => !aboutItself.includes(route))).toEqual([]);
  });

  it.each([
    ["an unknown path", "GET /api/v1/nothing"],
    ["the root", "GET /"],
    ["a wrong method", "PUT /api/v1/templates"],
    ["a method on a literal path", "GET /api/v1/subscribers/bulk-delete/x"],
    ["a trailing slash", "GET /api/v1/templates/"],
    ["the wrong prefix", "GET /api/v1/whoami"],
    ["the other wrong prefix", "POST /v1/templates"],
    ["a path that does not decode", "GET /api/v1/nothing/%zz"],
    ["a deeper path", `GET /api/v1/templates/${UNKNOWN}/more`],
  ])("%s is 404 NOT_FOUND in the envelope, for every caller (D-HTTPCODES)", async (_, route) => {
    const { world, tenant } = await open();
    for (const as of [{}, await tenant.dashboard()]) {
      const { status, body, headers } = await world.call(route, { as });
      expect(status).toBe(404);
      expect(body).toEqual({ code: "NOT_FOUND", message: expect.any(String) });
      expect(headers["x-request-id"]).toBeTruthy();
    }
  });

  const ask = (world: TestWorld, method: string, path: string, headers = {}) =>
    world.gateway.handle({ method, path, headers, body: Buffer.alloc(0), sourceIp: "203.0.113.7" });

  const openPaths = ["/healthz", "/openapi.json", "/.well-known/jwks.json"];
  it.each(openPaths)("HEAD %s is answered as GET is, without the body (E14)", async (path) => {
    const { world } = await withTenant();

    const head = await ask(world, "HEAD", path);

    const { status, headers, body } = await ask(world, "GET", path);
    expect(head.status).toBe(status);
    expect(head.headers["content-type"]).toBe(headers["content-type"]);
    expect(head.headers["content-length"]).toBe(String(body.length));
    expect(head.body).toHaveLength(0);
  });

  it("HEAD is 404 where GET needs a credential (E14)", async () => {
    const { world, tenant } = await withTenant();

    expect((await ask(world, "HEAD", "/api/v1/templates", await tenant.dashboard())).status).toBe(404);
  });

  it("HEAD of the live stream is answered as GET is (E14)", async () => {
    const { world, tenant } = await withTenant();
    const id = await tenant.upsert({ external_id: "ada" });

    const { status, headers } = await ask(world, "HEAD", `/v1/in-app/stream?subscriber_id=${id}`, tenant.sdk);

    expect(status).toBe(200);
    expect(headers["content-type"]).toBe("text/event-stream");
  });

  it("an id that could be none of ours is 404, however it is spelt (D-HTTPCODES)", async () => {
    const { tenant } = await withTenant();
    for (const id of ["%2F", "a%2Fb", "%00", "..%2f..", "a%20b", "x".repeat(300), "%F0%9F%98%80", "undefined", "*"])
      for (const thing of ["templates", "subscribers", "notifications", "channels"]) {
        const { status, body } = await tenant.call(`GET /api/v1/${thing}/${id}`);
        expect(status, `${thing} ${id}`).toBe(404);
        expect(body.code, `${thing} ${id}`).toBe("NOT_FOUND");
      }
  });

  it.each([
    [200, "POST /api/v1/subscribers/bulk-delete", { subscriber_ids: [UNKNOWN] }],
    [404, "DELETE /api/v1/subscribers/bulk-delete", undefined],
    [404, "DELETE /api/v1/subscribers/upsert", undefined],
    [200, "POST /v1/in-app/messages/read", { subscriber_id: UNKNOWN }],
    [404, "POST /v1/in-app/messages/read/read", { subscriber_id: UNKNOWN }],
  ])("%i is the answer to %s, because a literal segment is no id", async (status, route, body) => {
    const { tenant } = await withTenant();

    expect((await tenant.call(route, body)).status).toBe(status);
  });
});

describe("bodies", () => {
  const open = shared((own) => own.withTenant());
  const upsert = async (raw: string, headers: Record<string, string>) => {
    const { world, tenant } = await open();
    return world.call(UPSERT, { as: tenant.sdk, raw: Buffer.from(raw), headers });
  };

  it.each([
    ["cut off", '{"external_id": "a"'],
    ["no JSON", "external_id=a"],
    ["a trailing comma", '{"external_id": "a",}'],
    ["two values", "{}{}"],
    ["NaN", '{"external_id": NaN}'],
    ["blanks", "   "],
  ])("a body that is %s is 400 BAD_REQUEST (D-HTTPCODES, ERR-1)", async (_, raw) => {
    const { status, body } = await upsert(raw, json);

    expect(status).toBe(400);
    expect(body).toEqual({ code: "BAD_REQUEST", message: expect.any(String) });
  });

  it.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/xml",
    "",
  ])("JSON sent as %j is 400 BAD_REQUEST (D-HTTPCODES, GEN-11)", async (type) => {
    const { status, body } = await upsert('{"external_id": "a"}', type ? { "content-type": type } : {});

    expect(status).toBe(400);
    expect(body.code).toBe("BAD_REQUEST");
  });

  it.each([
    "application/json; charset=utf-8",
    "application/json;charset=UTF-8",
    "Application/JSON",
    "application/vnd.x+json",
  ])("JSON sent as %s is read (GEN-11)", async (type) => {
    const { status, body } = await upsert('{"external_id": "größe 😀"}', { "content-type": type });

    expect(status).toBe(200);
    expect(body.external_id).toBe("größe 😀");
  });

  it.each([
    ["null", "null"],
    ["a text", '"text"'],
    ["a number", "7"],
    ["a list", '[{"external_id": "a"}]'],
    ["nothing", ""],
  ])("a body of %s where an object belongs is 422 with fields (ERR-0, ERR-13)", async (_, raw) => {
    const { status, body } = await upsert(raw, json);

    expect(status).toBe(422);
    expect(body.code).toBe("VALIDATION_ERROR");
    expect(Object.keys(body.fields)).toHaveLength(1);
  });

  const JOURNEY = {
    name: "J",
    trigger: { type: "event", event_name: "go" },
    steps: { start: "end", steps: { end: { id: "end", type: "exit" } } },
  };
  const EXPERIENCE = { name: "E", format: "modal", content: { title: "T" } };
  const SEND = { target: { type: "all" }, title: "T", body: "B" };
  it.each([
    ["POST /api/v1/journeys", "entry_rules", 422, { ...JOURNEY, entry_rules: [] }],
    ["POST /api/v1/in-app/experiences", "display", 400, { ...EXPERIENCE, display: [] }],
    ["POST /api/v1/notifications/preview", "safety", 422, { ...SEND, safety: [] }],
  ])("%s refuses an empty list for the object %s (ERR-13, INX-22, JNY-9)", async (route, field, refusal, sent) => {
    const { tenant } = await open();
    const { status, body } = await tenant.call(route, sent);

    expect(status).toBe(refusal);
    expect(body.fields).toEqual({ [field]: "must be an object" });
  });

  const untouched = shared((own) => own.withTenant());
  it.each([
    ["100,000 levels of lists", "[".repeat(100_000) + "]".repeat(100_000)],
    ["40,000 levels of objects", `${'{"a":'.repeat(40_000)}1${"}".repeat(40_000)}`],
    ["21 levels", `{"external_id":"a","attributes":${'{"a":'.repeat(20)}1${"}".repeat(20)}}`],
    ["20,000 keys", `{${Array.from({ length: 20_000 }, (_, n) => `"k${n}":1`).join(",")}}`],
    ["a key __proto__", '{"external_id":"a","attributes":{"__proto__":{"polluted":1}}}'],
    ["a key constructor", '{"external_id":"a","attributes":{"x":{"constructor":1}}}'],
    ["a number out of range", '{"external_id":"a","attributes":{"x":1e999}}'],
  ])("a body of %s is refused with 4xx, and nothing happens (ERR-13)", async (_, raw) => {
    const { world, tenant } = await untouched();
    const { status } = await world.call(UPSERT, { as: tenant.sdk, raw: Buffer.from(raw), headers: json });

    expect([400, 422]).toContain(status);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    expect((await world.call("GET /v1/subscribers", { as: tenant.server })).body.items).toEqual([]);
    expect(world.logs.filter(({ level }) => level === "error")).toEqual([]);
  });

  it("a refusal names each faulty and unknown field, and its message the first (ERR-0)", async () => {
    const { status, body } = await upsert('{"external_ID": "a", "email": 5, "locale": "?"}', json);

    expect(status).toBe(422);
    expect(Object.keys(body.fields).sort()).toEqual(["email", "external_ID", "external_id", "locale"]);
    expect(Object.keys(body).sort()).toEqual(["code", "fields", "message"]);
    expect(Object.keys(body.fields).some((name) => body.message.startsWith(`${name}: `))).toBe(true);
  });

  it("the refusal of hundreds of faults stays small (ERR-0)", async () => {
    const faults = Object.fromEntries(Array.from({ length: 900 }, (_, n) => [`unknown${n}`, 1]));
    const { status, body } = await upsert(JSON.stringify({ external_id: "a", ...faults }), json);

    expect(status).toBe(422);
    expect(JSON.stringify(body).length).toBeLessThan(5_000);
  });

  it("times come in RFC 3339 only, with any offset (GEN-2)", async () => {
    const { tenant } = await withTenant();
    const since = (text: string) => tenant.call(`GET /api/v1/subscribers?updated_since=${encodeURIComponent(text)}`);
    for (const good of ["2026-01-01T00:00:00Z", "2026-01-01t00:00:00z", "2026-01-01T00:00:00.123456789+14:00"])
      expect((await since(good)).status).toBe(200);
    for (const bad of [
      "2026-01-01",
      "2026-01-01T00:00:00",
      "1767225600",
      "2026-02-30T00:00:00Z",
      "2026-01-01 00:00:00Z",
      "",
    ])
      expect((await since(bad)).status, bad).toBe(422);
  });
});

it("before there is any workspace, a key and a link of a mail are refused like any that are not genuine (ERR-7)", async () => {
  const world = await testWorld();
  const key = `sk_${Buffer.from(UNKNOWN).toString("base64url")}.${Buffer.alloc(32, 7).toString("base64url")}`;
  const keyed = await world.call("GET /v1/in-app/messages", { as: { "x-sdk-key": key } });
  const linked = await world.call("GET /u/x");

  expect(keyed.status).toBe(401);
  expect(linked.status).toBe(404);
});
