// One-time codes beside the password, made by an authenticator library of others.
import { authenticator } from "otplib";
import { beforeEach, describe, expect, it } from "vitest";
import { DAY, MINUTE } from "../../shared/kernel/clock.ts";
import { mailedToken, withMailedToken } from "../support/accounts.ts";
import { wholeTable } from "../support/people.ts";
import { openStream } from "../support/sse.ts";
import { type Answer, type TestWorld, testWorld } from "../support/world.ts";

const PASSWORD = "correct horse battery";
const EMAIL = "ada@lovelace.example";

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});

const post = (path: string, body: object, as = {}): Promise<Answer> =>
  world.call(`POST /api/v1/auth/${path}`, { body, as });
const bearer = ({ body }: Answer) => ({ authorization: `Bearer ${body.access_token}` });
const me = (answer: Answer) => world.call("GET /api/v1/me", { as: bearer(answer) });
const login = (more: object = {}) => post("login", { email: EMAIL, password: PASSWORD, ...more });
const register = () =>
  post("register", { email: EMAIL, password: PASSWORD, name: "Ada", workspace_name: "Difference Engines" });
const codeOf = (key: string) => authenticator.clone({ epoch: world.clock.now() }).generate(key);

/** Sets up the second factor in a session. The next step of time begins, so that a new code is there. */
async function enrol(session: Answer): Promise<{ key: string; recovery: string[] }> {
  const begun = await post("second-factor/begin", { current_password: PASSWORD }, bearer(session));
  expect(begun.status).toBe(201);
  const { key } = begun.body;
  const confirmed = await post("second-factor/confirm", { code: codeOf(key) }, bearer(session));
  expect(confirmed.status).toBe(200);
  await world.advance(30_000);
  return { key, recovery: confirmed.body.recovery_codes };
}

const stored = async () => JSON.stringify(await wholeTable(world));

describe("a second factor", () => {
  it.each([
    ["second-factor/confirm", "No second factor is being set up. Begin again."],
    ["second-factor/remove", "There is no second factor."],
    ["recovery-codes/renew", "There is no second factor."],
  ])("%s of an account without one is refused with 409 (ACC-10)", async (path, message) => {
    const session = await register();

    expect(await post(path, { code: "123456" }, bearer(session))).toMatchObject({ status: 409, body: { message } });
  });

  it("a second factor is set up by the password and a code of its key; other sessions end, and the key is stored sealed (ACC-10)", async () => {
    const session = await register();
    const other = await login();
    expect((await post("second-factor/begin", { current_password: "wrong horse" }, bearer(session))).status).toBe(401);
    const { body } = await post("second-factor/begin", { current_password: PASSWORD }, bearer(session));
    const uris = [body.uri, authenticator.keyuri(EMAIL, "Engagement messaging", body.key)].map((uri) => new URL(uri));
    const [shownUri, expectedUri] = uris.map(({ pathname, searchParams }) => [
      pathname,
      searchParams.get("secret"),
      searchParams.get("issuer"),
    ]);
    expect(shownUri).toEqual(expectedUri);
    expect((await post("second-factor/confirm", { code: "000000" }, bearer(session))).status).toBe(401);
    expect((await login()).status).toBe(200);
    expect((await post("second-factor/confirm", { code: codeOf(body.key) }, bearer(session))).status).toBe(200);
    expect((await me(session)).status).toBe(200);
    expect((await me(other)).status).toBe(401);
    const shown = await world.call("GET /api/v1/auth/second-factor", { as: bearer(session) });
    expect(shown.body).toEqual({ enabled: true, recovery_codes_left: 10, required: false });
    expect(await stored()).not.toContain(body.key);
    expect((await post("second-factor/begin", { current_password: PASSWORD }, bearer(session))).status).toBe(409);
  });

  it("a second factor is in every session that outlives its set-up, also where a sign-in runs beside it (ACC-10)", async () => {
    const session = await register();
    const { body } = await post("second-factor/begin", { current_password: PASSWORD }, bearer(session));
    const confirm = () => post("second-factor/confirm", { code: codeOf(body.key) }, bearer(session));
    const [confirmed, ...logins] = await Promise.all([confirm(), login(), login()]);
    const alive = await Promise.all(logins.filter(({ status }) => status === 200).map(me));
    if (confirmed.status === 200) expect(alive.map(({ status }) => status)).toEqual(alive.map(() => 401));
    else expect([confirmed.status, (await login()).status]).toEqual([409, 200]);
  });

  it("a second factor is asked for after the right password alone; no session begins without it, and a code works once (ACC-11)", async () => {
    const { key } = await enrol(await register());
    const wrong = await login({ password: "wrong horse battery" });
    expect(wrong.status).toBe(401);
    expect(wrong.body.code).toBe("UNAUTHORIZED");
    const asked = await login();
    expect(asked.status).toBe(401);
    expect(Object.keys(asked.body)).toEqual(["code", "message"]);
    expect(asked.body.code).toBe("SECOND_FACTOR_REQUIRED");
    const code = codeOf(key);
    const wanted = await login({ code });
    expect(wanted.status).toBe(200);
    expect((await me(wanted)).status).toBe(200);
    expect((await login({ code })).status).toBe(401);
    await world.advance(90_000);
    expect((await login({ code: codeOf(key) })).status).toBe(200);
    const late = codeOf(key);
    await world.advance(90_000);
    expect((await login({ code: late })).status).toBe(401);
  });

  it("the code that set up a second factor does not sign in (ACC-11)", async () => {
    const session = await register();
    const { key } = (await post("second-factor/begin", { current_password: PASSWORD }, bearer(session))).body;
    await post("second-factor/confirm", { code: codeOf(key) }, bearer(session));

    expect((await login({ code: codeOf(key) })).status).toBe(401);
  });

  it("a second factor lets one of two sign-ins at once use a code (ACC-11)", async () => {
    const { key, recovery } = await enrol(await register());
    for (const code of [codeOf(key), recovery[0]]) {
      const answers = await Promise.all([login({ code }), login({ code }), login({ code })]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
    }
  });

  it("a code counts with the space that authenticators show in it (ACC-11)", async () => {
    const { key } = await enrol(await register());
    const [, ...halves] = /^(...)(...)$/.exec(codeOf(key)) ?? [];

    expect((await login({ code: halves.join(" ") })).status).toBe(200);
  });

  it("a second factor is guessed ten times in a quarter of an hour and thirty times a day; a recovery code still signs in (ACC-11)", async () => {
    const { recovery } = await enrol(await register());
    const statuses = [];
    for (let n = 0; n < 40; n++) {
      if (n % 5 === 0) await world.advance(15 * MINUTE);
      statuses.push((await login({ code: "000000" })).status);
    }

    // One guess was the code that set it up.
    expect(statuses).toEqual([...Array(29).fill(401), ...Array(11).fill(429)]);
    expect((await login({ code: recovery[0] })).status).toBe(200);
  });

  it("a second factor has ten recovery codes that work once, are stored as hashes, and end when new ones are made (ACC-13)", async () => {
    const session = await register();
    const { key, recovery } = await enrol(session);
    expect(new Set(recovery).size).toBe(10);
    const [first = "", second = "", third = ""] = recovery;
    const rows = await stored();
    expect([first, first.replaceAll("-", "")].some((code) => rows.includes(code))).toBe(false);
    expect((await login({ code: first })).status).toBe(200);
    expect((await login({ code: first })).status).toBe(401);
    expect((await login({ code: second.replaceAll("-", "").toLowerCase() })).status).toBe(200);
    const renewed = await post("recovery-codes/renew", { code: codeOf(key) }, bearer(session));
    expect((await login({ code: third })).status).toBe(401);
    expect((await login({ code: renewed.body.recovery_codes[0] })).status).toBe(200);
  });

  it("a second factor is asked for when a forgotten password is reset (ACC-11)", async () => {
    const session = await register();
    await post("email/confirm", { token: await mailedToken(world, EMAIL, "Confirm") });
    const { key } = await enrol(session);
    await post("password/forgot", { email: EMAIL });
    const given = { token: await mailedToken(world, EMAIL, "Reset"), password: "a staple of another kind" };

    expect((await post("password/reset", given)).body.code).toBe("SECOND_FACTOR_REQUIRED");
    expect((await post("password/reset", { ...given, code: codeOf(key) })).status).toBe(200);
  });

  it("a second factor of a stranger who never confirmed the address ends when the mailbox is proven (ACC-11)", async () => {
    await enrol(await register());
    await post("password/forgot", { email: EMAIL });
    const given = { token: await mailedToken(world, EMAIL, "Reset"), password: "a staple of another kind" };

    expect((await post("password/reset", given)).status).toBe(200);
    expect((await login({ password: given.password })).status).toBe(200);
  });

  it("a second factor is asked for when an invitation is accepted (ACC-11)", async () => {
    const session = await register();
    await post("email/confirm", { token: await mailedToken(world, EMAIL, "Confirm") });
    const { key } = await enrol(session);
    const tenant = await world.tenant();
    const body = { email: EMAIL, role: "viewer" };
    const invited = await tenant.call("POST /api/v1/team/invitations", body);
    const { token } = (await withMailedToken(world, invited)).body;
    const given = { token, name: "Ada", password: PASSWORD };

    expect((await post("invitations/accept", given)).body.code).toBe("SECOND_FACTOR_REQUIRED");
    expect((await post("invitations/accept", { ...given, code: codeOf(key) })).status).toBe(201);
  });

  it("a second factor is removed by a code; the other sessions end, and the password alone signs in again (ACC-10)", async () => {
    const session = await register();
    const { key } = await enrol(session);
    const other = await login({ code: codeOf(key) });
    await world.advance(30_000);

    expect((await post("second-factor/remove", { code: "000000" }, bearer(session))).status).toBe(401);
    expect((await post("second-factor/remove", { code: codeOf(key) }, bearer(session))).status).toBe(204);
    expect((await me(session)).status).toBe(200);
    expect((await me(other)).status).toBe(401);
    expect((await login()).status).toBe(200);
  });

  it("a second factor that is lost with its recovery codes is ended by the operator, with every session (ACC-13)", async () => {
    const session = await register();
    await enrol(session);
    const forget = (email: string) => world.host.invoke("operator", { forget_second_factor: { email } });

    expect(await forget("nobody@lovelace.example")).toEqual({ error: "not_found" });
    expect(await forget(EMAIL)).toEqual({ forgotten: { email: EMAIL } });
    expect((await me(session)).status).toBe(401);
    expect((await login()).status).toBe(200);
  });
});

describe("a workspace that demands a second factor", () => {
  const demand = (session: Answer) =>
    world.call("PATCH /api/v1/workspace", { as: bearer(session), body: { second_factor_required: true } });
  const read = async (session: Answer) =>
    (await world.call("GET /api/v1/workspace", { as: bearer(session) })).body.code ?? "open";

  it("a workspace that demands a second factor is set so by a member who has one (ACC-12)", async () => {
    const session = await register();
    expect((await demand(session)).body.fields).toHaveProperty("second_factor_required");
    await enrol(session);
    expect((await demand(session)).body.second_factor_required).toBe(true);
    expect(await read(session)).toBe("open");
  });

  it("a workspace that demands a second factor gives a session without one its own account alone, until it is set up (ACC-12)", async () => {
    const { owner, member } = await owned();
    await demand(owner);
    expect(await read(member)).toBe("SECOND_FACTOR_MISSING");
    expect((await me(member)).body.second_factor_missing).toBe(true);
    const narrowed = await post("tokens/read-only", {}, bearer(member));
    const renewed = await post("refresh", { refresh_token: member.body.refresh_token });
    const again = await post("switch", { tenant_id: member.body.tenant.id }, bearer(member));
    expect(await Promise.all([narrowed, renewed, again].map(read))).toEqual(Array(3).fill("SECOND_FACTOR_MISSING"));
    await enrol(member);
    expect(await read(member)).toBe("open");
    expect((await me(member)).body.second_factor_missing).toBe(false);
    expect(await read(await post("switch", { tenant_id: member.body.tenant.id }, bearer(member)))).toBe("open");
  });

  /** An owner with a second factor, and a member without one. */
  async function owned(): Promise<{ owner: Answer; member: Answer }> {
    const owner = await register();
    await post("email/confirm", { token: await mailedToken(world, EMAIL, "Confirm") });
    await enrol(owner);
    const body = { email: "grace@hopper.example", role: "admin" };
    const invited = await world.call("POST /api/v1/team/invitations", { as: bearer(owner), body });
    const { token } = (await withMailedToken(world, invited)).body;
    return { owner, member: await post("invitations/accept", { token, name: "Grace", password: PASSWORD }) };
  }

  it("a workspace that demands a second factor opens no live stream to a session without one (ACC-12)", async () => {
    const { owner, member } = await owned();
    await demand(owner);
    const refused = await openStream(world, "?subscriber_id=ada", bearer(member));

    expect(refused.status).toBe(403);
    expect(JSON.parse(refused.text).code).toBe("SECOND_FACTOR_MISSING");
  });

  it("a workspace that demands a second factor that is an agency closes its clients to a session without one (ACC-12)", async () => {
    const { owner, member } = await owned();
    const change = { tenant_id: owner.body.tenant.id, kind: "agency", plan: "enterprise" };
    await world.host.invoke("operator", change);
    const made = await world.call("POST /api/v1/agency/workspaces", { as: bearer(owner), body: { name: "Baker" } });
    const enter = (session: Answer) =>
      world.call(`POST /api/v1/agency/workspaces/${made.body.id}/session`, { as: bearer(session) });
    const inside = [await enter(owner), await enter(member)];
    expect(await Promise.all(inside.map(read))).toEqual(["open", "open"]);
    await demand(owner);
    expect(await Promise.all(inside.map(read))).toEqual(["open", "SECOND_FACTOR_MISSING"]);
    expect((await enter(member)).body.code).toBe("SECOND_FACTOR_MISSING");
  });

  it("a workspace that demands a second factor closes to a session whose second factor was removed (ACC-12)", async () => {
    const session = await register();
    const { key } = await enrol(session);
    await demand(session);
    await world.advance(DAY);
    const later = await login({ code: codeOf(key) });
    await world.advance(30_000);

    expect((await post("second-factor/remove", { code: codeOf(key) }, bearer(later))).status).toBe(204);
    expect(await read(later)).toBe("SECOND_FACTOR_MISSING");
  });
});
