// Authentication by every credential (GEN-13, ATH-1 to ATH-3, ATH-R1 to ATH-R4, D-AUTH, D-WHOAMI).
import { describe, expect, it } from "vitest";
import { MINUTE, SECOND } from "../../shared/kernel/clock.ts";
import { START, type TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh, withTenant } = worlds();
const person = {
  email: "ada@example.com",
  password: "correct horse battery staple",
  name: "Ada",
  workspace_name: "Analytical Engines",
};
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split(".")[1]!, "base64url").toString());

async function registered(world: TestWorld) {
  const { status, body } = await world.call("POST /api/v1/auth/register", { body: person });
  expect(status).toBe(201);
  return body;
}

describe("sessions", () => {
  it("register, then login, each opens a session of 15 minutes on an empty workspace (D-AUTH, ATH-R10)", async () => {
    const world = await fresh();
    const first = await registered(world);
    expect(first).toMatchObject({ user: { email: "ada@example.com" }, token_type: "Bearer", expires_in: 900 });
    const login = await world.call("POST /api/v1/auth/login", {
      body: { email: person.email, password: person.password },
    });
    expect([login.status, login.body.tenant.id]).toEqual([200, first.tenant.id]);
    for (const { access_token } of [first, login.body]) {
      const as = bearer(access_token);
      expect((await world.call("GET /api/v1/templates", { as })).body).toEqual({ data: [], total: 0, page: 1 });
      const { channels } = (await world.call("GET /api/v1/channels", { as })).body;
      expect(channels.map(({ type, status }: { type: string; status: string }) => [type, status])).toEqual([
        ["in_app", "active"],
      ]);
    }
  });

  it("a token names its workspace and role, holds to its 15 minutes to the second, then is 401 (ATH-3, D-AUTH)", async () => {
    const world = await fresh();
    const { access_token, tenant, user } = await registered(world);
    expect(claimsOf(access_token)).toMatchObject({
      sub: user.id,
      tid: tenant.id,
      role: "owner",
      ro: false,
      iat: START / SECOND,
      exp: START / SECOND + 900,
    });
    const ask = () => world.call("GET /api/v1/templates", { as: bearer(access_token) });
    await world.advance(15 * MINUTE - 1);
    expect((await ask()).status).toBe(200);
    await world.advance(1);
    expect((await ask()).status).toBe(401);
  });

  it("a wrong password and an unknown user cannot be distinguished (D-AUTH)", async () => {
    const world = await fresh();
    await registered(world);
    const [wrong, unknown] = await Promise.all([
      world.call("POST /api/v1/auth/login", { body: { email: person.email, password: "wrong password 1" } }),
      world.call("POST /api/v1/auth/login", { body: { email: "bob@example.com", password: person.password } }),
    ]);
    expect([wrong.status, wrong.body]).toEqual([401, unknown.body]);
    expect(unknown.status).toBe(401);
  });

  it("each role writes what the table allows, a read-only token nothing (D-TEAM, ATH-3)", async () => {
    const { world, tenant } = await withTenant();
    const body = { name: "t", content: { title: "t", body: "b" } };
    const code = async (as: Record<string, string>) => {
      const answer = await world.call("POST /api/v1/templates", { as, body: { ...body, name: world.ids.uuid() } });
      return answer.body.code ?? answer.status;
    };
    for (const role of ["owner", "admin", "marketer"] as const)
      expect(await code(await tenant.dashboard(role))).toBe(201);
    for (const role of ["developer", "analyst"] as const)
      expect(await code(await tenant.dashboard(role))).toBe("FORBIDDEN");
    expect(await code(await tenant.dashboard("viewer"))).toBe("READ_ONLY_TOKEN");
    expect(await code(await tenant.dashboard("owner", { readOnly: true }))).toBe("READ_ONLY_TOKEN");
  });
});

describe("keys", () => {
  it("the SDK key is sk_, the workspace and a signature; it stays the same and works in its header only (ATH-1, GEN-13)", async () => {
    const { world, tenant } = await withTenant();
    const read = async () => (await tenant.call("GET /api/v1/sdk-key")).body.sdk_key;
    const key = await read();
    expect(key).toMatch(/^sk_[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{43}$/);
    expect(Buffer.from(key.slice(3).split(".")[0], "base64url").toString()).toContain(tenant.id);
    await world.advance(24 * 60 * MINUTE);
    expect(await read()).toBe(key);
    const upsert = (as: Record<string, string>) =>
      world.call("POST /api/v1/subscribers/upsert", { as, body: { external_id: "a" } });
    expect((await upsert({ "x-sdk-key": key })).status).toBe(200);
    expect((await upsert({ "X-SDK-Key": key })).status).toBe(200);
    for (const as of [
      bearer(key),
      { "x-sdk-key": `${key}x` },
      { "x-sdk-key": key.replace("sk_", "pk_") },
      { "x-api-key": key },
    ])
      expect((await upsert(as)).status).toBe(401);
  });

  it("a client key reads no list, sends nothing and manages nothing (ATH-R1)", async () => {
    const { world, tenant } = await withTenant();
    for (const route of [
      "GET /v1/subscribers",
      "GET /api/v1/subscribers",
      "GET /v1/whoami",
      "POST /api/v1/notifications",
      "GET /api/v1/templates",
      "POST /api/v1/subscribers/bulk-delete",
      "POST /api/v1/server-keys",
    ]) {
      const { status, body } = await world.call(route, {
        as: tenant.sdk,
        ...(route.startsWith("POST") && { body: {} }),
      });
      expect([route, status, body.code]).toEqual([route, 401, "UNAUTHORIZED"]);
    }
  });

  it("a server key is service_srv_ and 32 characters, shown once, kept as a hash, revoked at once (ATH-2, GEN-4)", async () => {
    const { world, tenant } = await withTenant();
    const made = (await tenant.call("POST /api/v1/server-keys", { name: "zapier" })).body;
    expect(made.key).toMatch(/^service_srv_[A-Za-z0-9_-]{32}$/);
    expect(made.prefix).toBe(made.key.slice(0, 16));
    const listed = (await tenant.call("GET /api/v1/server-keys")).body;
    expect(JSON.stringify(listed)).not.toContain(made.key);
    expect(listed.items.map(({ name }: { name: string }) => name)).toContain("zapier");
    const table = await world.dynamodb.operate("Scan", { TableName: world.env.TABLE_NAME });
    expect(JSON.stringify(table)).not.toContain(made.key);
    const ask = () => world.call("GET /v1/whoami", { as: bearer(made.key) });
    expect((await ask()).status).toBe(200);
    expect((await tenant.call(`DELETE /api/v1/server-keys/${made.id}`)).status).toBe(204);
    expect((await ask()).status).toBe(401);
  });

  it("answers whose key it is (D-WHOAMI, HOK-9)", async () => {
    const { world } = await withTenant();
    const tenant = await world.tenant({ plan: "pro", name: "Shop" });
    const { status, body } = await world.call("GET /v1/whoami", { as: tenant.server });
    expect([status, body]).toEqual([
      200,
      {
        name: "Shop / default",
        tenant_id: tenant.id,
        tenant_name: "Shop",
        plan: "pro",
        key: {
          id: expect.any(String),
          type: "server",
          name: "default",
          prefix: tenant.serverKey.slice(0, 16),
          scopes: ["events:write"],
          created_at: new Date(START).toISOString(),
        },
      },
    ]);
    for (const as of [{}, tenant.sdk, await tenant.dashboard()])
      expect((await world.call("GET /v1/whoami", { as })).status).toBe(401);
  });
});
