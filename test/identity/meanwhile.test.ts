// What happens to an account between the steps of a change: its session ends, another key is offered, a team changes.
import { beforeEach, expect, it } from "vitest";
import { accountsIn, EMAIL, NEW, PASSWORD, shownCode, withMailedToken } from "../support/accounts.ts";
import { bearerOf } from "../support/credentials.ts";
import { requests } from "../support/requests.ts";
import { type Answer, type TestWorld, testWorld } from "../support/world.ts";

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});

const { post, register, login, me, change, reset, forgot } = accountsIn(() => world);
const codeOf = (key: string) => shownCode(key, world.clock.now());
const offered = async (session: Answer): Promise<string> =>
  (await post("second-factor/begin", { current_password: PASSWORD }, bearerOf(session))).body.key;
const confirmed = (session: Answer, key: string) =>
  post("second-factor/confirm", { code: codeOf(key) }, bearerOf(session));

it("a code counts for an invitation that others accept theirs beside, in the same team (ACC-11, AMB-78)", async () => {
  await register();
  await reset(await forgot(), PASSWORD);
  const session = await login();
  const key = await offered(session);
  await confirmed(session, key);
  await world.advance(30_000);
  const tenant = await world.tenant();
  const invited = async (email: string): Promise<string> =>
    (await withMailedToken(world, await tenant.call("POST /api/v1/team/invitations", { email, role: "viewer" }))).body
      .token;
  const tokens = [await invited(EMAIL), await invited("grace@navy.example"), await invited("jean@navy.example")];
  const code = codeOf(key);
  const answers = await Promise.all(
    tokens.map((token, n) =>
      post("invitations/accept", { token, name: "Ada", password: PASSWORD, ...(n === 0 && { code }) }),
    ),
  );

  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
});

it("a key that was offered to who had the old password is not put in force after a new one (ACC-10)", async () => {
  const session = await register();
  const key = await offered(session);
  await change(session, PASSWORD);

  expect((await confirmed(session, key)).status).toBe(409);
});

it.each(
  ["password/change", "second-factor/confirm", "second-factor/remove"].flatMap((path) =>
    (["before", "after"] as const).map((moment) => [path, moment] as const),
  ),
)(
  "%s in a session that ends %s the sessions are listed changes nothing, and others go on (ACC-3, ACC-10)",
  async (path, moment) => {
    const listing = requests({ operation: "Query", naming: "SESSIONS#", moment });
    world = await testWorld({ hooks: listing.hooks });
    const first = await register();
    const key = await offered(first);
    const isEnrolled = path === "second-factor/remove";
    if (isEnrolled) await confirmed(first, key);
    await world.advance(30_000);
    const session = await post("login", { email: EMAIL, password: PASSWORD, ...(isEnrolled && { code: codeOf(key) }) });
    await world.advance(30_000);
    const { items } = (await world.call("GET /api/v1/auth/sessions", { as: bearerOf(session) })).body;
    const own = items.find(({ current }: { current: boolean }) => current);
    listing.next(() => world.call(`DELETE /api/v1/auth/sessions/${own.id}`, { as: bearerOf(first) }));
    const body = path === "password/change" ? { current_password: PASSWORD, password: NEW } : { code: codeOf(key) };

    expect([401, 409]).toContain((await post(path, body, bearerOf(session))).status);

    expect(await me(first)).toBe(200);
    const { enabled } = (await world.call("GET /api/v1/auth/second-factor", { as: bearerOf(first) })).body;
    expect(enabled).toBe(isEnrolled);
    expect((await login()).body.code ?? "in").toBe(isEnrolled ? "SECOND_FACTOR_REQUIRED" : "in");
  },
);
