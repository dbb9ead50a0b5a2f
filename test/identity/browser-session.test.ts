// The console's session: a refresh token in a cookie that scripts cannot read.
import { beforeEach, expect, it } from "vitest";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { type Answer, type TestWorld, testWorld } from "../support/world.ts";

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});

const OWN = { "sec-fetch-site": "same-origin" };
const ATTRIBUTES = "Path=/api/v1/auth/browser; Max-Age=2592000; HttpOnly; SameSite=Strict";
const ask = (action: string, body: object, headers: Record<string, string> = OWN) =>
  world.call(`POST /api/v1/auth/browser/${action}`, { body, headers });
const cookieOf = ({ headers }: Answer) => String(headers["set-cookie"]).split(";")[0]!;

async function login() {
  const made = await world.call("POST /_local/workspaces", { body: {} });
  return made.body as { tenant_id: string; refresh_token: string };
}

async function keptSession() {
  const { tenant_id, refresh_token } = await login();
  const kept = await ask("keep", { refresh_token });
  return {
    tenant_id,
    refresh_token,
    kept,
    refresh: () => ask("refresh", { tenant_id }, { ...OWN, cookie: cookieOf(kept) }),
  };
}

it("keep starts a session in a cookie of its workspace (ACC-7)", async () => {
  const { tenant_id, kept } = await keptSession();

  expect(kept.status).toBe(204);
  expect(String(kept.headers["set-cookie"])).toMatch(new RegExp(`^r\\.${tenant_id}=[\\w.-]+; ${ATTRIBUTES}$`));
});

it("keep ends the token that a script saw (ACC-7)", async () => {
  const { refresh_token } = await keptSession();

  expect((await world.call("POST /api/v1/auth/refresh", { body: { refresh_token } })).status).toBe(401);
  expect((await ask("keep", { refresh_token })).status).toBe(401);
});

it("a session in a cookie is refreshed, and no script sees its token (ACC-7)", async () => {
  const { tenant_id, refresh } = await keptSession();
  const refreshed = await refresh();
  const as = { authorization: `Bearer ${refreshed.body.access_token}` };

  expect(refreshed).toMatchObject({ status: 200, body: { token_type: "Bearer", expires_in: 900 } });
  expect(refreshed.body).not.toHaveProperty("refresh_token");
  expect((await world.call("GET /api/v1/me", { as })).body.tenant.id).toBe(tenant_id);
});

it("the cookie of a session is good for one refresh (ACC-7)", async () => {
  const { refresh } = await keptSession();
  await refresh();
  await world.advance(MINUTE);

  expect((await refresh()).status).toBe(401);
});

it("logout ends the session and removes the cookie (ACC-7)", async () => {
  const { tenant_id, refresh_token } = await login();
  const cookie = cookieOf(await ask("keep", { refresh_token }));
  const ended = await ask("logout", { tenant_id }, { ...OWN, cookie });

  expect(ended.status).toBe(204);
  expect(String(ended.headers["set-cookie"])).toContain(`r.${tenant_id}=; Path=/api/v1/auth/browser; Max-Age=0`);
  expect((await ask("refresh", { tenant_id }, { ...OWN, cookie })).status).toBe(401);
});

it("pages of other sites and other workspaces get nothing by the cookie (ACC-7)", async () => {
  const { tenant_id, refresh_token } = await login();
  const cookie = cookieOf(await ask("keep", { refresh_token }));
  for (const site of [{}, { "sec-fetch-site": "same-site" }, { "sec-fetch-site": "cross-site" }])
    for (const action of ["refresh", "logout"])
      expect((await ask(action, { tenant_id }, { ...site, cookie })).status).toBe(403);
  const other = await login();
  const renamed = cookie.replace(tenant_id, other.tenant_id);
  expect((await ask("refresh", { tenant_id: other.tenant_id }, { ...OWN, cookie: renamed })).status).toBe(401);
});

it("what is no id of a workspace does not get into a header (ACC-7)", async () => {
  for (const tenant_id of ["a\r\nX-Injected: yes", "a=; Domain=example.com; b", ""])
    for (const action of ["refresh", "logout"]) {
      const { status, headers } = await ask(action, { tenant_id });
      expect(status).toBe(422);
      expect(headers["set-cookie"]).toBeUndefined();
    }
});

it("the address of the service is that of the moment, also where a function worked before a port was known (ACC-7)", async () => {
  let url = "http://127.0.0.1:0";
  world = await testWorld({ baseUrl: () => url });
  await ask("keep", { refresh_token: (await login()).refresh_token });
  url = "https://api.example.com";
  const kept = await ask("keep", { refresh_token: (await login()).refresh_token });

  expect(String(kept.headers["set-cookie"])).toContain("; Secure");
});

it("the cookie is sent over HTTPS only where the service has HTTPS (ACC-7)", async () => {
  world = await testWorld({ baseUrl: () => "https://api.example.com" });
  const kept = await ask("keep", { refresh_token: (await login()).refresh_token });

  expect(String(kept.headers["set-cookie"])).toContain("; Secure");
});
