// Login, refresh, logout and switching of workspaces.
import { generateKeyPairSync, sign } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { DAY } from "../../shared/kernel/clock.ts";
import type { TenantId } from "../../shared/kernel/ids.ts";
import { platformWrite } from "../../shared/store/context.ts";
import { hashOf } from "../../shared/store/hash.ts";
import { AttemptCount } from "../../shared/store/workspaces/identity-items.ts";
import { replaceRefreshToken } from "../../shared/store/workspaces/refresh.ts";
import { RefreshFamily } from "../../shared/store/workspaces/session-items.ts";
import { changeWorkspace } from "../../shared/store/workspaces/workspaces.ts";
import { mailedToken } from "../support/accounts.ts";
import { spent } from "../support/spending.ts";
import { type TestWorld, testWorld } from "../support/world.ts";

const PASSWORD = "correct horse battery";

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});

const ada = { email: "ada@lovelace.example", password: PASSWORD, name: "Ada", workspace_name: "Analytical Engines" };
const register = (change: object = {}) => world.call("POST /api/v1/auth/register", { body: { ...ada, ...change } });
const login = (body: object = {}) =>
  world.call("POST /api/v1/auth/login", { body: { email: ada.email, password: PASSWORD, ...body } });
const refresh = (refresh_token: string) => world.call("POST /api/v1/auth/refresh", { body: { refresh_token } });
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const me = async (token: string) => world.call("GET /api/v1/me", { as: bearer(token) });

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

  it("docs/decisions/0021#login is limited per network address, for any user, and so is accepting invitations", async () => {
    const { body } = await register();
    const platform = platformWrite.open(world.depsFor("test"))("" as TenantId);
    const windowMs = 15 * 60_000;
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
    await world.advance(15 * 60_000);
    expect((await accept()).status).toBe(201);
  });

  it("a deleted workspace is closed, a suspended one opens for its bill (AMB-86, ERR-7)", async () => {
    const { body } = await register();
    const platform = platformWrite.open(world.depsFor("test"))("" as TenantId);
    await changeWorkspace(platform, body.tenant.id, { status: "suspended" });
    expect((await login()).status).toBe(200);
    expect((await me(body.access_token)).status).toBe(200);
    expect((await world.call("GET /api/v1/billing", { as: bearer(body.access_token) })).status).toBe(200);
    expect((await world.call("GET /api/v1/templates", { as: bearer(body.access_token) })).body.code).toBe(
      "TENANT_SUSPENDED",
    );
    await changeWorkspace(platform, body.tenant.id, { status: "deleted" });
    expect((await login()).body.code).toBe("TENANT_DELETED");
    expect((await me(body.access_token)).body.code).toBe("TENANT_DELETED");
  });
});

describe("refresh", () => {
  it("rotates: a new pair each time, and the new one works (ATH-R10)", async () => {
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

  it("a family ends 30 days after its last use, and with logout", async () => {
    const first = (await register()).body;
    await world.advance(29 * 86_400_000);
    const second = (await refresh(first.refresh_token)).body;
    await world.advance(30 * 86_400_000);
    expect((await refresh(second.refresh_token)).status).toBe(401);
    const again = (await login()).body;
    const logout = { body: { refresh_token: again.refresh_token } };
    expect((await world.call("POST /api/v1/auth/logout", logout)).status).toBe(204);
    expect((await refresh(again.refresh_token)).status).toBe(401);
  });

  it("a session ends when its time is over, whether or not the table has dropped its row by then", async () => {
    const { refresh_token } = (await register()).body;
    const platform = platformWrite.open(world.depsFor("test"))("" as TenantId);
    const [family] = refresh_token.split(".");
    await platform.change(RefreshFamily, { family }, { set: { expires_at: world.clock.now() } });

    expect((await refresh(refresh_token)).status).toBe(401);
  });

  it.each(["", "x", "a.b", `${"0".repeat(36)}.${"A".repeat(43)}`])(
    "a refresh token %j is refused with 401",
    async (token) => {
      expect((await refresh(token)).status).toBe(401);
    },
  );
});

describe("other tokens", () => {
  it("a read-only token reads and may not write (ATH-3, ERR-9)", async () => {
    const { access_token } = (await register()).body;
    const made = await world.call("POST /api/v1/auth/tokens/read-only", { as: bearer(access_token) });
    expect(made.status).toBe(201);
    const as = bearer(made.body.access_token);
    expect((await world.call("GET /api/v1/templates", { as })).status).toBe(200);
    const write = await world.call("POST /api/v1/templates", {
      as,
      body: { name: "n", content: { title: "t", body: "b" } },
    });
    expect(write.status).toBe(403);
    expect(write.body.code).toBe("READ_ONLY_TOKEN");
  });

  it("a read-only token stays one in whatever it is changed for: by switch, by refresh, by another of its kind (ATH-3)", async () => {
    const { access_token, tenant } = (await register()).body;
    const made = (await world.call("POST /api/v1/auth/tokens/read-only", { as: bearer(access_token) })).body;
    const as = bearer(made.access_token);
    const switched = (await world.call("POST /api/v1/auth/switch", { as, body: { tenant_id: tenant.id } })).body;
    const refreshed = (await refresh(switched.refresh_token)).body;
    const again = (await refresh(refreshed.refresh_token)).body;
    const other = (await world.call("POST /api/v1/auth/tokens/read-only", { as })).body;
    const body = { name: "n", content: { title: "t", body: "b" } };
    for (const { access_token: token } of [switched, refreshed, again, other]) {
      const write = await world.call("POST /api/v1/templates", { as: bearer(token), body });
      expect(write.status).toBe(403);
      expect(write.body.code).toBe("READ_ONLY_TOKEN");
      expect((await me(token)).body.read_only).toBe(true);
    }
    const free = await world.call("POST /api/v1/auth/switch", {
      as: bearer(access_token),
      body: { tenant_id: tenant.id },
    });

    expect((await me(free.body.access_token)).body.read_only).toBe(false);
  });

  const derived = async () => {
    const first = (await register()).body;
    const as = bearer(first.access_token);
    const body = { tenant_id: first.tenant.id };
    const second = (await world.call("POST /api/v1/auth/switch", { as, body })).body;
    const third = (await world.call("POST /api/v1/auth/switch", { as: bearer(second.access_token), body })).body;
    return { first, second, third };
  };

  it("a session that was switched to ends with the one that it came from (AMB-145)", async () => {
    const { first, second, third } = await derived();
    await world.call("POST /api/v1/auth/logout", { body: { refresh_token: first.refresh_token } });
    for (const { access_token, refresh_token } of [second, third]) {
      expect((await me(access_token)).status).toBe(401);
      expect((await refresh(refresh_token)).status).toBe(401);
    }
  });

  it("a session does not end with one that came from it (AMB-145)", async () => {
    const { first, second } = await derived();
    await world.call("POST /api/v1/auth/logout", { body: { refresh_token: second.refresh_token } });

    expect((await me(first.access_token)).status).toBe(200);
    expect((await refresh(first.refresh_token)).status).toBe(200);
  });

  it("a derived session does not outlive its parent by being used (AMB-145)", async () => {
    const { first, second } = await derived();
    await world.advance(20 * DAY);
    const used = (await refresh(second.refresh_token)).body;
    await world.advance(11 * DAY);

    expect((await refresh(first.refresh_token)).status).toBe(401);
    expect((await refresh(used.refresh_token)).status).toBe(401);
  });

  it("a session that was switched to twice does not outlive the first one (AMB-145)", async () => {
    const { first, second, third } = await derived();
    await world.advance(20 * DAY);
    expect((await refresh(second.refresh_token)).status).toBe(200);
    const used = (await refresh(third.refresh_token)).body;
    const as = bearer(used.access_token);
    const fourth = (await world.call("POST /api/v1/auth/switch", { as, body: { tenant_id: first.tenant.id } })).body;
    await world.advance(11 * DAY);
    const statuses = [first.refresh_token, used.refresh_token, fourth.refresh_token].map(refresh);
    expect((await Promise.all(statuses)).map(({ status }) => status)).toEqual([401, 401, 401]);
  });

  /** Something may happen right after sessions were listed. */
  const interrupted = async () => {
    const act: { meanwhile?: (() => Promise<void>) | undefined } = {};
    const after = async (_service: string, operation: string, input: object) => {
      const { meanwhile } = act;
      if (operation !== "Query" || !JSON.stringify(input).includes("SESSIONS#") || !meanwhile) return;
      act.meanwhile = undefined;
      await meanwhile();
    };
    world = await testWorld({ hooks: () => ({ after }) });
    return { act, first: (await register()).body };
  };

  it("a session that is switched to while its origin ends does not begin, or ends with it (AMB-145)", async () => {
    const { act, first } = await interrupted();
    const statuses: number[] = [];
    act.meanwhile = async () => {
      const body = { tenant_id: first.tenant.id };
      const begun = await world.call("POST /api/v1/auth/switch", { as: bearer(first.access_token), body });
      statuses.push(begun.status, (await me(begun.body.access_token)).status);
    };
    await world.call("POST /api/v1/auth/logout", { body: { refresh_token: first.refresh_token } });
    expect(statuses).toEqual([401, 401]);
  });

  it("a session that is switched to while the password changes is no origin of another one, and is not refreshed (AMB-145)", async () => {
    const { act, first } = await interrupted();
    const switched = async (token: string) => {
      const body = { tenant_id: first.tenant.id };
      return (await world.call("POST /api/v1/auth/switch", { as: bearer(token), body })).body;
    };
    const kept = (await login()).body;
    let begun = first;
    act.meanwhile = async () => {
      begun = await switched(first.access_token);
    };
    const body = { current_password: PASSWORD, password: "another horse battery" };
    const as = bearer(kept.access_token);
    expect((await world.call("POST /api/v1/auth/password/change", { as, body })).status).toBe(204);
    expect((await me(first.access_token)).status).toBe(401);
    expect(begun.access_token).not.toBe(first.access_token);
    expect((await switched(begun.access_token)).code).toBe("UNAUTHORIZED");
    expect((await refresh(begun.refresh_token)).status).toBe(401);
  });

  it("publishes the key that verifies a token (D-AUTH)", async () => {
    const { access_token } = (await register()).body;
    const { kid } = JSON.parse(Buffer.from(access_token.split(".")[0], "base64url").toString());
    const { body } = await world.call("GET /.well-known/jwks.json");

    expect(body.keys).toEqual([expect.objectContaining({ kid, alg: "RS256", use: "sig", kty: "RSA" })]);
  });

  it("a function reads the published keys once for all endpoints of a function (D-AUTH)", async () => {
    const { access_token } = (await register()).body;
    const routes = ["GET /api/v1/templates", "GET /api/v1/templates/none"];
    const queries = [];
    for (const route of routes) {
      const { by_operation } = await spent(world, () => world.call(route, { as: bearer(access_token) }));
      queries.push(by_operation.Query?.requests ?? 0);
    }

    // The list itself is the one query of the first, beside that of the keys.
    expect(queries).toEqual([2, 0]);
  });

  it("a read of the published keys that failed is not remembered: the next request reads them (D-AUTH)", async () => {
    const { access_token } = (await register()).body;
    const list = async () => (await world.call("GET /api/v1/templates", { as: bearer(access_token) })).status;
    await world.call("POST /_local/faults", { body: { channel: "aws:dynamodb", operation: "Query", times: 100 } });
    expect(await list()).toBe(503);
    await world.call("DELETE /_local/faults");
    expect(await list()).toBe(200);
  });

  it("another issuer takes the place of ours by configuration: its keys and its name, and no others (D-AUTH)", async () => {
    const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const jwk = { ...publicKey.export({ format: "jwk" }), kid: "theirs", alg: "RS256", use: "sig" };
    const issuer = "https://issuer.example";
    const env = { TOKEN_JWKS: JSON.stringify({ keys: [jwk] }), TOKEN_ISSUER: issuer, TOKEN_AUDIENCE: "clients" };
    const other = await testWorld({ env });
    const tenant = await other.tenant();
    const iat = other.clock.now() / 1_000;
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const issued = (change: object = {}) => {
      const claims = { iss: issuer, aud: "clients", sub: tenant.owner, tid: tenant.id, iat, exp: iat + 900, ...change };
      const text = `${encode({ alg: "RS256", typ: "JWT", kid: "theirs" })}.${encode(claims)}`;
      return bearer(`${text}.${sign("sha256", Buffer.from(text), privateKey).toString("base64url")}`);
    };
    const status = async (as: Record<string, string>) => (await other.call("GET /api/v1/me", { as })).status;
    expect(await status(issued())).toBe(200);
    for (const change of [{ iss: "https://other.example" }, { aud: "others" }, { sub: "nobody" }, { tid: "none" }])
      expect(await status(issued(change))).toBe(401);
    // One of our own making has the right issuer and audience, and a key that does not count here.
    expect(await status(await tenant.dashboard())).toBe(401);
  });
});
