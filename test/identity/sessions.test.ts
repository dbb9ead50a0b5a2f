// Sessions of a user: login, refresh, and how they end.
import { beforeEach, describe, expect, it } from "vitest";
import { DAY, MINUTE, SECOND } from "../../shared/kernel/clock.ts";
import type { TenantId } from "../../shared/kernel/ids.ts";
import { platformWrite } from "../../shared/store/context.ts";
import { hashOf } from "../../shared/store/hash.ts";
import { AttemptCount } from "../../shared/store/workspaces/identity-items.ts";
import { beginSession, replaceRefreshToken } from "../../shared/store/workspaces/refresh.ts";
import { changeWorkspace } from "../../shared/store/workspaces/workspaces.ts";
import { EMAIL, mailedToken, PASSWORD } from "../support/accounts.ts";
import { bearer } from "../support/credentials.ts";
import { type TestWorld, testWorld } from "../support/world.ts";

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});

const ada = { email: EMAIL, password: PASSWORD, name: "Ada", workspace_name: "Analytical Engines" };
const register = () => world.call("POST /api/v1/auth/register", { body: ada });
const login = (body: object = {}) =>
  world.call("POST /api/v1/auth/login", { body: { email: ada.email, password: PASSWORD, ...body } });
const refresh = (refresh_token: string) => world.call("POST /api/v1/auth/refresh", { body: { refresh_token } });
const me = async (token: string) => world.call("GET /api/v1/me", { as: bearer(token) });

it("a user has at most 200 sessions: another ends the oldest that was never refreshed, before others (ACC-5)", async () => {
  const { user, tenant, refresh_token } = (await register()).body;
  const platform = platformWrite.open(world.depsFor("test"))("" as TenantId);
  const begun: string[] = [];
  for (let n = 1; n < 200; n++) {
    world.clock.jumpTo(world.clock.now() + SECOND);
    begun.push((await beginSession(platform, { user: user.id, tenant: tenant.id }))!.id);
  }
  const { body } = await refresh(refresh_token);

  const next = await login();

  const { items } = (await world.call("GET /api/v1/auth/sessions", { as: bearer(next.body.access_token) })).body;
  const ids = items.map(({ id }: { id: string }) => id);
  expect([ids.length, begun.filter((id) => !ids.includes(id))]).toEqual([200, [begun[0]]]);
  expect((await me(body.access_token)).status).toBe(200);
});

it("a session that another one begins from is not the one that makes room for it (ACC-5, AMB-145)", async () => {
  const { user, tenant, access_token } = (await register()).body;
  const platform = platformWrite.open(world.depsFor("test"))("" as TenantId);
  for (let n = 1; n < 200; n++) {
    await world.advance(SECOND);
    await beginSession(platform, { user: user.id, tenant: tenant.id });
  }

  const switched = await world.call("POST /api/v1/auth/switch", {
    as: bearer(access_token),
    body: { tenant_id: tenant.id },
  });

  expect([switched.status, (await me(access_token)).status]).toEqual([200, 200]);
});

it("a session that has ended makes room before one that was never refreshed (ACC-5)", async () => {
  const { user, tenant } = (await register()).body;
  const platform = platformWrite.open(world.depsFor("test"))("" as TenantId);
  for (let n = 1; n < 200; n++) {
    const provided = await beginSession(platform, { user: user.id, tenant: tenant.id, isProvided: true });
    world.clock.jumpTo(world.clock.now() + SECOND);
    await replaceRefreshToken(platform, provided!.token);
  }
  await world.advance(8 * DAY);
  const first = await login();

  await login();

  expect((await me(first.body.access_token)).status).toBe(200);
});

describe("login", () => {
  it("a login gives tokens for the right password, and for anything else a 401 that says not what was wrong (D-AUTH)", async () => {
    await register();
    expect((await login()).status).toBe(200);
    const [wrong, unknown] = [{ password: "wrong horse battery" }, { email: "nobody@lovelace.example" }].map(login);
    expect((await wrong!).status).toBe(401);
    expect((await wrong!).body).toEqual((await unknown!).body);
    expect((await login({ tenant_id: "00000000-0000-4000-8000-000000000000" })).status).toBe(401);
  });

  it("logins are limited per e-mail address and network address (D-AUTH)", async () => {
    await register();
    const statuses = [];
    const spellings = [ada.email, ada.email.toUpperCase(), "Ada@Lovelace.Example"];
    for (let i = 0; i < 11; i++)
      statuses.push((await login({ email: spellings[i % 3], password: "wrong horse battery" })).status);

    expect(statuses.slice(-2)).toEqual([401, 429]);
  });

  it("the limit of logins of one machine does not lock the owner out who comes from elsewhere (D-AUTH)", async () => {
    world = await testWorld({ env: { ORIGIN_SECRET: "right" } });
    await register();
    const from = async (address: string, password: string) => {
      const headers = { "x-viewer-ip": address, "x-origin-secret": "right" };
      const body = { email: ada.email, password };
      return (await world.call("POST /api/v1/auth/login", { body, headers })).status;
    };
    for (let i = 0; i < 11; i++) await from("198.51.100.1", "wrong horse battery");

    expect(await from("198.51.100.1", PASSWORD)).toBe(429);
    expect(await from("198.51.100.2", PASSWORD)).toBe(200);
  });

  it("a login is limited per network address, for any user, and so is accepting invitations (docs/decisions/0021#login)", async () => {
    const { body } = await register();
    const platform = platformWrite.open(world.depsFor("test"))("" as TenantId);
    const windowMs = 15 * MINUTE;
    const row = { kind: "login-ip", who: hashOf("203.0.113.7"), window: Math.floor(world.clock.now() / windowMs) };
    await platform.change(AttemptCount, row, { set: { count: 99, expires: (world.clock.now() + windowMs) / 1_000 } });
    const invited = { email: "new@lovelace.example", role: "viewer" };
    await world.call("POST /api/v1/team/invitations", { as: bearer(body.access_token), body: invited });
    const token = await mailedToken(world, invited.email);
    const accept = () =>
      world.call("POST /api/v1/auth/invitations/accept", { body: { token, name: "New", password: PASSWORD } });
    const answers = [await login(), await login(), await accept()];
    expect(answers.map(({ status, body: { code } }) => [status, code])).toEqual([
      [200, undefined],
      [429, "RATE_LIMITED"],
      [429, "RATE_LIMITED"],
    ]);
    await world.advance(15 * MINUTE);
    expect((await accept()).status).toBe(201);
  });

  const registered = async (status: "suspended" | "deleted") => {
    const { body } = await register();
    const platform = platformWrite.open(world.depsFor("test"))("" as TenantId);
    await changeWorkspace(platform, body.tenant.id, { status });
    return { token: body.access_token, as: bearer(body.access_token) };
  };

  it("a suspended workspace opens for its account and its bill alone (AMB-86, ERR-7)", async () => {
    const { token, as } = await registered("suspended");

    expect((await login()).status).toBe(200);
    expect((await me(token)).status).toBe(200);
    expect((await world.call("GET /api/v1/billing", { as })).status).toBe(200);
    expect((await world.call("GET /api/v1/templates", { as })).body.code).toBe("TENANT_SUSPENDED");
  });

  it("a deleted workspace is closed (AMB-86, ERR-7)", async () => {
    const { token } = await registered("deleted");

    expect((await login()).body.code).toBe("TENANT_DELETED");
    expect((await me(token)).body.code).toBe("TENANT_DELETED");
  });
});

describe("refresh", () => {
  it("a refresh token rotates: a new pair each time, and the new one works (ATH-R10)", async () => {
    const first = (await register()).body;
    await world.advance(900_000);
    const second = (await refresh(first.refresh_token)).body;
    expect(second.refresh_token).not.toBe(first.refresh_token);
    expect((await me(second.access_token)).status).toBe(200);
    await world.advance(60_000);
    expect((await refresh(second.refresh_token)).status).toBe(200);
  });

  it("a refresh token is replaced by one of another family: the session goes on, the first token is dead (ACC-7)", async () => {
    const first = (await register()).body;
    const platform = platformWrite.open(world.depsFor("test"))("" as TenantId);
    const replaced = await replaceRefreshToken(platform, first.refresh_token);

    expect((await refresh(first.refresh_token)).status).toBe(401);
    expect((await refresh(replaced!.token)).status).toBe(200);
    expect((await me(first.access_token)).status).toBe(200);
  });

  it("an old token used again ends the whole family (D-AUTH)", async () => {
    const first = (await register()).body;
    const second = (await refresh(first.refresh_token)).body;
    await world.advance(11_000);

    expect((await refresh(first.refresh_token)).status).toBe(401);
    expect((await refresh(second.refresh_token)).status).toBe(401);
  });

  it("two tabs that refresh at once get the same successor and both stay in", async () => {
    const first = (await register()).body;
    const [one, two] = await Promise.all([refresh(first.refresh_token), refresh(first.refresh_token)]);

    expect(one.status).toBe(200);
    expect(two.status).toBe(200);
    expect(one.body.refresh_token).toBe(two.body.refresh_token);
    expect((await refresh(one.body.refresh_token)).status).toBe(200);
  });

  it("a family ends 30 days after its last use, and with logout, and is not listed then (D-AUTH)", async () => {
    const first = (await register()).body;
    await world.advance(29 * DAY);
    const second = (await refresh(first.refresh_token)).body;
    await world.advance(30 * DAY);
    expect((await refresh(second.refresh_token)).status).toBe(401);
    const again = (await login()).body;
    const listed = await world.call("GET /api/v1/auth/sessions", { as: bearer(again.access_token) });
    expect(listed.body.items).toHaveLength(1);
    const logout = { body: { refresh_token: again.refresh_token } };
    expect((await world.call("POST /api/v1/auth/logout", logout)).status).toBe(204);
    expect((await refresh(again.refresh_token)).status).toBe(401);
  });

  it.each(["", "x", "a.b", `${"0".repeat(36)}.${"A".repeat(43)}`])(
    "a refresh token %j is refused with 401",
    async (token) => {
      expect((await refresh(token)).status).toBe(401);
    },
  );
});
