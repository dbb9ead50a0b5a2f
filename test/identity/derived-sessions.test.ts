// Sessions and tokens that come from a session: read-only tokens, and those of a switch of workspaces.
import { beforeEach, expect, it } from "vitest";
import { DAY, MINUTE } from "../../shared/kernel/clock.ts";
import type { TenantId } from "../../shared/kernel/ids.ts";
import { platformWrite } from "../../shared/store/context.ts";
import { beginSession } from "../../shared/store/workspaces/refresh.ts";
import { accountsIn, PASSWORD } from "../support/accounts.ts";
import { bearerOf } from "../support/credentials.ts";
import { requests } from "../support/requests.ts";
import { type Answer, type TestWorld, testWorld } from "../support/world.ts";

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});

const { post, register, login, me, refresh, expectEnded } = accountsIn(() => world);

/** A session in the same workspace that comes from another. */
const switched = (from: Answer, tenant_id: string) => post("switch", { tenant_id }, bearerOf(from));
const logout = (session: Answer) => post("logout", { refresh_token: session.body.refresh_token });
const write = (session: Answer) =>
  world.call("POST /api/v1/templates", {
    as: bearerOf(session),
    body: { name: "n", content: { title: "t", body: "b" } },
  });

it("a read-only token reads and may not write (ATH-3, ERR-9)", async () => {
  const made = await post("tokens/read-only", {}, bearerOf(await register()));

  expect(made.status).toBe(201);
  expect((await world.call("GET /api/v1/templates", { as: bearerOf(made) })).status).toBe(200);
  expect(await write(made)).toMatchObject({ status: 403, body: { code: "READ_ONLY_TOKEN" } });
});

it("a read-only token stays one in whatever it is changed for: by switch, by refresh, by another of its kind (ATH-3)", async () => {
  const session = await register();
  const made = await post("tokens/read-only", {}, bearerOf(session));
  const there = await switched(made, session.body.tenant.id);
  const refreshed = await refresh(there);
  const again = await refresh(refreshed);
  const other = await post("tokens/read-only", {}, bearerOf(made));

  for (const one of [there, refreshed, again, other]) {
    expect(await write(one)).toMatchObject({ status: 403, body: { code: "READ_ONLY_TOKEN" } });
    expect((await world.call("GET /api/v1/me", { as: bearerOf(one) })).body.read_only).toBe(true);
  }
});

it("a switch of a session that is not read-only is not read-only (ATH-3)", async () => {
  const session = await register();

  const there = await switched(session, session.body.tenant.id);

  expect((await world.call("GET /api/v1/me", { as: bearerOf(there) })).body.read_only).toBe(false);
});

/** A session, one that was switched to from it, and one from that. */
async function derived() {
  const first = await register();
  const tenant: string = first.body.tenant.id;
  const second = await switched(first, tenant);
  return { first, second, third: await switched(second, tenant), tenant };
}

it("a session that was switched to ends with the one that it came from (AMB-145)", async () => {
  const { first, second, third } = await derived();

  await logout(first);

  for (const session of [second, third]) await expectEnded(session);
});

it("a read-only token ends with the session that it came from (ATH-3, AMB-145)", async () => {
  const session = await register();
  const made = await post("tokens/read-only", {}, bearerOf(session));
  expect(await me(made)).toBe(200);

  await logout(session);

  expect(await me(made)).toBe(401);
});

it("a session does not end with one that came from it (AMB-145)", async () => {
  const { first, second } = await derived();

  await logout(second);

  expect(await me(first)).toBe(200);
  expect((await refresh(first)).status).toBe(200);
});

it("a derived session does not outlive its parent by being used (AMB-145)", async () => {
  const { first, second } = await derived();
  await world.advance(20 * DAY);
  const used = await refresh(second);
  await world.advance(11 * DAY);

  expect((await refresh(first)).status).toBe(401);
  expect((await refresh(used)).status).toBe(401);
});

it("a session that was switched to twice does not outlive the first one (AMB-145)", async () => {
  const { first, second, third, tenant } = await derived();
  await world.advance(20 * DAY);
  expect((await refresh(second)).status).toBe(200);
  const used = await refresh(third);
  const fourth = await switched(used, tenant);
  await world.advance(11 * DAY);

  for (const session of [first, used, fourth]) expect((await refresh(session)).status).toBe(401);
});

it("the access token of a derived session is good until the session that it came from is over, and no longer (AMB-145)", async () => {
  const { second } = await derived();
  await world.advance(30 * DAY - MINUTE);
  const used = await refresh(second);
  expect(await me(used)).toBe(200);

  await world.advance(2 * MINUTE);

  expect(await me(used)).toBe(401);
});

it("two hundred switches of a browser end no session of another device, and the last of them ends with the first (ACC-5, AMB-145)", async () => {
  const elsewhere = await register();
  const tenant: string = elsewhere.body.tenant.id;
  const first = await login();
  const platform = platformWrite.open(world.depsFor("test"))("" as TenantId);
  const user: string = first.body.user.id;
  const { items } = (await world.call("GET /api/v1/auth/sessions", { as: bearerOf(first) })).body;
  let begun = { id: items.find(({ current }: { current: boolean }) => current).id as string, token: "" };
  for (let n = 0; n < 200; n++)
    begun = (await beginSession(platform, { user, tenant: tenant as TenantId, parent: begun.id }))!;
  const last = await refresh({ body: { refresh_token: begun.token } } as Answer);
  const listed = await world.call("GET /api/v1/auth/sessions", { as: bearerOf(last) });
  expect([await me(elsewhere), await me(first), listed.body.items.length]).toEqual([200, 200, 31]);

  await logout(first);

  await expectEnded(last);
  expect(await me(elsewhere)).toBe(200);
});

it("of a sign-in that was switched thirty times another switch ends one from which none came, before others (ACC-5, AMB-145)", async () => {
  const first = await register();
  const tenant: string = first.body.tenant.id;
  const line = [first];
  const besides: Answer[] = [];
  for (let n = 0; n < 14; n++) {
    await world.advance(1);
    line.push(await switched(line.at(-1)!, tenant));
    besides.push(await switched(first, tenant));
  }
  besides.push(await switched(first, tenant), await switched(first, tenant));

  const states = await Promise.all([...line, ...besides].map((one) => me(one)));

  expect(states.flatMap((state, n) => (state === 200 ? [] : [n]))).toEqual([line.length]);
});

/** The first session of a sign-in, and those that came from it, each from the one before; the last is the newest. */
async function lineOf(length: number) {
  const first = await register();
  const tenant: TenantId = first.body.tenant.id;
  const user: string = first.body.user.id;
  const platform = platformWrite.open(world.depsFor("test"))("" as TenantId);
  const { items } = (await world.call("GET /api/v1/auth/sessions", { as: bearerOf(first) })).body;
  const next = async (parent: string) => (await beginSession(platform, { user, tenant, parent }))!;
  const line = [{ id: items[0].id as string, token: first.body.refresh_token as string }];
  while (line.length < length) {
    await world.advance(1);
    line.push(await next(line.at(-1)!.id));
  }
  return { first, line, next };
}

it("switches at once that leave more than thirty sessions of a sign-in leave no more of them after another switch (ACC-5)", async () => {
  const { first, line, next } = await lineOf(1);
  await Promise.all(Array.from({ length: 40 }, () => next(line[0]!.id)));

  await next(line[0]!.id);

  const { items } = (await world.call("GET /api/v1/auth/sessions", { as: bearerOf(first) })).body;
  expect(items).toHaveLength(30);
});

it("a session is refreshed while another switch takes the one that it came from out of the line (ACC-5, AMB-145)", async () => {
  const reading = requests({ of: "api-auth", operation: "BatchGetItem", naming: "SESSIONS#" });
  world = await testWorld({ hooks: reading.hooks });
  const { line, next } = await lineOf(30);
  reading.next(() => next(line.at(-1)!.id));

  const renewed = await refresh({ body: { refresh_token: line[2]!.token } } as Answer);

  expect([renewed.status, reading.isAwaited()]).toEqual([200, false]);
  const { items } = (await world.call("GET /api/v1/auth/sessions", { as: bearerOf(renewed) })).body;
  expect([items.length, items.some(({ id }: { id: string }) => id === line[1]!.id)]).toEqual([30, false]);
});

/** A session, and the listing of sessions, right after which something may happen. */
async function interrupted() {
  const listing = requests({ operation: "Query", naming: "SESSIONS#", moment: "after" });
  world = await testWorld({ hooks: listing.hooks });
  const first = await register();
  return { listing, first, tenant: first.body.tenant.id as string };
}

it("a session that is switched to while its origin ends does not begin, or ends with it (AMB-145)", async () => {
  const { listing, first, tenant } = await interrupted();
  const statuses: number[] = [];
  listing.next(async () => {
    const begun = await switched(first, tenant);
    statuses.push(begun.status, await me(begun));
  });

  await logout(first);

  expect(statuses).toEqual([401, 401]);
});

it("a session that is switched to while the password changes is no origin of another one, and is not refreshed (AMB-145)", async () => {
  const { listing, first, tenant } = await interrupted();
  const kept = await login();
  let begun = first;
  listing.next(async () => {
    begun = await switched(first, tenant);
  });
  const body = { current_password: PASSWORD, password: "another horse battery" };

  expect((await post("password/change", body, bearerOf(kept))).status).toBe(204);

  expect(await me(first)).toBe(401);
  expect(begun.status).toBe(200);
  expect((await switched(begun, tenant)).status).toBe(401);
  expect((await refresh(begun)).status).toBe(401);
});
