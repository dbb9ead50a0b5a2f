// Members, invitations and roles.
import { beforeEach, describe, expect, it } from "vitest";
import { permissions, roles } from "../../shared/contract/roles.ts";
import { HOUR } from "../../shared/kernel/clock.ts";
import type { TenantId } from "../../shared/kernel/ids.ts";
import { platformWrite } from "../../shared/store/context.ts";
import { hashOf } from "../../shared/store/hash.ts";
import { countAttempt } from "../../shared/store/workspaces/attempts.ts";
import { InvitationItem, UserItem } from "../../shared/store/workspaces/identity-items.ts";
import { mailedToken, withMailedToken } from "../support/accounts.ts";
import { quickDeps } from "../support/people.ts";
import { type Headers, type Tenant, type TestWorld, testWorld } from "../support/world.ts";

const PASSWORD = "correct horse battery";

let world: TestWorld;
let tenant: Tenant;
let owner: Headers;
beforeEach(async () => {
  world = await testWorld();
  tenant = await world.tenant();
  owner = await tenant.dashboard();
});

const invite = async (email: string, role: string, as = owner) =>
  withMailedToken(world, await world.call("POST /api/v1/team/invitations", { as, body: { email, role } }));
const accept = (token: string) =>
  world.call("POST /api/v1/auth/invitations/accept", { body: { token, name: "Grace", password: PASSWORD } });
const members = async () => (await world.call("GET /api/v1/team/members", { as: owner })).body.items;

describe("invitations", () => {
  it("bring a new member in, once, within 7 days (AMB-78)", async () => {
    const invited = await invite("grace@navy.example", "marketer");
    expect(invited).toMatchObject({ status: 201, body: { email: "grace@navy.example", role: "marketer" } });
    const { status, body } = await accept(invited.body.token);
    expect(status).toBe(201);
    expect(body.tenant).toEqual(expect.objectContaining({ id: tenant.id, role: "marketer" }));
    expect((await members()).map(({ role }: { role: string }) => role).sort()).toEqual(["marketer", "owner"]);
    expect((await accept(invited.body.token)).status).toBe(404);
    const late = await invite("late@navy.example", "viewer");
    await world.advance(7 * 86_400_000);
    expect((await accept(late.body.token)).status).toBe(404);
    const weak = { token: late.body.token, name: "Grace", password: "123456789012" };
    const refused = await world.call("POST /api/v1/auth/invitations/accept", { body: weak });
    expect(refused.status).toBe(422);
    expect(Object.keys(refused.body.fields)).toEqual(["password"]);
  });

  it("invitations are mailed with the token; a mail that fails is logged and does not fail the request (AMB-78)", async () => {
    await world.call("PATCH /api/v1/workspace", { as: owner, body: { name: "Workspace evil.example" } });
    const { token } = (await invite("grace@navy.example", "marketer")).body;
    const mails = async () => (await world.call("GET /_local/outbox?channel=email")).body.items;
    const [mail] = await mails();
    expect(mail).toMatchObject({
      to: "grace@navy.example",
      title: "You are invited to Workspace evil. example",
    });
    // No mail program makes a link of it.
    expect(mail.body).not.toContain("evil.example");
    expect(mail.body).toContain(token);
    expect(mail.body).toContain("marketer");
    expect((await accept(token)).status).toBe(201);
    await world.call("POST /_local/faults", { body: { channel: "email", outcome: "transient" } });
    const late = await invite("late@navy.example", "viewer");
    expect(late.status).toBe(201);
    expect(late.body.mailed).toBe(false);
    expect(late.body.token).toEqual(expect.stringMatching(/^[\w-]{43}$/));
    expect(world.logs).toContainEqual(expect.objectContaining({ level: "warn", message: "a mail was not sent" }));
    expect(JSON.stringify(world.logs)).not.toContain("navy.example");
    const silent = await testWorld({ env: { MAIL_SENDER: "" } });
    const as = await (await silent.tenant()).dashboard();
    const body = { email: "grace@navy.example", role: "viewer" };
    expect((await silent.call("POST /api/v1/team/invitations", { as, body })).status).toBe(201);
    expect((await silent.call("GET /_local/outbox?channel=email")).body.items).toEqual([]);
  });

  it("the password of an existing user is checked as at a login, and five wrong ones end the invitation (AMB-78, D-AUTH)", async () => {
    const email = "grace@navy.example";
    const account = { email, name: "Grace", password: PASSWORD, workspace_name: "Navy" };
    expect((await world.call("POST /api/v1/auth/register", { body: account })).status).toBe(201);
    const confirmation = { token: await mailedToken(world, email) };
    expect((await world.call("POST /api/v1/auth/email/confirm", { body: confirmation })).status).toBe(204);
    const { token } = (await invite(email, "viewer")).body;
    const guess = (password: string, sent = token) =>
      world.call("POST /api/v1/auth/invitations/accept", { body: { token: sent, name: "Grace", password } });
    const platform = platformWrite.open(world.depsFor("test"))("" as TenantId);
    await platform.change(InvitationItem, { digest: hashOf(token) }, { set: { failures: 4 } });
    expect((await guess("wrong horse battery")).status).toBe(401);
    expect((await guess(PASSWORD)).status).toBe(404);
    const again = (await invite(email, "viewer")).body.token;
    const guesses = { kind: "login-email-ip", max: 10, windowMs: 900_000 };
    for (let n = 0; n < 9; n++) await countAttempt(platform, guesses, `${email} 203.0.113.7`);
    expect((await guess(PASSWORD, again)).status).toBe(429);
    await world.advance(900_000);
    expect((await guess(PASSWORD, again)).status).toBe(201);
  });

  it("five an hour go to one address, from whatever workspace (AMB-78, LIM-4)", async () => {
    const other = await (await world.tenant()).dashboard();
    const statuses: number[] = [];
    for (const as of [owner, other, owner, other, owner, other])
      statuses.push((await invite("grace@navy.example", "viewer", as)).status);
    expect(statuses).toEqual([201, 201, 409, 409, 409, 429]);
    await world.advance(3_600_000);
    expect((await invite("grace@navy.example", "viewer", await tenant.dashboard())).status).toBe(409);
  });

  it("a hundred an hour are made by one workspace (AMB-78, LIM-4)", async () => {
    const platform = platformWrite.open(quickDeps(world))("" as TenantId);
    await countAttempt(platform, { kind: "invite-workspace", max: 100, windowMs: HOUR }, tenant.id, 99);
    const statuses = [
      (await invite("ada@navy.example", "viewer")).status,
      (await invite("grace@navy.example", "viewer")).status,
    ];

    expect(statuses).toEqual([201, 429]);
  });

  it.each(["Win at https://evil.example", "www.evil.example", "evil.example/win", "two\nlines", "hidden\u202etext"])(
    "a workspace, whose name is in mails, is not called %j (AMB-78, D-AUTH)",
    async (workspace_name) => {
      const account = { email: "eve@evil.example", name: "Eve", password: PASSWORD, workspace_name };
      const refused = await world.call("POST /api/v1/auth/register", { body: account });
      expect(refused.status).toBe(422);
      expect(Object.keys(refused.body.fields)).toEqual(["workspace_name"]);
      const renamed = await world.call("PATCH /api/v1/workspace", { as: owner, body: { name: workspace_name } });
      expect(renamed.status).toBe(422);
      expect(Object.keys(renamed.body.fields ?? {})).toEqual(["name"]);
    },
  );

  it("one stands open for a person, also when two are made at once; one that ran out makes room (AMB-78, ERR-11)", async () => {
    const invitations = ["Grace@navy.example", "grace@navy.example"].map((email) => invite(email, "viewer"));
    expect((await Promise.all(invitations)).map(({ status }) => status).sort()).toEqual([201, 409]);
    const list = async () => (await tenant.call("GET /api/v1/team/invitations")).body.items;
    expect(await list()).toHaveLength(1);
    await world.advance(7 * 86_400_000);
    const again = await invite("grace@navy.example", "viewer", await tenant.dashboard());
    expect(again.status).toBe(201);
    expect((await list()).length).toBe(1);
    expect((await accept(again.body.token)).status).toBe(201);
    expect(await list()).toEqual([]);
  });

  it("count against the plan's members while they are open (AMB-78, ERR-15)", async () => {
    const small = await world.tenant({ plan: "free" });
    const as = await small.dashboard();

    expect((await invite("a@b.example", "viewer", as)).status).toBe(201);
    expect((await invite("c@b.example", "viewer", as)).body.code).toBe("QUOTA_EXCEEDED");
  });

  it("invitations to many at once fill the plan's seats and never pass them (D-PLAN, AMB-78, ERR-15)", async () => {
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
    const accepted = await Promise.all(tokens.slice(0, 2).map(accept));
    const late = await Promise.all([...tokens.slice(2).map(accept), invite("late@navy.example", "viewer", as)]);
    expect([...accepted, ...late].map(({ status }) => status)).toEqual([201, 201, 201, 201, 429]);
    expect((await world.call("GET /api/v1/team/members", { as })).body.items).toHaveLength(5);
  });

  it("after a downgrade an open invitation admits no member beyond the plan (D-PLAN)", async () => {
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

  it("a deleted workspace admits no one: by invitation, refresh or switch (D-TENANT, ERR-7)", async () => {
    const { token } = (await invite("grace@navy.example", "viewer")).body;
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

  it("a known user comes in with the right password only", async () => {
    const first = await accept((await invite("grace@navy.example", "viewer")).body.token);
    const other = await world.tenant();
    const { token } = (await invite("grace@navy.example", "admin", await other.dashboard())).body;
    const wrong = { token, name: "x", password: "another long password" };
    expect((await world.call("POST /api/v1/auth/invitations/accept", { body: wrong })).status).toBe(401);
    const second = await accept(token);
    expect(second.body.user.id).toBe(first.body.user.id);
    const platform = platformWrite.open(world.depsFor("test"))("" as TenantId);
    expect((await platform.get(UserItem, { email: "grace@navy.example" }))?.joined).toBe(1);
    const as = { authorization: `Bearer ${second.body.access_token}` };
    const switched = await world.call("POST /api/v1/auth/switch", { as, body: { tenant_id: tenant.id } });
    expect(switched.body.tenant).toMatchObject({ id: tenant.id, role: "viewer" });
    const strange = await world.tenant();
    expect((await world.call("POST /api/v1/auth/switch", { as, body: { tenant_id: strange.id } })).status).toBe(404);
  });
});

describe("roles", () => {
  const join = async (role: string) => (await accept((await invite(`${role}@navy.example`, role)).body.token)).body;

  it("a removed member is out at once, a changed role counts at once (ATH-3)", async () => {
    const grace = await join("admin");
    const as = { authorization: `Bearer ${grace.access_token}` };
    const path = `/api/v1/team/members/${grace.user.id}`;

    expect((await world.call(`PATCH ${path}`, { as: owner, body: { role: "analyst" } })).body.role).toBe("analyst");
    expect((await invite("x@navy.example", "viewer", as)).body.code).toBe("FORBIDDEN");
    expect((await world.call(`DELETE ${path}`, { as: owner })).status).toBe(204);
    expect((await world.call("GET /api/v1/me", { as })).status).toBe(401);
    expect(
      (await world.call("POST /api/v1/auth/refresh", { body: { refresh_token: grace.refresh_token } })).status,
    ).toBe(401);
  });

  it("a viewer's token carries ro, and a viewer who is made more may write at once; elsewhere too (D-TEAM, ATH-3)", async () => {
    const grace = await join("viewer");
    const claims = JSON.parse(Buffer.from(grace.access_token.split(".")[1], "base64url").toString());
    expect(claims.ro).toBe(true);
    expect(claims.role).toBe("viewer");
    expect(claims.tid).toEqual(tenant.id);
    const as = { authorization: `Bearer ${grace.access_token}` };
    const write = async (who: Headers) =>
      (await world.call("POST /api/v1/lists", { as: who, body: { name: world.ids.uuid() } })).status;
    const other = await world.tenant();
    await accept((await invite("viewer@navy.example", "admin", await other.dashboard())).body.token);
    const switched = await world.call("POST /api/v1/auth/switch", { as, body: { tenant_id: other.id } });
    expect(await write({ authorization: `Bearer ${switched.body.access_token}` })).toBe(201);
    expect(await write(as)).toBe(403);
    const narrow = (await world.call("POST /api/v1/auth/tokens/read-only", { as })).body.access_token;
    const path = `/api/v1/team/members/${grace.user.id}`;
    await world.call(`PATCH ${path}`, { as: owner, body: { role: "admin" } });
    expect(await write(as)).toBe(201);
    expect(await write({ authorization: `Bearer ${narrow}` })).toBe(403);
  });

  it("a workspace keeps the last owner, and an admin may not touch owners (D-TEAM)", async () => {
    const self = `/api/v1/team/members/${tenant.owner}`;
    expect((await world.call(`DELETE ${self}`, { as: owner })).status).toBe(409);
    expect((await world.call(`PATCH ${self}`, { as: owner, body: { role: "admin" } })).status).toBe(409);
    const admin = { authorization: `Bearer ${(await join("admin")).access_token}` };
    expect((await world.call(`DELETE ${self}`, { as: admin })).status).toBe(403);
    expect((await invite("y@navy.example", "owner", admin)).status).toBe(403);
    const role = (id: string, to: string) =>
      world.call(`PATCH /api/v1/team/members/${id}`, { as: admin, body: { role: to } });
    const other = (await join("analyst")).user.id;
    const refused = [await role(tenant.owner, "viewer"), await role(other, "owner")];
    expect(refused.map(({ body }) => body.code)).toEqual(["FORBIDDEN", "FORBIDDEN"]);
    expect((await role(other, "marketer")).body.role).toBe("marketer");
    const second = await join("owner");
    expect((await world.call(`DELETE ${self}`, { as: owner })).status).toBe(204);
    const as = { authorization: `Bearer ${second.access_token}` };
    expect((await world.call(`DELETE /api/v1/team/members/${second.user.id}`, { as })).status).toBe(409);
  });

  it("the service holds the table of roles and permissions (D-TEAM)", () => {
    const table = Object.fromEntries(
      roles.map((role) => [
        role,
        Object.entries(permissions)
          .filter(([, held]) => (held as readonly string[]).includes(role))
          .map(([name]) => name),
      ]),
    );

    expect(table).toEqual({
      owner: Object.keys(permissions),
      admin: [
        "content:write",
        "send",
        "subscribers:write",
        "channels:write",
        "credentials:manage",
        "insights:write",
        "team:manage",
      ],
      marketer: ["content:write", "send", "subscribers:write", "insights:write"],
      developer: ["subscribers:write", "channels:write", "credentials:manage"],
      analyst: ["insights:write"],
      viewer: [],
    });
  });
});
