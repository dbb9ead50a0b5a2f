// Addresses, sessions and invitations of a user (ACC).
import { beforeEach, describe, expect, it } from "vitest";
import { accountsIn, EMAIL, mailedToken, NEW, PASSWORD, shownCode } from "../support/accounts.ts";
import { bearerOf } from "../support/credentials.ts";
import { type Answer, type TestWorld, testWorld } from "../support/world.ts";

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
const { post, register, login, me, refresh, reset, forgot, expectEnded } = accountsIn(() => world);

describe("an address", () => {
  const addKey = async (session: Answer) =>
    (await world.call("POST /api/v1/server-keys", { as: bearerOf(session), body: { name: "key" } })).body;

  /** A user of a deployment that demands confirmed addresses, with the token that was mailed. */
  async function unconfirmed() {
    world = await testWorld({ env: { CONFIRM_ADDRESSES: "1" } });
    const account = { email: EMAIL, password: PASSWORD, name: "Ada", workspace_name: "Engines" };
    const session = await post("register", account);
    return { session, token: await mailedToken(world, EMAIL, "Confirm") };
  }

  it.each([
    ["send", "POST /api/v1/notifications", { target: { type: "all" }, title: "t", body: "b" }],
    ["invite", "POST /api/v1/team/invitations", { email: "grace@navy.example", role: "viewer" }],
    ["add a key", "POST /api/v1/server-keys", { name: "key" }],
    ["schedule", "POST /api/v1/schedules", {}],
    ["name an identity provider", "PUT /api/v1/auth/identity-provider", {}],
  ])("who has not confirmed the address does not %s, and does after that (ACC-4)", async (_, route, body) => {
    const { session, token } = await unconfirmed();
    const attempt = async () => (await world.call(route, { as: bearerOf(session), body })).body.code;

    expect(await attempt()).toBe("EMAIL_NOT_CONFIRMED");

    await post("email/confirm", { token });
    expect(await attempt()).not.toBe("EMAIL_NOT_CONFIRMED");
  });

  it("who has not confirmed the address is told so by their account until they do (ACC-4)", async () => {
    const { session, token } = await unconfirmed();
    const isMissing = async () =>
      (await world.call("GET /api/v1/me", { as: bearerOf(session) })).body.confirmation_missing;

    expect(await isMissing()).toBe(true);

    await post("email/confirm", { token });
    expect(await isMissing()).toBe(false);
  });

  it("who has not confirmed the address may write templates (ACC-4)", async () => {
    const { session } = await unconfirmed();
    const body = { name: "welcome", content: { title: "t", body: "b" } };

    expect((await world.call("POST /api/v1/templates", { as: bearerOf(session), body })).status).toBe(201);
  });

  it("an address is confirmed by a mailed token, which works once (ACC-4)", async () => {
    const { token } = await unconfirmed();

    const both = await Promise.all([post("email/confirm", { token }), post("email/confirm", { token })]);

    expect(both.map(({ status }) => status).sort()).toEqual([204, 404]);
    expect((await post("email/confirm", { token: "x".repeat(43) })).status).toBe(404);
  });

  it("the mail that confirms an address is sent again with another token (ACC-4)", async () => {
    const { session, token } = await unconfirmed();
    await world.advance(60_000);

    expect((await post("email/resend", {}, bearerOf(session))).status).toBe(204);

    const second = await mailedToken(world, EMAIL, "Confirm");
    expect(second).not.toBe(token);
    expect((await post("email/confirm", { token: second })).status).toBe(204);
  });

  it("a user asks for five further mails an hour that confirm the address (ACC-4, LIM-4)", async () => {
    const { session } = await unconfirmed();
    for (let n = 0; n < 5; n++) expect((await post("email/resend", {}, bearerOf(session))).status).toBe(204);

    expect((await post("email/resend", {}, bearerOf(session))).status).toBe(429);
  });

  it("a reset of the password confirms the address (ACC-4)", async () => {
    world = await testWorld({ env: { CONFIRM_ADDRESSES: "1" } });

    expect((await addKey(await register())).code).toBe("EMAIL_NOT_CONFIRMED");

    expect(await addKey(await reset(await forgot()))).toHaveProperty("key");
  });

  it("a deployment that does not demand confirmed addresses lets its users go on at once (ACC-4)", async () => {
    expect(await addKey(await register())).toHaveProperty("key");
  });
});

describe("the own sessions", () => {
  const list = async (as: Answer) => (await world.call("GET /api/v1/auth/sessions", { as: bearerOf(as) })).body.items;
  const end = async (as: Answer, id: string) =>
    (await world.call(`DELETE /api/v1/auth/sessions/${id}`, { as: bearerOf(as) })).status;

  /** Two sessions of a user, of which the second is that of a browser. */
  async function two() {
    const first = await register();
    await world.advance(60_000);
    const agent = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0";
    const second = await login(PASSWORD, { "user-agent": agent });
    const [, { id }] = await list(second);
    return { first, second, id };
  }

  it("a user lists the own sessions with their devices and times, and no other's (ACC-5)", async () => {
    const { second } = await two();
    await register("eve@evil.example");
    await world.advance(60_000);
    await refresh(second);

    expect(await list(second)).toEqual([
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
  });

  const chrome = "(KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36";
  it.each([
    ["Edge on Windows", `Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 ${chrome} Edg/140.0.0.0`],
    ["Opera on Linux", `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 ${chrome} OPR/120.0.0.0`],
    ["Chrome on Android", `Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 ${chrome}`],
    ["Safari on iOS", "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Mobile/15E148 Safari/604.1"],
    ["curl/8.5.0", "curl/8.5.0"],
  ])("a user lists the own session of %s by that name (ACC-5)", async (device, agent) => {
    await register();
    const session = await login(PASSWORD, { "user-agent": agent });

    expect((await list(session)).find(({ current }: { current: boolean }) => current)).toMatchObject({ device });
  });

  it("a user ends a session with its tokens, and those derived from it (ACC-5)", async () => {
    const { first, second, id } = await two();
    const switched = await post("switch", { tenant_id: first.body.tenant.id }, bearerOf(first));

    expect(await end(second, id)).toBe(204);

    await expectEnded(first);
    expect(await me(switched)).toBe(401);
    expect(await end(second, id)).toBe(404);
  });

  it("the session of another user is not found (ACC-5)", async () => {
    const { id } = await two();

    expect(await end(await register("eve@evil.example"), id)).toBe(404);
  });

  it("a logout ends the session of its refresh token, access tokens included (ACC-5)", async () => {
    const { second } = await two();

    expect((await post("logout", { refresh_token: second.body.refresh_token })).status).toBe(204);

    expect(await me(second)).toBe(401);
  });
});

describe("an invitation", () => {
  const EMAIL_OF_GRACE = "grace@navy.example";
  const invite = async (session: Answer) =>
    world.call("POST /api/v1/team/invitations", {
      as: bearerOf(session),
      body: { email: EMAIL_OF_GRACE, role: "viewer" },
    });
  const accept = (token: string, password = PASSWORD) => post("invitations/accept", { token, name: "Grace", password });

  const withdraw = async (session: Answer, id: string) =>
    (await world.call(`DELETE /api/v1/team/invitations/${id}`, { as: bearerOf(session) })).status;

  it("the token of an invitation that was withdrawn is no longer valid (ACC-6)", async () => {
    const owner = await register();
    const { body } = await invite(owner);

    expect(await withdraw(owner, body.id)).toBe(204);

    expect(await withdraw(owner, body.id)).toBe(404);
    expect((await accept(await mailedToken(world, EMAIL_OF_GRACE))).status).toBe(404);
  });

  it("an address whose invitation was withdrawn may be invited again (ACC-6)", async () => {
    const owner = await register();
    await withdraw(owner, (await invite(owner)).body.id);

    expect((await invite(owner)).status).toBe(201);

    expect((await accept(await mailedToken(world, EMAIL_OF_GRACE))).status).toBe(201);
  });

  it("an invitation whose token is in the mail alone proves the mailbox, also against somebody who took the address before (ACC-9)", async () => {
    const owner = await register();
    const squatter = await register(EMAIL_OF_GRACE);
    const invited = await invite(owner);

    const done = await accept(await mailedToken(world, EMAIL_OF_GRACE, "You are invited"), NEW);

    expect(invited.body).not.toHaveProperty("token");
    expect(invited.body.mailed).toBe(true);
    expect(done.status).toBe(201);
    expect(await me(done)).toBe(200);
    expect(await me(squatter)).toBe(401);
  });

  it("an invitation whose token is in the mail alone asks no code of somebody who took the address before (ACC-9, ACC-11)", async () => {
    const owner = await register();
    const squatter = await register(EMAIL_OF_GRACE);
    const as = bearerOf(squatter);
    const { key } = (await post("second-factor/begin", { current_password: PASSWORD }, as)).body;
    expect((await post("second-factor/confirm", { code: shownCode(key, world.clock.now()) }, as)).status).toBe(200);
    await invite(owner);

    const done = await accept(await mailedToken(world, EMAIL_OF_GRACE, "You are invited"), NEW);

    expect(done.status).toBe(201);
    const { body } = await world.call("GET /api/v1/auth/second-factor", { as: bearerOf(done) });
    expect(body).toMatchObject({ enabled: false });
  });

  it("an invitation whose mail failed gives its token to who invited, and sets no password of another user (ACC-9)", async () => {
    const owner = await register();
    const grace = await register(EMAIL_OF_GRACE);
    await world.call("POST /_local/faults", { body: { channel: "email", outcome: "transient" } });

    const { mailed, token } = (await invite(owner)).body;

    expect(mailed).toBe(false);
    expect((await accept(token, NEW)).status).toBe(401);
    expect(await me(grace)).toBe(200);
    expect((await accept(token)).status).toBe(201);
  });

  it.each([EMAIL_OF_GRACE.toUpperCase(), "Difference Engines", "short"])(
    "an invitation is not accepted with the password %j, and stays open (AMB-77)",
    async (weak) => {
      await invite(await register());
      const token = await mailedToken(world, EMAIL_OF_GRACE);

      expect((await accept(token, weak)).body.fields).toEqual({ password: expect.any(String) });

      expect((await accept(token)).status).toBe(201);
    },
  );

  it("an invitation where the service cannot mail works, and proves no mailbox (ACC-9)", async () => {
    world = await testWorld({ env: { MAIL_SENDER: "", CONFIRM_ADDRESSES: "1" } });
    const tenant = await world.tenant();
    const body = { email: EMAIL_OF_GRACE, role: "developer" };

    const invited = await tenant.call("POST /api/v1/team/invitations", body);
    const done = await accept(invited.body.token);

    expect(invited.body).toMatchObject({ mailed: false, token: expect.stringMatching(/^[\w-]{43}$/) });
    expect(done.status).toBe(201);
    const key = await world.call("POST /api/v1/server-keys", { as: bearerOf(done), body: { name: "key" } });
    expect(key.body.code).toBe("EMAIL_NOT_CONFIRMED");
  });
});
