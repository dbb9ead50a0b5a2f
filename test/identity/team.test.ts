// Members of a workspace and their roles.
import { expect, it } from "vitest";
import { permissions, roles } from "../../shared/contract/roles.ts";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { inviting, PASSWORD } from "../support/accounts.ts";
import { bearer, bearerOf } from "../support/credentials.ts";
import { worlds } from "../support/worlds.ts";

const own = worlds();

async function setting() {
  const here = await inviting(own);
  const { world, invite, accept } = here;
  const join = async (role: string) => (await accept((await invite(`${role}@navy.example`, role)).body.token)).body;
  const writeOf = async (access_token: string) => {
    const as = { authorization: `Bearer ${access_token}` };
    return (await world.call("POST /api/v1/lists", { as, body: { name: world.ids.uuid() } })).status;
  };
  return { ...here, join, writeOf };
}

it("a removed member is out at once, a changed role counts at once (ATH-3)", async () => {
  const { world, owner, invite, join } = await setting();
  const grace = await join("admin");
  const as = bearer(grace.access_token);
  const path = `/api/v1/team/members/${grace.user.id}`;

  expect((await world.call(`PATCH ${path}`, { as: owner, body: { role: "analyst" } })).body.role).toBe("analyst");
  expect((await invite("x@navy.example", "viewer", as)).body.code).toBe("FORBIDDEN");
  expect((await world.call(`DELETE ${path}`, { as: owner })).status).toBe(204);
  expect((await world.call("GET /api/v1/me", { as })).status).toBe(401);
  expect((await world.call("POST /api/v1/auth/refresh", { body: { refresh_token: grace.refresh_token } })).status).toBe(
    401,
  );
});

it("a member who is removed and invited again brings no session from before (D-TEAM, ATH-3)", async () => {
  const { world, owner, invite, accept } = await setting();
  const email = "grace@navy.example";
  const stolen = (await accept((await invite(email, "admin")).body.token)).body;
  await world.call(`DELETE /api/v1/team/members/${stolen.user.id}`, { as: owner });
  await world.advance(1_000);
  const again = (await accept((await invite(email, "admin")).body.token)).body;
  const statusOf = async ({ access_token }: { access_token: string }) =>
    (await world.call("GET /api/v1/me", { as: { authorization: `Bearer ${access_token}` } })).status;

  expect([await statusOf(stolen), await statusOf(again)]).toEqual([401, 200]);
  for (const [{ refresh_token }, status] of [[stolen, 401] as const, [again, 200] as const])
    expect((await world.call("POST /api/v1/auth/refresh", { body: { refresh_token } })).status).toBe(status);
});

it("a member who is removed and belongs to no other workspace may register again (D-TEAM)", async () => {
  const { world, owner, join } = await setting();
  const grace = await join("viewer");

  await world.call(`DELETE /api/v1/team/members/${grace.user.id}`, { as: owner });

  const account = { email: grace.user.email, password: "a staple of another kind", name: "Grace" };
  const own = await world.call("POST /api/v1/auth/register", { body: { ...account, workspace_name: "Compilers" } });
  expect(own.body.tenant).toMatchObject({ name: "Compilers", role: "owner" });
});

it("a member who is removed stays the user that they are in another workspace (D-TEAM)", async () => {
  const { world, owner, join, invite, accept } = await setting();
  const grace = await join("viewer");
  const elsewhere = await (await world.tenant()).dashboard();
  await accept((await invite(grace.user.email, "viewer", elsewhere)).body.token);

  await world.call(`DELETE /api/v1/team/members/${grace.user.id}`, { as: owner });

  const body = { email: grace.user.email, password: PASSWORD };
  expect((await world.call("POST /api/v1/auth/login", { body })).body.user.id).toBe(grace.user.id);
});

it.each<[of: string, end: object | undefined]>([
  ["who was removed", undefined],
  ["who may not invite any more", { role: "developer" }],
])("an invitation of a member %s brings nobody in, and its address is free (D-TEAM)", async (_, change) => {
  const { world, owner, invite, accept, join } = await setting();
  const grace = await join("admin");
  const path = `/api/v1/team/members/${grace.user.id}`;
  const { token } = (await invite("other@grace.example", "admin", bearer(grace.access_token))).body;

  if (change) await world.call(`PATCH ${path}`, { as: owner, body: change });
  else await world.call(`DELETE ${path}`, { as: owner });

  expect((await accept(token)).status).toBe(404);
  expect((await world.call("GET /api/v1/team/invitations", { as: owner })).body.items).toEqual([]);
  expect((await accept((await invite("other@grace.example", "viewer")).body.token)).body.tenant.role).toBe("viewer");
  expect((await accept(token)).status).toBe(404);
});

it("an invitation of a member who was removed stays ended when the member comes back (D-TEAM)", async () => {
  const { world, owner, invite, accept, join } = await setting();
  const grace = await join("admin");
  const { token } = (await invite("other@grace.example", "admin", bearer(grace.access_token))).body;
  await world.call(`DELETE /api/v1/team/members/${grace.user.id}`, { as: owner });
  await world.advance(2 * MINUTE);
  await join("admin");

  expect((await accept(token)).status).toBe(404);
  expect((await world.call("GET /api/v1/team/invitations", { as: owner })).body.items).toEqual([]);
});

it.each([
  { sender: "admin", invited: "viewer", meanwhile: "developer" },
  { sender: "owner", invited: "viewer", meanwhile: "analyst" },
  { sender: "owner", invited: "owner", meanwhile: "admin" },
])(
  "an invitation to $invited stays ended when its $sender was $meanwhile for a while; one sent since counts (D-TEAM)",
  async ({ sender, invited, meanwhile }) => {
    const { world, owner, invite, accept, join } = await setting();
    const grace = await join(sender);
    const become = (role: string) =>
      world.call(`PATCH /api/v1/team/members/${grace.user.id}`, { as: owner, body: { role } });
    const { token } = (await invite("other@grace.example", invited, bearer(grace.access_token))).body;
    await become(meanwhile);
    await world.advance(MINUTE);
    await become(sender);

    expect((await accept(token)).status).toBe(404);
    await world.advance(MINUTE);
    const again = await invite("other@grace.example", invited, bearer(grace.access_token));
    expect((await accept(again.body.token)).body.tenant.role).toBe(invited);
  },
);

it("an invitation to a viewer goes on while its sender, an owner, is an admin (D-TEAM)", async () => {
  const { world, owner, invite, accept, join } = await setting();
  const grace = await join("owner");
  const { token } = (await invite("other@grace.example", "viewer", bearer(grace.access_token))).body;

  await world.call(`PATCH /api/v1/team/members/${grace.user.id}`, { as: owner, body: { role: "admin" } });

  expect((await accept(token)).body.tenant.role).toBe("viewer");
});

it("the own workspaces of a member say the role that it has now (D-TEAM)", async () => {
  const { world, owner, join } = await setting();
  const grace = await join("admin");
  await world.call(`PATCH /api/v1/team/members/${grace.user.id}`, { as: owner, body: { role: "viewer" } });

  const { workspaces } = (await world.call("GET /api/v1/me", { as: bearer(grace.access_token) })).body;

  expect(workspaces).toMatchObject([{ tenant_id: grace.tenant.id, role: "viewer" }]);
});

it("an invitation to an owner ends with the ownership of who invited (D-TEAM)", async () => {
  const { world, owner, invite, accept, join } = await setting();
  const grace = await join("owner");
  const { token } = (await invite("other@grace.example", "owner", bearer(grace.access_token))).body;

  await world.call(`PATCH /api/v1/team/members/${grace.user.id}`, { as: owner, body: { role: "admin" } });

  expect((await accept(token)).status).toBe(404);
});

it("an invitation of an agency's member ends with the membership in the agency (D-TEAM, D-AGENCY)", async () => {
  const { world, tenant, owner, invite, accept, join } = await setting();
  await world.host.invoke("operator", { tenant_id: tenant.id, kind: "agency" });
  const grace = await join("admin");
  const client = (await world.call("POST /api/v1/agency/workspaces", { as: owner, body: { name: "Client" } })).body.id;
  const inside = await world.call(`POST /api/v1/agency/workspaces/${client}/session`, {
    as: bearer(grace.access_token),
  });
  const [first, second] = [
    await invite("first@navy.example", "admin", bearerOf(inside)),
    await invite("second@navy.example", "admin", bearerOf(inside)),
  ];
  expect((await accept(first.body.token)).status).toBe(201);

  await world.call(`DELETE /api/v1/team/members/${grace.user.id}`, { as: owner });

  expect((await accept(second.body.token)).status).toBe(404);
});

it.each([{ status: "suspended" }, { status: "deleted" }, { kind: "standard" }])(
  "an invitation of an agency's member counts only while the agency keeps clients: not after %j (D-TEAM, D-AGENCY)",
  async (change) => {
    const { world, tenant, owner, invite, accept } = await setting();
    const operate = (of: object) => world.host.invoke("operator", { tenant_id: tenant.id, ...of });
    await operate({ kind: "agency" });
    const client = (await world.call("POST /api/v1/agency/workspaces", { as: owner, body: { name: "Client" } })).body
      .id;
    const inside = await world.call(`POST /api/v1/agency/workspaces/${client}/session`, { as: owner });
    const { token } = (await invite("first@navy.example", "admin", bearerOf(inside))).body;
    await accept((await invite("own@navy.example", "owner", bearerOf(inside))).body.token);

    await operate(change);
    expect((await accept(token)).status).toBe(404);

    await operate({ status: "active", kind: "agency", plan: "enterprise" });
    expect((await accept(token)).status).toBe(201);
  },
);

it("keys go on without the member who made them, whom the audit trail names (ATH-2, RDA-23)", async () => {
  const { world, owner, join } = await setting();
  const grace = await join("admin");
  const as = bearer(grace.access_token);
  const { id, key } = (await world.call("POST /api/v1/server-keys", { as, body: { name: "key" } })).body;

  await world.call(`DELETE /api/v1/team/members/${grace.user.id}`, { as: owner });

  expect((await world.call("GET /v1/whoami", { as: bearer(key) })).status).toBe(200);
  const { items } = (await world.call(`GET /api/v1/audit?actor=${grace.user.id}`, { as: owner })).body;
  expect(items).toMatchObject([{ action: "account.createServerKey", target: id }]);
});

it("a viewer's token carries ro, its role and its workspace (D-TEAM, ATH-3)", async () => {
  const { tenant, join } = await setting();
  const { access_token } = await join("viewer");

  const claims = JSON.parse(Buffer.from(access_token.split(".")[1], "base64url").toString());

  expect(claims).toMatchObject({ ro: true, role: "viewer", tid: tenant.id });
});

it("a viewer who is made more may write at once, but not by a read-only token (D-TEAM, ATH-3)", async () => {
  const { world, owner, join, writeOf } = await setting();
  const grace = await join("viewer");
  const as = bearer(grace.access_token);
  const narrow = (await world.call("POST /api/v1/auth/tokens/read-only", { as })).body.access_token;
  expect(await writeOf(grace.access_token)).toBe(403);

  await world.call(`PATCH /api/v1/team/members/${grace.user.id}`, { as: owner, body: { role: "admin" } });

  expect(await writeOf(grace.access_token)).toBe(201);
  expect(await writeOf(narrow)).toBe(403);
});

it("a viewer of one workspace may write where the same user is more (D-TEAM, ATH-3)", async () => {
  const { world, invite, accept, join, writeOf } = await setting();
  const grace = await join("viewer");
  const as = bearer(grace.access_token);
  const other = await world.tenant();
  await accept((await invite("viewer@navy.example", "admin", await other.dashboard())).body.token);

  const switched = await world.call("POST /api/v1/auth/switch", { as, body: { tenant_id: other.id } });

  expect(await writeOf(switched.body.access_token)).toBe(201);
  expect(await writeOf(grace.access_token)).toBe(403);
});

const member = (id: string) => `/api/v1/team/members/${id}`;

it("a workspace keeps its last owner, who may neither leave nor be made less (D-TEAM)", async () => {
  const { world, tenant, owner, join } = await setting();
  const second = await join("owner");
  expect((await world.call(`DELETE ${member(tenant.owner)}`, { as: owner })).status).toBe(204);
  const as = { authorization: `Bearer ${second.access_token}` };

  expect((await world.call(`DELETE ${member(second.user.id)}`, { as })).status).toBe(409);
  expect((await world.call(`PATCH ${member(second.user.id)}`, { as, body: { role: "admin" } })).status).toBe(409);
});

it("an admin may not touch owners, and makes none (D-TEAM)", async () => {
  const { world, tenant, invite, join } = await setting();
  const as = { authorization: `Bearer ${(await join("admin")).access_token}` };
  const other = (await join("analyst")).user.id;
  const change = (id: string, role: string) => world.call(`PATCH ${member(id)}`, { as, body: { role } });

  const refused = [
    await world.call(`DELETE ${member(tenant.owner)}`, { as }),
    await invite("y@navy.example", "owner", as),
    await change(tenant.owner, "viewer"),
    await change(other, "owner"),
  ];

  expect(refused.map(({ status, body }) => [status, body.code])).toEqual(Array(4).fill([403, "FORBIDDEN"]));
  expect((await change(other, "marketer")).body.role).toBe("marketer");
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
