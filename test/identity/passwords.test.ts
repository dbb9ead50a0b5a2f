// Passwords of a user, forgotten and changed (ACC-1 to ACC-3).
import { beforeEach, describe, expect, it } from "vitest";
import { accountsIn, EMAIL, mailedToken, NEW, PASSWORD } from "../support/accounts.ts";
import { bearerOf } from "../support/credentials.ts";
import { operate, wholeTable } from "../support/people.ts";
import { spent } from "../support/spending.ts";
import { type Answer, type TestWorld, testWorld } from "../support/world.ts";

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
const { post, register, login, me, refresh, reset, change, forgot, expectEnded } = accountsIn(() => world);

describe("a forgotten password", () => {
  it("a forgotten password is reset by the mailed token, which begins a session (ACC-1, ACC-2)", async () => {
    await register();

    const done = await reset(await forgot());

    expect(done).toMatchObject({ status: 200, body: { user: { email: EMAIL } } });
    expect(await me(done)).toBe(200);
    expect((await login()).status).toBe(401);
    expect((await login(NEW)).status).toBe(200);
  });

  it("a reset ends the sessions of the user and their access tokens (ACC-2)", async () => {
    const session = await register();

    await reset(await forgot());

    await expectEnded(session);
  });

  it("the token of a reset works once (ACC-1)", async () => {
    await register();
    const token = await forgot();
    await reset(token);

    expect((await reset(token, "yet another password")).status).toBe(404);
  });

  it("the token of a reset works for an hour (ACC-1)", async () => {
    await register();
    const token = await forgot();

    await world.advance(3_600_000);

    expect((await reset(token)).status).toBe(404);
  });

  it("a mail with the token of a reset is not sent an hour late (ACC-1)", async () => {
    await register();
    await post("password/forgot", { email: EMAIL });
    world.clock.jumpTo(world.clock.now() + 3_600_000);

    expect(await mailedToken(world, EMAIL, "Reset")).toBe("");
  });

  it("the token of a reset is in the mail, and not in the table (ACC-1)", async () => {
    await register();

    const token = await forgot();

    expect(JSON.stringify(await wholeTable(world))).not.toContain(token);
  });

  it.each(["short", "Difference Engines"])(
    "a reset to the password %j is refused with 422, and its token still works (ACC-1, AMB-77)",
    async (weak) => {
      await register();
      const token = await forgot();

      expect((await reset(token, weak)).status).toBe(422);

      expect((await reset(token)).status).toBe(200);
    },
  );

  it("of resets at once one wins, and ends the tokens that were mailed before (ACC-1, ACC-2)", async () => {
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
    for (const begun of logins.filter(({ status }) => status === 200)) expect(await me(begun)).toBe(401);
  });

  it("a reset begins its session in the first workspace of the user that is open (ACC-2, D-TENANT)", async () => {
    const owner = await register("grace@navy.example");
    const own = await register();
    const invited = { email: EMAIL, role: "viewer" };
    await world.call("POST /api/v1/team/invitations", { as: bearerOf(owner), body: invited });
    const token = await mailedToken(world, EMAIL, "You are invited");
    const joined = await post("invitations/accept", { token, name: "Ada", password: PASSWORD });
    expect(joined.status).toBe(201);
    const tenantOf = async (answer: Answer) =>
      (await world.call("GET /api/v1/me", { as: bearerOf(answer) })).body.tenant.id;

    // By their ids, which are random.
    const [first, second] = [owner, own].map(({ body }) => body.tenant.id).sort();

    expect(await tenantOf(await reset(await forgot()))).toBe(first);
    await operate(world, { id: first }, { status: "deleted" });
    expect(await tenantOf(await reset(await forgot(), "a third password"))).toBe(second);
  });

  it("a reset that is asked for an address without a user gets the same answer at the same cost (ACC-1)", async () => {
    await register();
    await world.settle();
    const askFor = async (email: string) => {
      const answers: Answer[] = [];
      const cost = await spent(world, async () => answers.push(await post("password/forgot", { email })));
      return { answers: answers.map(({ status, body }) => ({ status, body })), cost: cost.by_operation };
    };

    expect(await askFor("stranger@lovelace.example")).toEqual(await askFor(EMAIL));
  });

  it("a reset is mailed to users alone (ACC-1)", async () => {
    await register();
    await post("password/forgot", { email: "stranger@lovelace.example" });
    await post("password/forgot", { email: EMAIL });
    await world.settle();

    const { items } = (await world.call("GET /_local/outbox?channel=email")).body;

    expect(items.filter(({ title }: { title: string }) => /^Reset/.test(title))).toMatchObject([{ to: EMAIL }]);
  });

  it("the fourth reset of an hour for an address is refused with 429, whether it is a user's or not (ACC-1, LIM-4)", async () => {
    const email = "stranger@lovelace.example";

    for (let n = 0; n < 3; n++) expect((await post("password/forgot", { email })).status).toBe(202);

    expect((await post("password/forgot", { email })).status).toBe(429);
  });

  it("an address gets ten resets a day, three in each of its hours (ACC-1, D11)", async () => {
    const statuses: number[] = [];
    for (let hour = 0; hour < 4; hour++) {
      for (let n = 0; n < 3; n++)
        statuses.push((await post("password/forgot", { email: "stranger@lovelace.example" })).status);
      await world.advance(3_600_000);
    }

    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 202), 429, 429]);
  });

  it("the mail of a reset that could not be sent is tried again (ACC-1)", async () => {
    await register();
    await world.settle();
    await world.call("POST /_local/faults", { body: { channel: "email", outcome: "transient", times: 1 } });
    expect(await forgot()).toBe("");

    await world.advance(6 * 60_000 + 1_000);

    expect((await reset(await mailedToken(world, EMAIL, "Reset"))).status).toBe(200);
  });
});

describe("a change of the password", () => {
  it("a change of the password leaves the session that made it, and ends the others (ACC-3)", async () => {
    const other = await register();
    const session = await login();

    expect((await change(session, PASSWORD)).status).toBe(204);

    expect(await me(session)).toBe(200);
    expect((await refresh(session)).status).toBe(200);
    await expectEnded(other);
  });

  it("a change of the password is in the audit trail of its workspace (ACC-3, RDA-23)", async () => {
    const session = await register();
    await change(session, PASSWORD);
    await world.settle();
    const { body } = await world.call("GET /api/v1/audit", { as: bearerOf(await login(NEW)) });

    expect(body.items).toMatchObject([{ outcome: "ok", status: 204 }]);
  });

  it("a change of the password ends the tokens of resets that were mailed before (ACC-3)", async () => {
    const session = await register();
    const token = await forgot();

    await change(session, PASSWORD);

    expect((await reset(token, "a fourth password")).status).toBe(404);
  });

  it("whoever has an open session guesses its password ten times in 15 minutes, at either place that asks for it (ACC-3, LIM-4)", async () => {
    const session = await register();
    const wrong = { current_password: "wrong horse battery", password: NEW };
    for (let n = 0; n < 10; n++) expect((await post("password/change", wrong, bearerOf(session))).status).toBe(401);

    expect((await change(session, PASSWORD)).status).toBe(429);
    expect((await post("second-factor/begin", { current_password: PASSWORD }, bearerOf(session))).status).toBe(429);

    expect((await login()).status).toBe(200);
    await world.advance(15 * 60_000);
    expect((await change(await login(), PASSWORD)).status).toBe(204);
  });

  it("of two changes of the password at once one is refused with 409 (ACC-3)", async () => {
    const session = await register();

    const both = await Promise.all([change(session, PASSWORD), change(session, PASSWORD, "a third password")]);

    expect(both.map(({ status }) => status).sort()).toEqual([204, 409]);
  });

  it.each([
    ["with a wrong current one", 401, "wrong horse battery", NEW],
    ["to the name of the workspace", 422, PASSWORD, "Difference Engines"],
  ])("a change of the password %s is refused with %i (ACC-3)", async (_, status, current, password) => {
    expect((await change(await register(), current, password)).status).toBe(status);
  });

  it("a token that only reads changes no password (ACC-3)", async () => {
    const readOnly = await post("tokens/read-only", {}, bearerOf(await register()));

    expect((await change(readOnly, PASSWORD)).body.code).toBe("READ_ONLY_TOKEN");
  });

  it("a password is changed in a session while guesses from elsewhere are refused (D-AUTH)", async () => {
    const session = await register();
    for (let n = 0; n < 11; n++) await post("login", { email: EMAIL, password: "wrong horse battery" });

    expect((await change(session, PASSWORD)).status).toBe(204);
  });
});
