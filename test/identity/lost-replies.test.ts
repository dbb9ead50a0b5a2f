// Sessions and codes whose write is made while its reply is lost, or whose end fails half-way: the repeat ends well.
import { expect, it } from "vitest";
import { awsFailure } from "../../local/aws/index.ts";
import { bearerOf } from "../support/credentials.ts";
import { lostReply, requests } from "../support/requests.ts";
import { secondFactorsIn } from "../support/second-factors.ts";
import { ADA, signInWorld } from "../support/sign-in.ts";
import type { Answer } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

function busy(): never {
  throw awsFailure("ServiceUnavailable", "busy");
}

async function meeting(which: Parameters<typeof requests>[0]) {
  const met = requests({ of: "api-auth", ...which });
  const world = await fresh({ hooks: met.hooks });
  const listed = async (as: Answer): Promise<string[]> => {
    const { items } = (await world.call("GET /api/v1/auth/sessions", { as: bearerOf(as) })).body;
    return items.map(({ id }: { id: string }) => id);
  };
  /** What is asked of a session, once, meets this. */
  const at = (session: string, happens: () => void) =>
    met.each((input) => {
      if (!JSON.stringify(input).includes(`SESSION#${session}`)) return;
      met.pass();
      happens();
    });
  const end = async (session: string, as: Answer) =>
    (await world.call(`DELETE /api/v1/auth/sessions/${session}`, { as: bearerOf(as) })).status;
  return { met, ...secondFactorsIn(() => world), listed, at, end };
}

it("a session is answered as ended where the reply of the table to its end is lost (D-AUTH)", async () => {
  const { register, login, listed, at, end } = await meeting({ moment: "after" });
  const own = await register();
  const [before] = await listed(own);
  await login();
  const other = (await listed(own)).find((id) => id !== before)!;
  at(other, lostReply);

  expect(await end(other, own)).toBe(204);
  expect(await listed(own)).toEqual([before]);
});

it("a session whose end failed half-way is ended by the repeat with those that came from it (AMB-145)", async () => {
  const { register, login, post, listed, at, end } = await meeting({});
  const own = await register();
  const [first] = await listed(own);
  const session = await login();
  const other = (await listed(own)).find((id) => id !== first)!;
  await post("switch", { tenant_id: own.body.tenant.id }, bearerOf(session));
  const derived = (await listed(own)).find((id) => id !== first && id !== other)!;
  at(derived, busy);

  expect(await end(other, own)).toBe(503);
  expect(await end(other, own)).toBe(204);
  expect(await listed(own)).toEqual([first]);
});

it("a logout that failed half-way ends the session when it is repeated (D-AUTH)", async () => {
  const { met, register, post, me } = await meeting({ operation: "BatchWriteItem" });
  const session = await register();
  const logout = async () => (await post("logout", { refresh_token: session.body.refresh_token })).status;
  met.next(busy);

  expect([await logout(), await logout()]).toEqual([503, 204]);
  expect(await me(session)).toBe(401);
});

it("an old token ends its session also where it was used while the table failed (D-AUTH)", async () => {
  const { met, register, refresh, me } = await meeting({ operation: "BatchWriteItem" });
  const session = await register();
  const newest = await refresh(await refresh(session));
  met.next(busy);

  expect([(await refresh(session)).status, (await refresh(session)).status]).toEqual([503, 401]);
  expect(await me(newest)).toBe(401);
});

it.each(["a code", "a recovery code"])(
  "%s signs in also where the reply of the table to its use is lost (ACC-11)",
  async (what) => {
    const naming = what === "a code" ? '"totp_step"' : '"recovery"';
    const { met, register, login, enrol, codeOf } = await meeting({ naming, moment: "after" });
    const { key, recovery } = await enrol(await register());
    met.next(lostReply);

    expect((await login({ code: what === "a code" ? codeOf(key) : recovery[0] })).status).toBe(200);
    expect(met.isAwaited()).toBe(false);
  },
);

it("a sign-in at a provider goes on where the reply of the table to its end is lost (ACC-15)", async () => {
  const using = requests({ of: "api-auth", naming: "SIGNIN#", moment: "after" });
  const { connected, begin, provider, post } = await signInWorld({ hooks: using.hooks });
  const { tenant } = await connected();
  const { url, binding } = await begin({ tenant_id: tenant });
  using.each((input) => {
    if (!JSON.stringify(input).includes("ReturnValuesOnConditionCheckFailure")) return;
    using.pass();
    lostReply();
  });

  expect((await post("sign-in/finish", { ...provider.signIn(url, ADA), binding })).status).toBe(201);
});
