// Where a second factor is asked for (ACC-11).
import { beforeEach, describe, expect, it } from "vitest";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { EMAIL, NEW, PASSWORD } from "../support/accounts.ts";
import { STEP_MS, secondFactorsIn } from "../support/second-factors.ts";
import { type TestWorld, testWorld } from "../support/world.ts";

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
const { post, register, me, login, reset, forgot, codeOf, begin, confirm, enrol, enrolled, invitedBy } =
  secondFactorsIn(() => world);

describe("a login", () => {
  it("a second factor is asked for after the right password, and no session begins without it (ACC-11)", async () => {
    await enrol(await register());
    const asked = await login();

    expect(asked.status).toBe(401);
    expect(Object.keys(asked.body)).toEqual(["code", "message"]);
    expect(asked.body.code).toBe("SECOND_FACTOR_REQUIRED");
  });

  it("a second factor is not asked for after a wrong password (ACC-11)", async () => {
    await enrol(await register());

    expect(await login({ password: "wrong horse battery" })).toMatchObject({
      status: 401,
      body: { code: "UNAUTHORIZED" },
    });
  });

  it("a code that is shown now signs in, once (ACC-11)", async () => {
    const { key } = await enrol(await register());
    const code = codeOf(key);
    const session = await login({ code });

    expect([session.status, await me(session)]).toEqual([200, 200]);
    expect((await login({ code })).status).toBe(401);
  });

  it("a code that was shown three steps ago does not sign in (ACC-11)", async () => {
    const { key } = await enrol(await register());
    const late = codeOf(key);
    await world.advance(3 * STEP_MS);

    expect((await login({ code: late })).status).toBe(401);
    expect((await login({ code: codeOf(key) })).status).toBe(200);
  });

  it("the code that set up a second factor does not sign in (ACC-11)", async () => {
    const session = await register();
    const { key } = (await begin(session)).body;
    await confirm(session, codeOf(key));

    expect((await login({ code: codeOf(key) })).status).toBe(401);
  });

  it.each(["a code", "a recovery code"])("%s lets one of three sign-ins at once in (ACC-11)", async (what) => {
    const { key, recovery } = await enrol(await register());
    const code = what === "a code" ? codeOf(key) : recovery[0];
    const answers = await Promise.all([login({ code }), login({ code }), login({ code })]);

    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
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
});

it("a second factor is asked for when a forgotten password is reset (ACC-11)", async () => {
  const { key } = await enrolled();
  const token = await forgot();

  expect((await reset(token)).body.code).toBe("SECOND_FACTOR_REQUIRED");
  expect((await post("password/reset", { token, password: NEW, code: codeOf(key) })).status).toBe(200);
});

it("a second factor of a stranger who never confirmed the address ends when the mailbox is proven (ACC-11)", async () => {
  await enrol(await register());

  expect((await reset(await forgot())).status).toBe(200);
  expect((await login({ password: NEW })).status).toBe(200);
});

it("a second factor is asked for when an invitation is accepted (ACC-11)", async () => {
  const { key } = await enrolled();
  const token = await invitedBy(await (await world.tenant()).dashboard(), EMAIL, "viewer");
  const given = { token, name: "Ada", password: PASSWORD };

  expect((await post("invitations/accept", given)).body.code).toBe("SECOND_FACTOR_REQUIRED");
  expect((await post("invitations/accept", { ...given, code: codeOf(key) })).status).toBe(201);
});
