// A browser in which somebody signed in before is not kept out by the guesses of others (D11).
import { expect, it } from "vitest";
import { GUESSES, PASSWORDS_OF_ALL } from "../../functions/api/auth/limits.ts";
import { DAY } from "../../shared/kernel/clock.ts";
import type { TenantId } from "../../shared/kernel/ids.ts";
import { platformWrite } from "../../shared/store/context.ts";
import { type AttemptLimit, countAttempt } from "../../shared/store/workspaces/attempts.ts";
import { mailedToken, NEW } from "../support/accounts.ts";
import { testWorld } from "../support/world.ts";

const ADA = { email: "ada@lovelace.example", password: "correct horse battery" };
const OWN_PAGE = { "sec-fetch-site": "same-origin" };

async function setting() {
  const world = await testWorld();
  await world.call("POST /api/v1/auth/register", { body: { ...ADA, name: "Ada", workspace_name: "Engines" } });
  const login = (headers: Record<string, string>, given = {}) =>
    world.call("POST /api/v1/auth/login", { body: { ...ADA, ...given }, headers });
  const cookieOf = ({ headers }: Awaited<ReturnType<typeof login>>) =>
    String(headers["set-cookie"] ?? "").split(";")[0]!;
  const usedUp = (limit: AttemptLimit, who: string, before = 1) =>
    countAttempt(platformWrite.open(world.depsFor("test"))("" as TenantId), limit, who, limit.max - before);
  /** Guesses from everywhere, with the sign-ins before them, use up the limit of the account. */
  const guessed = (before?: number) => usedUp(GUESSES, ADA.email, before);
  return { world, login, cookieOf, guessed, usedUp };
}

it("a sign-in in a known browser succeeds while the account is guessed at from everywhere, elsewhere it waits (D11)", async () => {
  const { login, cookieOf, guessed } = await setting();
  const first = await login(OWN_PAGE);
  const cookie = cookieOf(first);
  expect(String(first.headers["set-cookie"])).toMatch(
    /^b=[\w-]{32}; Path=\/api\/v1\/auth\/login; Max-Age=15552000; HttpOnly; SameSite=Strict/,
  );
  await guessed();
  expect((await login(OWN_PAGE)).status).toBe(429);
  const again = await login({ ...OWN_PAGE, cookie }, { email: "Ada@Lovelace.example" });
  expect(again.status).toBe(200);
  expect(cookieOf(again)).toEqual(cookie);
});

it("each known browser has ten guesses, and is one for its own account alone (D11)", async () => {
  const { world, login, cookieOf, guessed } = await setting();
  const cookie = cookieOf(await login(OWN_PAGE));
  const other = cookieOf(await login(OWN_PAGE));
  await guessed(2);
  const statuses: number[] = [];
  for (let n = 0; n < 11; n++)
    statuses.push((await login({ ...OWN_PAGE, cookie }, { password: "wrong horse battery" })).status);
  expect(statuses.slice(-2)).toEqual([401, 429]);
  expect((await login({ ...OWN_PAGE, cookie: other })).status).toBe(200);
  const grace = { email: "grace@navy.example", password: "compilers for everyone" };
  await world.call("POST /api/v1/auth/register", { body: { ...grace, name: "Grace", workspace_name: "Navy" } });
  const strange = await login({ ...OWN_PAGE, cookie }, grace);
  expect(strange.status).toBe(200);
  expect(cookieOf(strange) === cookie).toBe(false);
});

it("a browser is forgotten 180 days after the last sign-in; other clients get no cookie (D11)", async () => {
  const { world, login, cookieOf, guessed } = await setting();
  const cookie = cookieOf(await login(OWN_PAGE));
  expect((await login({})).headers["set-cookie"]).toBeUndefined();
  await world.advance(181 * DAY);
  await login({});
  await guessed();
  expect((await login({ ...OWN_PAGE, cookie })).status).toBe(429);
});

it("guesses at the passwords of all use up the limit that all share, and not that of known browsers (D10, D11)", async () => {
  const { login, cookieOf, usedUp } = await setting();
  const cookie = cookieOf(await login(OWN_PAGE));
  await usedUp(PASSWORDS_OF_ALL, "all");
  const statuses: number[] = [];
  for (let n = 0; n < 8; n++) statuses.push((await login(OWN_PAGE)).status);
  expect(statuses.at(-1)).toBe(429);
  expect((await login({ ...OWN_PAGE, cookie })).status).toBe(200);
});

it.each(["changed", "reset by mail"])(
  "a password that is %s ends known browsers, but for the one where it was chosen (D11)",
  async (how) => {
    const { world, login, cookieOf, guessed } = await setting();
    const session = await login(OWN_PAGE);
    const others = [cookieOf(session), cookieOf(await login(OWN_PAGE))];
    const choose = async () => {
      const as = { authorization: `Bearer ${session.body.access_token}` };
      const changing = { current_password: ADA.password, password: NEW };
      if (how === "changed")
        return world.call("POST /api/v1/auth/password/change", { as, headers: OWN_PAGE, body: changing });
      await world.call("POST /api/v1/auth/password/forgot", { body: { email: ADA.email } });
      const resetting = { token: await mailedToken(world, ADA.email, "Reset"), password: NEW };
      return world.call("POST /api/v1/auth/password/reset", { headers: OWN_PAGE, body: resetting });
    };
    const own = cookieOf(await choose());
    await guessed(2);

    const signedIn = (cookie: string) => login({ ...OWN_PAGE, cookie }, { password: NEW });
    for (const cookie of others) expect((await signedIn(cookie)).status).toBe(429);
    expect((await signedIn(own)).status).toBe(200);
  },
);
