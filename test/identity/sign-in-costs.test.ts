// What the public calls of accounts cost where they succeed: random requests never know a password or a mailed token, so
// the fuzzer does not meet these (docs/decisions/0112).
import { expect, it } from "vitest";
import { dearCallOf, recordedCosts } from "../../docs/generate/costs.ts";
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
