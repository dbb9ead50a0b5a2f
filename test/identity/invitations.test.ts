// Invitations to a workspace: mailed, accepted once, limited in time and number.
import { expect, it } from "vitest";
import { DAY, HOUR } from "../../shared/kernel/clock.ts";
import type { TenantId } from "../../shared/kernel/ids.ts";
import { platformWrite } from "../../shared/store/context.ts";
import { hashOf } from "../../shared/store/hash.ts";
import { countAttempt } from "../../shared/store/workspaces/attempts.ts";
import { InvitationItem, UserItem } from "../../shared/store/workspaces/identity-items.ts";
import { inviting, mailedToken, PASSWORD } from "../support/accounts.ts";
import { bearer } from "../support/credentials.ts";
import { quickDeps } from "../support/people.ts";
import type { TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const GRACE = "grace@navy.example";

const own = worlds();
const setting = () => inviting(own);

const mailsOf = async (of: TestWorld) => (await of.call("GET /_local/outbox?channel=email")).body.items;

it("an invitation brings a new member in with its role, once (AMB-78)", async () => {
  const { tenant, owner, invite, accept, members } = await setting();
  const invited = await invite(GRACE, "marketer");
  expect(invited).toMatchObject({ status: 201, body: { email: GRACE, role: "marketer" } });

  const { status, body } = await accept(invited.body.token);

  expect(status).toBe(201);
  expect(body.tenant).toMatchObject({ id: tenant.id, role: "marketer" });
  expect((await members(owner)).map(({ role }) => role).sort()).toEqual(["marketer", "owner"]);
  expect((await accept(invited.body.token)).status).toBe(404);
});

it("an invitation is open for 7 days (AMB-78)", async () => {
  const { world, tenant, invite, accept } = await setting();
  const { id, token } = (await invite(GRACE, "viewer")).body;

  await world.advance(7 * DAY);

  expect((await accept(token)).status).toBe(404);
  expect((await tenant.call(`DELETE /api/v1/team/invitations/${id}`)).status).toBe(404);
});

it("an invitation is not accepted with a weak password (AMB-78)", async () => {
  const { invite, accept } = await setting();
  const { token } = (await invite(GRACE, "viewer")).body;

  const { status, body } = await accept(token, "123456789012");

  expect(status).toBe(422);
  expect(Object.keys(body.fields)).toEqual(["password"]);
});

it("an invitation is mailed with its token and its role, and no mail program makes a link of the workspace's name (AMB-78)", async () => {
  const { world, owner, invite } = await setting();
  await world.call("PATCH /api/v1/workspace", { as: owner, body: { name: "Workspace evil.example" } });

  const { token } = (await invite(GRACE, "marketer")).body;

  const [mail] = await mailsOf(world);
  expect(mail).toMatchObject({ to: GRACE, title: "You are invited to Workspace evil. example" });
  expect(mail.body).not.toContain("evil.example");
  expect(mail.body).toContain(token);
  expect(mail.body).toContain("marketer");
});

it("an invitation whose mail fails is made and answered with its token, and the log names no address (AMB-78)", async () => {
  const { world, invite } = await setting();
  await world.call("POST /_local/faults", { body: { channel: "email", outcome: "transient" } });

  const { status, body } = await invite(GRACE, "viewer");

  expect(status).toBe(201);
  expect(body).toMatchObject({ mailed: false, token: expect.stringMatching(/^[\w-]{43}$/) });
  expect(world.logs).toContainEqual(expect.objectContaining({ level: "warn", message: "a mail was not sent" }));
  expect(JSON.stringify(world.logs)).not.toContain("navy.example");
});

it("an invitation is made without a mail where no mail is sent (AMB-78)", async () => {
  const silent = await own.fresh({ env: { MAIL_SENDER: "" } });
  const as = await (await silent.tenant()).dashboard();
  const body = { email: GRACE, role: "viewer" };

  expect((await silent.call("POST /api/v1/team/invitations", { as, body })).status).toBe(201);

  expect(await mailsOf(silent)).toEqual([]);
});

/** Grace, who has an account with a confirmed address, is invited. */
async function withExistingUser() {
  const opened = await setting();
  const { world, invite } = opened;
  const account = { email: GRACE, name: "Grace", password: PASSWORD, workspace_name: "Navy" };
  expect((await world.call("POST /api/v1/auth/register", { body: account })).status).toBe(201);
  const confirmation = { token: await mailedToken(world, GRACE) };
  expect((await world.call("POST /api/v1/auth/email/confirm", { body: confirmation })).status).toBe(204);
  const { token } = (await invite(GRACE, "viewer")).body;
  const platform = platformWrite.open(world.depsFor("test"))("" as TenantId);
  return { ...opened, token, platform };
}

it("an existing user accepts an invitation by their password; five wrong ones end the invitation (AMB-78)", async () => {
  const { accept, token, platform } = await withExistingUser();
  await platform.change(InvitationItem, { digest: hashOf(token) }, { set: { failures: 4 } });

  expect((await accept(token, "wrong horse battery")).status).toBe(401);
  expect((await accept(token)).status).toBe(404);
});

it("the password of an existing user is guessed no faster by invitations than by logins (D-AUTH)", async () => {
  const { world, accept, token, platform } = await withExistingUser();
  const guesses = { kind: "login-email-ip", max: 10, windowMs: 900_000 };
  for (let n = 0; n < 10; n++) await countAttempt(platform, guesses, `${GRACE} 203.0.113.7`);

  expect((await accept(token)).status).toBe(429);
  await world.advance(900_000);
  expect((await accept(token)).status).toBe(201);
});

it("of invitations five an hour go to one address, from whatever workspace (AMB-78, LIM-4)", async () => {
  const { world, tenant, owner, invite } = await setting();
  const other = await (await world.tenant()).dashboard();
  const statuses: number[] = [];
  for (const as of [owner, other, owner, other, owner, other])
    statuses.push((await invite(GRACE, "viewer", as)).status);
  expect(statuses).toEqual([201, 201, 409, 409, 409, 429]);
  await world.advance(HOUR);
  expect((await invite(GRACE, "viewer", await tenant.dashboard())).status).toBe(409);
});

it("of invitations five an hour go to one mailbox, whatever follows the plus of its addresses (AMB-78, LIM-4)", async () => {
  const { invite } = await setting();
  const statuses: number[] = [];
  for (const [n, name] of ["grace", "grace+1", "Grace+2", "grace+3", "grace+a+b", "grace+4"].entries())
    statuses.push((await invite(`${name}@${n % 2 ? "navy.example" : "Navy.example"}`, "viewer")).status);

  expect(statuses).toEqual([201, 201, 201, 201, 201, 429]);
});

it("a hundred invitations an hour are made by one workspace (AMB-78, LIM-4)", async () => {
  const { world, tenant, invite } = await setting();
  const platform = platformWrite.open(quickDeps(world))("" as TenantId);
  await countAttempt(platform, { kind: "invite-workspace", max: 100, windowMs: HOUR }, tenant.id, 99);
  const statuses = [(await invite("ada@navy.example", "viewer")).status, (await invite(GRACE, "viewer")).status];

  expect(statuses).toEqual([201, 429]);
});

it.each(["Win at https://evil.example", "www.evil.example", "evil.example/win", "two\nlines", "hidden\u202etext"])(
  "a workspace, whose name is in mails, is not called %j (AMB-78, D-AUTH)",
  async (workspace_name) => {
    const { world, owner } = await setting();
    const account = { email: "eve@evil.example", name: "Eve", password: PASSWORD, workspace_name };
    const refused = await world.call("POST /api/v1/auth/register", { body: account });
    expect(refused.status).toBe(422);
    expect(Object.keys(refused.body.fields)).toEqual(["workspace_name"]);
    const renamed = await world.call("PATCH /api/v1/workspace", { as: owner, body: { name: workspace_name } });
    expect(renamed.status).toBe(422);
    expect(Object.keys(renamed.body.fields ?? {})).toEqual(["name"]);
  },
);

it("one invitation stands open for a person, also when two are made at once (AMB-78, ERR-11)", async () => {
  const { tenant, invite } = await setting();
  const invitations = ["Grace@navy.example", GRACE].map((email) => invite(email, "viewer"));

  expect((await Promise.all(invitations)).map(({ status }) => status).sort()).toEqual([201, 409]);
  expect((await tenant.call("GET /api/v1/team/invitations")).body.items).toHaveLength(1);
});

it("a member is invited by no other spelling of the address (AMB-78, ERR-11)", async () => {
  const { invite, accept } = await setting();
  await accept((await invite(GRACE, "viewer")).body.token);

  expect(await invite("Grace@navy.example", "viewer")).toMatchObject({ status: 409, body: { code: "CONFLICT" } });
});

it("an invitation that ran out makes room for another one (AMB-78)", async () => {
  const { world, tenant, invite, accept } = await setting();
  await invite(GRACE, "viewer");
  await world.advance(7 * DAY);
  const again = await invite(GRACE, "viewer", await tenant.dashboard());
  const listed = (await tenant.call("GET /api/v1/team/invitations")).body.items;

  expect([again.status, listed.length]).toEqual([201, 1]);
  expect((await accept(again.body.token)).status).toBe(201);
  expect((await tenant.call("GET /api/v1/team/invitations")).body.items).toEqual([]);
});

it("invitations count against the plan's members while they are open (AMB-78, ERR-15)", async () => {
  const { world, invite } = await setting();
  const small = await world.tenant({ plan: "free" });
  const as = await small.dashboard();

  expect((await invite("a@b.example", "viewer", as)).status).toBe(201);
  expect((await invite("c@b.example", "viewer", as)).body.code).toBe("QUOTA_EXCEEDED");
});

it("invitations to many at once fill the plan's seats and never pass them (D-PLAN, AMB-78, ERR-15)", async () => {
  const { world, invite, accept } = await setting();
  const small = await world.tenant({ plan: "starter" });
  const as = await small.dashboard();
  const people = Array.from({ length: 12 }, (_, n) => `p${n}@navy.example`);
  const answers = await Promise.all(people.map((email) => invite(email, "viewer", as)));
  expect(answers.map(({ status }) => status).sort()).toEqual([...Array(4).fill(201), ...Array(8).fill(429)]);
  expect(answers.find(({ status }) => status === 429)?.body).toEqual({
    code: "QUOTA_EXCEEDED",
    message: "The plan allows 5 team members; 5 are in or invited.",
  });
  const tokens = answers.filter(({ status }) => status === 201).map(({ body }) => body.token);
  const accepted = await Promise.all(tokens.slice(0, 2).map((token) => accept(token)));
  const late = await Promise.all([
    ...tokens.slice(2).map((token) => accept(token)),
    invite("late@navy.example", "viewer", as),
  ]);
  expect([...accepted, ...late].map(({ status }) => status)).toEqual([201, 201, 201, 201, 429]);
  expect((await world.call("GET /api/v1/team/members", { as })).body.items).toHaveLength(5);
});

it("after a downgrade an open invitation admits no member beyond the plan (D-PLAN)", async () => {
  const { world, owner, invite, accept } = await setting();
  const body = { plan: "free" };
  const [first, second] = [await invite("a@navy.example", "viewer"), await invite("b@navy.example", "viewer")];
  expect((await world.call("PUT /api/v1/billing/plan", { as: owner, body })).status).toBe(200);
  expect((await accept(first.body.token)).status).toBe(201);
  const refused = await accept(second.body.token);
  expect(refused.status).toBe(429);
  expect(refused.body.code).toBe("QUOTA_EXCEEDED");
  await world.call("PUT /api/v1/billing/plan", { as: owner, body: { plan: "starter" } });
  expect((await accept(second.body.token)).status).toBe(201);
});

it("a deleted workspace is none to which a member is said to belong (D-TENANT, RDA-2)", async () => {
  const { world, tenant, invite, accept } = await setting();
  await accept((await invite(GRACE, "viewer")).body.token);
  const other = await world.tenant();
  const { body } = await accept((await invite(GRACE, "viewer", await other.dashboard())).body.token);
  const own = async () => (await world.call("GET /api/v1/me", { as: bearer(body.access_token) })).body.workspaces;
  expect(await own()).toHaveLength(2);

  await world.host.invoke("operator", { tenant_id: tenant.id, status: "deleted" });

  expect(await own()).toMatchObject([{ tenant_id: other.id }]);
});

it("a deleted workspace admits no one: by invitation, refresh or switch (D-TENANT, ERR-7)", async () => {
  const { world, tenant, invite, accept } = await setting();
  const { token } = (await invite(GRACE, "viewer")).body;
  const ada = (await accept((await invite("ada@navy.example", "viewer")).body.token)).body;
  const other = await world.tenant();
  const there = await accept((await invite("ada@navy.example", "viewer", await other.dashboard())).body.token);
  await world.host.invoke("operator", { tenant_id: tenant.id, status: "deleted" });
  const as = { authorization: `Bearer ${there.body.access_token}` };
  const answers = [
    await accept(token),
    await world.call("POST /api/v1/auth/refresh", { body: { refresh_token: ada.refresh_token } }),
    await world.call("POST /api/v1/auth/switch", { as, body: { tenant_id: tenant.id } }),
    await world.call("POST /api/v1/auth/login", {
      body: { email: "ada@navy.example", password: PASSWORD, tenant_id: tenant.id },
    }),
  ];

  expect(answers.map(({ status, body }) => [status, body.code])).toEqual(Array(4).fill([403, "TENANT_DELETED"]));
});

it("a known user comes in by an invitation with the right password only, and stays one user (AMB-78)", async () => {
  const { world, invite, accept } = await setting();
  const first = await accept((await invite(GRACE, "viewer")).body.token);
  const other = await world.tenant();
  const { token } = (await invite(GRACE, "admin", await other.dashboard())).body;

  expect((await accept(token, "another long password")).status).toBe(401);
  const second = await accept(token);

  expect(second.body.user.id).toBe(first.body.user.id);
  const platform = platformWrite.open(world.depsFor("test"))("" as TenantId);
  expect((await platform.get(UserItem, { email: GRACE }))?.joined).toBe(1);
});

it("a member of two workspaces switches between them, and to no other (AMB-78)", async () => {
  const { world, tenant, invite, accept } = await setting();
  await accept((await invite(GRACE, "viewer")).body.token);
  const [other, strange] = [await world.tenant(), await world.tenant()];
  const there = await accept((await invite(GRACE, "admin", await other.dashboard())).body.token);
  const as = { authorization: `Bearer ${there.body.access_token}` };
  const switchTo = (tenant_id: string) => world.call("POST /api/v1/auth/switch", { as, body: { tenant_id } });

  expect((await switchTo(tenant.id)).body.tenant).toMatchObject({ id: tenant.id, role: "viewer" });
  expect((await switchTo(strange.id)).status).toBe(404);
});
