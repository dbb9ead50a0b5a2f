// Passwords, addresses, sessions and invitations of a user (ACC).
import { beforeEach, describe, expect, it } from "vitest";
import { secretsMaker, tokenSigner } from "../../shared/http/signing.ts";
import type { TenantId } from "../../shared/kernel/ids.ts";
import { platformWrite, storeWrite } from "../../shared/store/context.ts";
import { hashPassword, register as registerUser } from "../../shared/store/workspaces/identity.ts";
import { beginSession } from "../../shared/store/workspaces/refresh.ts";
import { mailedToken } from "../support/accounts.ts";
import { spent } from "../support/spending.ts";
import { type Answer, type TestWorld, testWorld } from "../support/world.ts";

const PASSWORD = "correct horse battery";
const SECRET = hashPassword(PASSWORD, Buffer.alloc(16));
const NEW = "a staple of another kind";
const EMAIL = "ada@lovelace.example";

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});

const post = (path: string, body: object, as = {}, headers = {}): Promise<Answer> =>
  world.call(`POST /api/v1/auth/${path}`, { body, as, headers });
/** A user with a session, as a registration leaves them, without the cost of hashing the password again. */
async function register(email = EMAIL): Promise<Answer> {
  const deps = world.depsFor("test");
  const platform = platformWrite.open(deps)("" as TenantId);
  await secretsMaker
    .open(deps)("" as TenantId)
    .ensure();
  const account = {
    email,
    secret: await SECRET,
    name: "Ada",
    workspace_name: "Difference Engines",
    isConfirmed: false,
  };
  const { user, tenant } = await registerUser(platform, storeWrite.open(deps), { ...account, plan: "enterprise" });
  const session = await beginSession(platform, { user: user.id, tenant });
  const subject = { user: user.id, tenant, role: "owner", session: session!.id };
  const access_token = await tokenSigner
    .open(deps)("" as TenantId)
    .accessToken(subject);
  const body = { user, tenant: { id: tenant }, access_token, refresh_token: session!.token };
  return { status: 201, headers: {}, body };
}
const login = (password = PASSWORD, headers = {}) => post("login", { email: EMAIL, password }, {}, headers);
const bearer = ({ body }: Answer) => ({ authorization: `Bearer ${body.access_token}` });
const me = async (answer: Answer) => (await world.call("GET /api/v1/me", { as: bearer(answer) })).status;
const refresh = ({ body }: Answer) => post("refresh", { refresh_token: body.refresh_token });
const reset = (token: string, password = NEW) => post("password/reset", { token, password });
const forgot = async (email = EMAIL) => {
  expect((await post("password/forgot", { email })).status).toBe(202);
  return mailedToken(world, email, "Reset your password");
};

describe("a forgotten password", () => {
  it("is reset by the mailed token, once, within the hour; sessions and access tokens end (ACC-1, ACC-2)", async () => {
    const first = await register();
    const token = await forgot();
    for (const weak of ["short", "Difference Engines"]) expect((await reset(token, weak)).status).toBe(422);
    const done = await reset(token);
    expect([done.status, done.body.user.email, await me(done)]).toEqual([200, EMAIL, 200]);
    expect([await me(first), (await refresh(first)).status]).toEqual([401, 401]);
    expect((await login()).status).toBe(401);
    expect((await reset(token, "yet another password")).status).toBe(404);
    const late = await forgot();
    await world.advance(3_600_000);
    expect((await reset(late, "yet another password")).status).toBe(404);
    const { Items } = await world.dynamodb.operate("Scan", { TableName: world.env.TABLE_NAME });
    expect(JSON.stringify(Items)).not.toContain(late);
  });

  it("of two resets at once one wins, and it ends the tokens that were mailed before (ACC-1, ACC-2)", async () => {
    await register();
    const [one, two] = [await forgot(), await forgot()];
    const answers = await Promise.all([reset(one), reset(one, "a third password"), reset(two, "a fourth password")]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404]);
  });

  it("a login with the old password that runs beside the reset leaves no session (ACC-1, ACC-2)", async () => {
    await register();
    const token = await forgot();
    const [done, ...logins] = await Promise.all([reset(token), login(), login()]);
    expect(done!.status).toBe(200);
    const alive = await Promise.all(logins.filter(({ status }) => status === 200).map(me));
    expect(alive).toEqual(alive.map(() => 401));
  });

  it("every address gets the same answer for the same requests; a mail is sent to users alone (ACC-1, LIM-4)", async () => {
    await register();
    await world.settle();
    const counted = async (email: string) => {
      const answers: Answer[] = [];
      const cost = await spent(world, async () => answers.push(await post("password/forgot", { email })));
      return [answers.map(({ status, body }) => [status, body]), cost.by_operation];
    };
    expect(await counted("stranger@lovelace.example")).toEqual(await counted(EMAIL));
    await world.settle();
    const { items } = (await world.call("GET /_local/outbox?channel=email")).body;
    expect(
      items.filter(({ title }: { title: string }) => /^Reset/.test(title)).map(({ to }: { to: string }) => to),
    ).toEqual([EMAIL]);
    const statuses = [];
    for (let n = 0; n < 3; n++)
      statuses.push((await post("password/forgot", { email: "stranger@lovelace.example" })).status);
    expect(statuses).toEqual([202, 202, 429]);
  });

  it("a mail that could not be sent is tried again (ACC-1)", async () => {
    await register();
    await world.settle();
    await world.call("POST /_local/faults", { body: { channel: "email", outcome: "transient", times: 1 } });
    expect(await forgot()).toBe("");
    await world.advance(6 * 60_000 + 1_000);
    expect((await reset(await mailedToken(world, EMAIL, "Reset"))).status).toBe(200);
  });
});

it("a password is changed with the current one; the session of the call goes on, the others and old tokens end (ACC-3)", async () => {
  const first = await register();
  const second = await login();
  const token = await forgot();
  const change = (current_password: string, as = bearer(second), password = NEW) =>
    post("password/change", { current_password, password }, as);
  expect((await change("wrong horse battery")).status).toBe(401);
  expect((await change(PASSWORD, bearer(second), "Difference Engines")).status).toBe(422);
  const readOnly = await post("tokens/read-only", {}, bearer(second));
  expect((await change(PASSWORD, bearer(readOnly))).body.code).toBe("READ_ONLY_TOKEN");
  const both = await Promise.all([change(PASSWORD), change(PASSWORD, bearer(second), "a third password")]);
  expect(both.map(({ status }) => status).sort()).toEqual([204, 409]);
  expect([await me(second), (await refresh(second)).status, await me(first), (await refresh(first)).status]).toEqual([
    200, 200, 401, 401,
  ]);
  expect((await reset(token, "a fourth password")).status).toBe(404);
});

it("a password can be changed in a session while guesses from elsewhere are refused (D-AUTH)", async () => {
  const session = await register();
  for (let n = 0; n < 11; n++) await post("login", { email: EMAIL, password: "wrong horse battery" });
  const change = { current_password: PASSWORD, password: NEW };
  expect((await post("password/change", change, bearer(session))).status).toBe(204);
});

describe("an address", () => {
  it("is confirmed by a mailed token; until then its user does not invite, send or add credentials (ACC-4)", async () => {
    world = await testWorld({ env: { CONFIRM_ADDRESSES: "1" } });
    const account = { email: EMAIL, password: PASSWORD, name: "Ada", workspace_name: "Engines" };
    const as = bearer(await post("register", account));
    const attempts = async () => {
      const codes = [];
      for (const [route, body] of [
        ["POST /api/v1/notifications", { target: { type: "all" }, title: "t", body: "b" }],
        ["POST /api/v1/team/invitations", { email: "grace@navy.example", role: "viewer" }],
        ["POST /api/v1/server-keys", { name: "key" }],
        ["POST /api/v1/schedules", {}],
        ["POST /api/v1/templates", { name: "welcome", content: { title: "t", body: "b" } }],
      ] as const) {
        const { status, body: answer } = await world.call(route, { as, body });
        codes.push(answer.code ?? status);
      }
      return codes;
    };
    const closed = "EMAIL_NOT_CONFIRMED";
    expect(await attempts()).toEqual([closed, closed, closed, closed, 201]);
    const first = await mailedToken(world, EMAIL, "Confirm");
    await world.advance(3_600_000);
    const fresh = await login();
    expect((await post("email/resend", {}, bearer(fresh))).status).toBe(204);
    const second = await mailedToken(world, EMAIL, "Confirm");
    expect(second).not.toBe(first);
    expect((await post("email/confirm", { token: "x".repeat(43) })).status).toBe(404);
    const confirmed = await Promise.all([
      post("email/confirm", { token: second }),
      post("email/confirm", { token: second }),
    ]);
    expect(confirmed.map(({ status }) => status).sort()).toEqual([204, 404]);
    Object.assign(as, bearer(fresh));
    expect(await attempts()).toEqual([201, 201, 201, "VALIDATION_ERROR", "VALIDATION_ERROR"]);
  });

  it("counts as confirmed after a reset; a deployment that does not demand it lets its user go on at once (ACC-4)", async () => {
    world = await testWorld({ env: { CONFIRM_ADDRESSES: "1" } });
    const unproven = { as: bearer(await register()), body: { name: "key" } };
    expect((await world.call("POST /api/v1/server-keys", unproven)).body.code).toBe("EMAIL_NOT_CONFIRMED");
    const done = await reset(await forgot());
    expect((await world.call("POST /api/v1/server-keys", { as: bearer(done), body: { name: "key" } })).status).toBe(
      201,
    );
    world = await testWorld();
    const key = { as: bearer(await register()), body: { name: "key" } };
    expect((await world.call("POST /api/v1/server-keys", key)).status).toBe(201);
  });
});

it("a user lists the own sessions and ends them with their access tokens; others' are not there (ACC-5)", async () => {
  const browser = { "user-agent": "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0" };
  const first = await register();
  await world.advance(60_000);
  const second = await login(PASSWORD, browser);
  const other = await register("eve@evil.example");
  await world.advance(60_000);
  await refresh(second);
  const list = async () => (await world.call("GET /api/v1/auth/sessions", { as: bearer(second) })).body.items;
  expect(await list()).toEqual([
    {
      id: expect.any(String),
      tenant_id: second.body.tenant.id,
      device: "Firefox on Windows",
      address: "203.0.113.7",
      created_at: "2026-11-20T12:01:00.000Z",
      last_used_at: "2026-11-20T12:02:00.000Z",
      current: true,
    },
    expect.objectContaining({ device: "unknown", created_at: "2026-11-20T12:00:00.000Z", current: false }),
  ]);
  const [, { id }] = await list();
  const end = (as: object) => world.call(`DELETE /api/v1/auth/sessions/${id}`, { as: { ...as } });
  expect((await end(bearer(other))).status).toBe(404);
  const switched = await post("switch", { tenant_id: first.body.tenant.id }, bearer(first));
  expect((await end(bearer(second))).status).toBe(204);
  expect([await me(first), (await refresh(first)).status, await me(switched)]).toEqual([401, 401, 401]);
  expect((await end(bearer(second))).status).toBe(404);
  expect((await post("logout", { refresh_token: second.body.refresh_token })).status).toBe(204);
  expect(await me(second)).toBe(401);
});

describe("an invitation", () => {
  const EMAIL_OF_GRACE = "grace@navy.example";
  const invite = async (session: Answer) =>
    world.call("POST /api/v1/team/invitations", {
      as: bearer(session),
      body: { email: EMAIL_OF_GRACE, role: "viewer" },
    });
  const accept = (token: string, password = PASSWORD) => post("invitations/accept", { token, name: "Grace", password });

  it("is withdrawn: its token is no longer valid, and the address may be invited again (ACC-6)", async () => {
    const owner = await register();
    const { body } = await invite(owner);
    const token = await mailedToken(world, EMAIL_OF_GRACE);
    const withdraw = (session: Answer) =>
      world.call(`DELETE /api/v1/team/invitations/${body.id}`, { as: bearer(session) });
    expect((await withdraw(await register("eve@evil.example"))).status).toBe(404);
    expect([(await withdraw(owner)).status, (await withdraw(owner)).status]).toEqual([204, 404]);
    expect((await accept(token)).status).toBe(404);
    expect((await invite(owner)).status).toBe(201);
    expect((await accept(await mailedToken(world, EMAIL_OF_GRACE))).status).toBe(201);
  });

  it("whose token is in the mail alone proves the mailbox, also against somebody who took the address before (ACC-9)", async () => {
    const owner = await register();
    const squatter = await register(EMAIL_OF_GRACE);
    const invited = await invite(owner);
    expect(Object.keys(invited.body)).not.toContain("token");
    expect(invited.body.mailed).toBe(true);
    const done = await accept(await mailedToken(world, EMAIL_OF_GRACE, "You are invited"), NEW);
    expect([done.status, await me(done), await me(squatter)]).toEqual([201, 200, 401]);
  });

  it("whose mail failed proves nothing: who invited has its token, and sets no password of another user (ACC-9)", async () => {
    const owner = await register();
    const grace = await register(EMAIL_OF_GRACE);
    await world.call("POST /_local/faults", { body: { channel: "email", outcome: "transient" } });
    const { mailed, token } = (await invite(owner)).body;
    expect(mailed).toBe(false);
    expect([(await accept(token, NEW)).status, await me(grace)]).toEqual([401, 200]);
    expect((await accept(token)).status).toBe(201);
  });

  it("admits nobody by a password that names the user or the workspace, and stays open (AMB-77)", async () => {
    await invite(await register());
    const token = await mailedToken(world, EMAIL_OF_GRACE);
    for (const weak of [EMAIL_OF_GRACE.toUpperCase(), "Difference Engines", "short"])
      expect((await accept(token, weak)).body.fields).toEqual({ password: expect.any(String) });
    expect((await accept(token)).status).toBe(201);
  });

  it("proves nothing where the service cannot mail, and works as before (ACC-9)", async () => {
    world = await testWorld({ env: { MAIL_SENDER: "", CONFIRM_ADDRESSES: "1" } });
    const tenant = await world.tenant();
    const body = { email: EMAIL_OF_GRACE, role: "developer" };
    const invited = await tenant.call("POST /api/v1/team/invitations", body);
    expect(invited.body).toMatchObject({ mailed: false, token: expect.stringMatching(/^[\w-]{43}$/) });
    const done = await accept(invited.body.token);
    expect(done.status).toBe(201);
    const key = await world.call("POST /api/v1/server-keys", { as: bearer(done), body: { name: "key" } });
    expect(key.body.code).toBe("EMAIL_NOT_CONFIRMED");
  });
});
