// How a second factor is set up and removed (ACC-10, ACC-13).
import { authenticator } from "otplib";
import { beforeEach, describe, expect, it } from "vitest";
import { EMAIL } from "../support/accounts.ts";
import { bearerOf } from "../support/credentials.ts";
import { wholeTable } from "../support/people.ts";
import { STEP_MS, secondFactorsIn } from "../support/second-factors.ts";
import { type TestWorld, testWorld } from "../support/world.ts";

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
const { post, register, me, login, codeOf, begin, confirm, remove, enrol } = secondFactorsIn(() => world);

const stored = async () => JSON.stringify(await wholeTable(world));

describe("a second factor", () => {
  it.each([
    ["second-factor/confirm", "No second factor is being set up. Begin again."],
    ["second-factor/remove", "There is no second factor."],
    ["recovery-codes/renew", "There is no second factor."],
  ])("%s of an account without one is refused with 409 (ACC-10)", async (path, message) => {
    const session = await register();

    expect(await post(path, { code: "123456" }, bearerOf(session))).toMatchObject({ status: 409, body: { message } });
  });

  it("a second factor is not begun with a wrong password (ACC-10)", async () => {
    expect((await begin(await register(), "wrong horse")).status).toBe(401);
  });

  it("a second factor begins with a key that authenticators take with the address and the name of the service (ACC-10)", async () => {
    const { body } = await begin(await register());
    const uris = [body.uri, authenticator.keyuri(EMAIL, "Engagement messaging", body.key)].map((uri) => new URL(uri));
    const [shown, expected] = uris.map(({ pathname, searchParams }) => ({
      pathname,
      secret: searchParams.get("secret"),
      issuer: searchParams.get("issuer"),
    }));

    expect(shown).toEqual(expected);
  });

  it("a second factor is not set up by a wrong code, and the password alone still signs in (ACC-10)", async () => {
    const session = await register();
    await begin(session);

    expect((await confirm(session, "000000")).status).toBe(401);
    expect((await login()).status).toBe(200);
  });

  it("a second factor is set up by a code of its key, and is shown (ACC-10)", async () => {
    const session = await register();
    await enrol(session);

    expect((await world.call("GET /api/v1/auth/second-factor", { as: bearerOf(session) })).body).toEqual({
      enabled: true,
      recovery_codes_left: 10,
      required: false,
    });
    expect((await begin(session)).status).toBe(409);
  });

  it("other sessions end when a second factor is set up (ACC-10)", async () => {
    const session = await register();
    const other = await login();
    await enrol(session);

    expect([await me(session), await me(other)]).toEqual([200, 401]);
  });

  it("a second factor is set up and removed in a session after a hundred switches, with those that it came from (ACC-10, ACC-12)", async () => {
    const first = await register();
    const { id: tenant_id } = first.body.tenant;
    let last = first;
    for (let n = 0; n < 100; n++) last = await post("switch", { tenant_id }, bearerOf(last));
    const topicsOf = async () => (await world.call("GET /api/v1/topics", { as: bearerOf(first) })).body.code;

    const { key } = await enrol(last);
    const body = { second_factor_required: true };
    expect((await world.call("PATCH /api/v1/workspace", { as: bearerOf(last), body })).status).toBe(200);
    expect(await topicsOf()).toBeUndefined();

    expect((await remove(last, codeOf(key))).status).toBe(204);
    expect(await topicsOf()).toBe("SECOND_FACTOR_MISSING");
  });

  it("the key of a second factor is stored sealed (ACC-10)", async () => {
    const { key } = await enrol(await register());

    expect(await stored()).not.toContain(key);
  });

  it("a second factor is in every session that outlives its set-up, also where a sign-in runs beside it (ACC-10)", async () => {
    const session = await register();
    const { body } = await begin(session);
    const [confirmed, ...logins] = await Promise.all([confirm(session, codeOf(body.key)), login(), login()]);
    const alive = await Promise.all(logins.filter(({ status }) => status === 200).map(me));

    if (confirmed.status === 200) expect(alive).toEqual(alive.map(() => 401));
    else expect([confirmed.status, (await login()).status]).toEqual([409, 200]);
  });

  it("a second factor is not removed by a wrong code (ACC-10)", async () => {
    const session = await register();
    await enrol(session);

    expect((await remove(session, "000000")).status).toBe(401);
    expect((await login()).body.code).toBe("SECOND_FACTOR_REQUIRED");
  });

  it("a second factor is removed by a code; the other sessions end, and the password alone signs in again (ACC-10)", async () => {
    const session = await register();
    const { key } = await enrol(session);
    const other = await login({ code: codeOf(key) });
    await world.advance(STEP_MS);

    expect((await remove(session, codeOf(key))).status).toBe(204);
    expect([await me(session), await me(other)]).toEqual([200, 401]);
    expect((await login()).status).toBe(200);
  });

  it("a second factor that is lost with its recovery codes is ended by the operator, with every session (ACC-13)", async () => {
    const session = await register();
    await enrol(session);

    expect(await world.host.invoke("operator", { forget_second_factor: { email: EMAIL } })).toEqual({
      forgotten: { email: EMAIL },
    });
    expect(await me(session)).toBe(401);
    expect((await login()).status).toBe(200);
  });

  it("the operator is told of an address that nobody has (ACC-13)", async () => {
    const forget = { forget_second_factor: { email: "nobody@lovelace.example" } };

    expect(await world.host.invoke("operator", forget)).toEqual({ error: "not_found" });
  });
});

describe("recovery codes", () => {
  it("there are ten, each another, stored as hashes (ACC-13)", async () => {
    const { recovery } = await enrol(await register());
    const [first = ""] = recovery;
    const rows = await stored();

    expect(new Set(recovery).size).toBe(10);
    expect([first, first.replaceAll("-", "")].some((code) => rows.includes(code))).toBe(false);
  });

  it("a recovery code signs in once (ACC-13)", async () => {
    const { recovery } = await enrol(await register());

    expect((await login({ code: recovery[0] })).status).toBe(200);
    expect((await login({ code: recovery[0] })).status).toBe(401);
  });

  it("a recovery code counts without its dashes, and in small letters (ACC-13)", async () => {
    const { recovery } = await enrol(await register());

    expect((await login({ code: recovery[0]!.replaceAll("-", "").toLowerCase() })).status).toBe(200);
  });

  it("recovery codes end when new ones are made (ACC-13)", async () => {
    const session = await register();
    const { key, recovery } = await enrol(session);
    const renewed = await post("recovery-codes/renew", { code: codeOf(key) }, bearerOf(session));

    expect((await login({ code: recovery[0] })).status).toBe(401);
    expect((await login({ code: renewed.body.recovery_codes[0] })).status).toBe(200);
  });
});
