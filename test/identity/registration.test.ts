import { beforeEach, describe, expect, it } from "vitest";
import { timestamp } from "../../shared/kernel/clock.ts";
import { bearer } from "../support/credentials.ts";
import { type TestWorld, testWorld } from "../support/world.ts";

const PASSWORD = "correct horse battery";

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});

const ada = { email: "ada@lovelace.example", password: PASSWORD, name: "Ada", workspace_name: "Analytical Engines" };
const register = (change: object = {}) => world.call("POST /api/v1/auth/register", { body: { ...ada, ...change } });
const me = async (token: string) => world.call("GET /api/v1/me", { as: bearer(token) });

describe("registration", () => {
  it("a registration makes a user, a workspace of the default plan and both tokens (ATH-R10)", async () => {
    const { status, body } = await register();

    expect(status).toBe(201);
    expect(body).toMatchObject({
      user: { email: ada.email, name: "Ada" },
      tenant: { name: "Analytical Engines", plan: "enterprise", role: "owner" },
      token_type: "Bearer",
      expires_in: 900,
    });
    expect((await me(body.access_token)).body).toMatchObject({ user: body.user, role: "owner", read_only: false });
  });

  it("a registration is answered with the user's workspaces by name, and the time of the service (RDA-2)", async () => {
    const { body } = await register();
    await world.advance(1_000);

    expect((await me(body.access_token)).body).toMatchObject({
      workspaces: [{ tenant_id: body.tenant.id, name: "Analytical Engines", role: "owner" }],
      now: timestamp(world.clock.now()),
    });
  });

  it("a registration is refused with 409 for a taken e-mail address, whatever its case (ERR-11, D-AUTH)", async () => {
    await register();

    expect(await register({ email: "ADA@lovelace.example" })).toMatchObject({
      status: 409,
      body: { code: "CONFLICT" },
    });
  });

  it.each([
    ["short", "password"],
    ["123456789012", "password"],
    ["aaaaaaaaaaaaaaa", "password"],
    ["abcdefghijklmno", "password"],
    ["Password1234", "password"],
    ["Analytical Engines", "password"],
  ])("a registration with the weak password %s is refused (AMB-77)", async (password, field) => {
    const { status, body } = await register({ password });

    expect(status).toBe(422);
    expect(body.code).toBe("VALIDATION_ERROR");
    expect(Object.keys(body.fields)).toEqual([field]);
  });

  it("an IP address may register 5 times an hour, refused ones counted (LIM-4, ERR-16)", async () => {
    const statuses = [];
    for (let i = 0; i < 6; i++) statuses.push((await register({ email: `${i}@one${i}.example` })).status);
    expect(statuses).toEqual([201, 201, 201, 201, 201, 429]);
    const refused = await register({ email: "x@other.example" });
    expect(refused.body.code).toBe("RATE_LIMITED");
    expect(refused.headers["retry-after"]).toMatch(/^[0-9]+$/);
    await world.advance(Number(refused.headers["retry-after"]) * 1_000);
    expect((await register({ email: "x@other.example" })).status).toBe(201);
  });

  it("an attempt that ends in 409 counts as any other (LIM-4, AMB-76)", async () => {
    const statuses = [];
    for (let i = 0; i < 6; i++) statuses.push((await register()).status);

    expect(statuses).toEqual([201, 409, 409, 409, 409, 429]);
  });

  it("an email domain may be registered with 10 times a day; a body that fails validation does not count (LIM-4, AMB-76)", async () => {
    const statuses = [];
    for (let i = 0; i < 11; i++) {
      if (i % 4 === 0) await world.advance(3_600_000);
      expect((await register({ email: `a${i}@same.example`, password: "short" })).status).toBe(422);
      statuses.push((await register({ email: `a${i}@same.example` })).status);
    }

    expect(statuses).toEqual([...Array(10).fill(201), 429]);
  });

  it("subdomains of an email domain are counted with it, and domains below a country's own name apart (LIM-4)", async () => {
    const statuses = [];
    for (let i = 0; i < 11; i++) {
      if (i % 4 === 0) await world.advance(3_600_000);
      statuses.push((await register({ email: `a@s${i}.same.example` })).status);
    }
    await world.advance(3_600_000);

    expect(statuses).toEqual([...Array(10).fill(201), 429]);
    expect((await register({ email: "a@one.co.uk" })).status).toBe(201);
    expect((await register({ email: "a@mail.same.example" })).status).toBe(429);
  });

  it.each(["open", "invite"])(
    "an address that the operator invited registers though its domain was used up, with registration %s (LIM-4)",
    async (mode) => {
      world = await testWorld({ env: { REGISTRATION: mode } });
      for (let i = 0; i < 10; i++) {
        if (i % 4 === 0) await world.advance(3_600_000);
        expect((await register({ email: `a${i}@same.example` })).status).toBe(mode === "open" ? 201 : 403);
      }
      const invited = { email: "grace@same.example" };
      if (mode === "open") expect((await register(invited)).status).toBe(429);
      await world.host.invoke("operator", { invite: invited });

      expect((await register(invited)).status).toBe(201);
    },
  );

  it("a header of the client does not change its address (LIM-4)", async () => {
    const statuses = [];
    for (let i = 0; i < 6; i++) {
      const headers = { "x-forwarded-for": `198.51.100.${i}`, "x-viewer-ip": `198.51.100.${i}` };
      const body = { ...ada, email: `${i}@two${i}.example` };
      statuses.push((await world.call("POST /api/v1/auth/register", { body, headers })).status);
    }

    expect(statuses.at(-1)).toBe(429);
  });
});

describe("addresses", () => {
  it("behind the edge the viewer's address counts, where the edge's secret comes with it (LIM-4, E8, E9)", async () => {
    const edge = await testWorld({ env: { ORIGIN_SECRET: "right" } });
    const from = async (n: number, headers: Record<string, string>) => {
      const body = { ...ada, email: `${n}@many${n}.example` };
      return (await edge.call("POST /api/v1/auth/register", { body, headers })).status;
    };
    const via = (address: string, secret = "right") => ({ "x-viewer-ip": address, "x-origin-secret": secret });
    const statuses = [];
    for (let n = 0; n < 6; n++) statuses.push(await from(n, via("198.51.100.1")));
    statuses.push(await from(6, via("198.51.100.2")), await from(7, via("198.51.100.1")));
    expect(statuses).toEqual([201, 201, 201, 201, 201, 429, 201, 429]);
    const pretended = [];
    for (let n = 8; n < 14; n++) pretended.push(await from(n, via(`198.51.100.${n}`, "wrong")));
    expect(pretended).toEqual([201, 201, 201, 201, 201, 429]);
  });

  it("with a web ACL the API accepts only what came through the edge, and shows its keys to everybody (F6, E27)", async () => {
    const guarded = await testWorld({ env: { ORIGIN_SECRET: "right", EDGE_ONLY: "1" } });
    const ask = async (path: string, headers: Record<string, string> = {}) => {
      const request = { method: "GET", path, headers, body: Buffer.alloc(0), sourceIp: "203.0.113.7" };
      return (await guarded.gateway.handle(request)).status;
    };
    const secret = (text: string) => ({ "x-origin-secret": text });

    expect(await ask("/healthz")).toBe(403);
    expect(await ask("/healthz", secret("wrong"))).toBe(403);
    expect(await ask("/healthz", secret("right"))).toBe(200);
    expect(await ask("/.well-known/jwks.json")).toBe(200);
  });
});
