// What a session and the SDK key are: the refusals of every credential are derived by test/contract.test.ts.
import { describe, expect, it } from "vitest";
import { MINUTE, SECOND } from "../../shared/kernel/clock.ts";
import { bearer } from "../support/credentials.ts";
import { START, type TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh, withTenant } = worlds();
const person = {
  email: "ada@example.com",
  password: "correct horse battery staple",
  name: "Ada",
  workspace_name: "Analytical Engines",
};
const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split(".")[1]!, "base64url").toString());

async function registered(world: TestWorld) {
  const { status, body } = await world.call("POST /api/v1/auth/register", { body: person });
  expect(status).toBe(201);
  return body;
}

describe("sessions", () => {
  it("a registration and a login each open a session of 15 minutes on an empty workspace (D-AUTH, ATH-R10)", async () => {
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

  it("the domain of a member's address may be international: it signs in in either form (ATH-R10, AMB-128)", async () => {
    const world = await fresh();
    const body = { ...person, email: "ada@münchen.de" };
    const first = await world.call("POST /api/v1/auth/register", { body });
    expect([first.status, first.body.user.email]).toEqual([201, "ada@xn--mnchen-3ya.de"]);
    for (const email of ["Ada@MÜNCHEN.de", "ada@xn--mnchen-3ya.de"]) {
      const login = await world.call("POST /api/v1/auth/login", { body: { email, password: person.password } });
      expect(login.status).toBe(200);
    }
  });

  it("a token names its user, workspace and role, and its 15 minutes (ATH-3, D-AUTH)", async () => {
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
  });
});

describe("keys", () => {
  const keyed = async () => {
    const { world, tenant } = await withTenant();
    const read = async (): Promise<string> => (await tenant.call("GET /api/v1/sdk-key")).body.sdk_key;
    const upsert = (as: Record<string, string>) =>
      world.call("POST /api/v1/subscribers/upsert", { as, body: { external_id: "a" } });
    return { world, tenant, read, upsert, key: await read() };
  };

  it("the SDK key is sk_, the workspace and a signature (ATH-1)", async () => {
    const { tenant, key } = await keyed();

    expect(key).toMatch(/^sk_[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{43}$/);
    expect(Buffer.from(key.slice(3).split(".")[0]!, "base64url").toString()).toContain(tenant.id);
  });

  it("the SDK key stays the same (ATH-1)", async () => {
    const { world, read, key } = await keyed();
    await world.advance(24 * 60 * MINUTE);

    expect(await read()).toBe(key);
  });

  it.each(["x-sdk-key", "X-SDK-Key"])("the SDK key is taken in the header %s (ATH-1, GEN-13)", async (header) => {
    const { upsert, key } = await keyed();

    expect((await upsert({ [header]: key })).status).toBe(200);
  });

  it.each<[where: string, as: (key: string) => Record<string, string>]>([
    ["as a bearer token", bearer],
    ["in another header", (key) => ({ "x-api-key": key })],
    ["with a character more", (key) => ({ "x-sdk-key": `${key}x` })],
    ["with another prefix", (key) => ({ "x-sdk-key": key.replace("sk_", "pk_") })],
  ])("the SDK key %s is refused with 401 (ATH-1, GEN-13)", async (_, as) => {
    const { upsert, key } = await keyed();

    expect((await upsert(as(key))).status).toBe(401);
  });
});
