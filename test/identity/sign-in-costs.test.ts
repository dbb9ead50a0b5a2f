// What the public calls of accounts cost where they succeed: random requests never know a password or a mailed token, so
// the fuzzer does not meet these (docs/decisions/0112).
import { expect, it } from "vitest";
import { dearCallOf, eachOf, recordedCosts } from "../../docs/generate/costs.ts";
import { HOUR } from "../../shared/kernel/clock.ts";
import type { TenantId } from "../../shared/kernel/ids.ts";
import { platformWrite } from "../../shared/store/context.ts";
import { beginSession } from "../../shared/store/workspaces/refresh.ts";
import { MAX_SESSIONS } from "../../shared/store/workspaces/session-ends.ts";
import { mailedToken } from "../support/accounts.ts";
import { testWorld } from "../support/world.ts";

const ADA = { email: "ada@lovelace.example", password: "correct horse battery" };
const GRACE = { name: "Grace", password: "compilers for everyone" };
/** Of a caller without a secret. */
const MOST = 10;
/** What a session, and with it each sign-in, differs by. */
const SLACK = 1;

it("a sign-in, a reset and an accepted invitation cost no more than docs/access.md says, and their bound (D2)", async () => {
  const world = await testWorld();
  const account = { ...ADA, name: "Ada", workspace_name: "Engines" };
  const { access_token } = (await world.call("POST /api/v1/auth/register", { body: account })).body;
  const as = { authorization: `Bearer ${access_token}` };
  const call = async (route: string, body: object, headers: Record<string, string> = {}) => {
    world.dynamodb.resetMeter();
    const { status, body: answer } = await world.call(route, { body, headers });
    const { wcu, rcu } = world.dynamodb.meter();
    expect(status < 300, `${route}`).toBe(true);
    return { route, units: wcu + rcu, answer };
  };

  const signedIn = await call("POST /api/v1/auth/login", ADA, { "sec-fetch-site": "same-origin" });
  const refreshed = await call("POST /api/v1/auth/refresh", { refresh_token: signedIn.answer.refresh_token });
  await world.call("POST /api/v1/team/invitations", { as, body: { email: "grace@navy.example", role: "viewer" } });
  const invitation = await mailedToken(world, "grace@navy.example");
  const accepted = await call("POST /api/v1/auth/invitations/accept", { ...GRACE, token: invitation });
  await world.call("POST /api/v1/auth/password/forgot", { body: { email: ADA.email } });
  const token = await mailedToken(world, ADA.email, "Reset");
  const reset = await call("POST /api/v1/auth/password/reset", { token, password: "another one for everyone" });

  const known = recordedCosts()!.routes;
  for (const { route, units } of [signedIn, refreshed, accepted, reset]) {
    expect(units <= (dearCallOf(route)?.units ?? MOST), `${route}`).toBe(true);
    expect(units <= known[route]!.public!.units + SLACK, `${route} ${units}`).toBe(true);
  }
});

it("what begins and ends sessions costs no more than docs/access.md says, of a user who has as many as there may be (D2)", async () => {
  const world = await testWorld();
  const account = { ...ADA, name: "Ada", workspace_name: "Engines" };
  const { user, tenant } = (await world.call("POST /api/v1/auth/register", { body: account })).body;
  const platform = platformWrite.open(world.depsFor("test"))("" as TenantId);
  const [device, address] = ["d".repeat(80), "2001:0db8:85a3:1111:2222:8a2e:0370:7334"];
  const crowd = async () => {
    for (let n = 1; n < MAX_SESSIONS; n++)
      await beginSession(platform, { user: user.id, tenant: tenant.id, device, address });
  };
  const units: Record<string, number> = {};
  const refusals: string[] = [];
  const call = async (route: string, body: object | undefined, token?: string) => {
    world.dynamodb.resetMeter();
    const headers = { "sec-fetch-site": "same-origin", ...(token && { authorization: `Bearer ${token}` }) };
    const { status, body: answer } = await world.call(route, { headers, ...(body && { body }) });
    const { wcu, rcu } = world.dynamodb.meter();
    refusals.push(...(status < 300 ? [] : [`${status} ${route}`]));
    units[route] = Math.max(units[route] ?? 0, wcu + rcu);
    return answer;
  };

  await crowd();
  const [first, second] = [await call("POST /api/v1/auth/login", ADA), await call("POST /api/v1/auth/login", ADA)];
  await call("POST /api/v1/auth/logout", { refresh_token: first.refresh_token });
  const { refresh_token } = second;
  const again = await call("POST /api/v1/auth/refresh", { refresh_token });
  await call("POST /api/v1/auth/refresh", { refresh_token: again.refresh_token });
  await world.advance(HOUR);
  await call("POST /api/v1/auth/refresh", { refresh_token });
  await world.call("POST /api/v1/auth/password/forgot", { body: { email: ADA.email } });
  const token = await mailedToken(world, ADA.email, "Reset");
  const reset = await call("POST /api/v1/auth/password/reset", { token, password: GRACE.password });
  await crowd();
  await call("GET /api/v1/auth/sessions", undefined, reset.access_token);
  const switched = await call("POST /api/v1/auth/switch", { tenant_id: tenant.id }, reset.access_token);
  const change = { current_password: GRACE.password, password: "another one for everyone" };
  await call("POST /api/v1/auth/password/change", change, switched.access_token);
  // A token that was used before ends its session.
  expect(refusals).toEqual(["401 POST /api/v1/auth/refresh"]);

  const known = recordedCosts()!.routes;
  for (const [route, found] of Object.entries(units)) {
    const own = (known[route]?.dashboard?.units ?? 0) + MAX_SESSIONS * (eachOf(route)?.units ?? 0);
    expect([route, found <= (dearCallOf(route)?.units ?? own)]).toEqual([route, true]);
  }
});

it("a registration of an address that is taken is refused before it costs a password, and leaves no row of a workspace (D2)", async () => {
  const world = await testWorld();
  const account = { ...ADA, name: "Ada", workspace_name: "Engines" };
  expect((await world.call("POST /api/v1/auth/register", { body: account })).status).toBe(201);
  world.dynamodb.resetMeter();
  expect((await world.call("POST /api/v1/auth/register", { body: account })).status).toBe(409);
  const { wcu, rcu, by_operation } = world.dynamodb.meter();
  expect(wcu + rcu).toBeLessThanOrEqual(MOST);
  // What counts the attempt is an update.
  expect(Object.keys(by_operation).sort()).toEqual(["GetItem", "UpdateItem"]);
});
