// The roles that groups of an identity provider give, and take with them (ACC-16).
import { expect, it } from "vitest";
import { mailedToken } from "../support/accounts.ts";
import { bearerOf } from "../support/credentials.ts";
import { requests } from "../support/requests.ts";
import { ADA, GRACE, PASSWORD, signInWorld } from "../support/sign-in.ts";

/** A workspace whose provider speaks for a proven domain. */
async function setting(more: object = {}) {
  const found = await signInWorld();
  return { ...found, ...(await found.connected(more)) };
}

const byGroup = { groups_claim: "groups", group_roles: [{ group: "eng", role: "developer" }] };

it("a subject of a provider has the role of the group, also who had another one (ACC-16)", async () => {
  const { owner, set, signIn, tenant } = await setting({ default_role: "analyst" });
  await signIn(GRACE, { tenant_id: tenant });
  await set(owner, byGroup);

  expect((await signIn({ ...GRACE, groups: ["eng"] }, { tenant_id: tenant })).body.tenant.role).toBe("developer");
});

it("a subject of a provider has the role of a group that the provider's user information alone names (ACC-16)", async () => {
  const { provider, signIn, tenant } = await setting(byGroup);
  provider.beside = { ...GRACE, groups: ["eng"] };
  provider.changes = { email: GRACE.email, email_verified: true };
  const session = await signIn(GRACE, { tenant_id: tenant });

  expect(session.body.tenant?.role).toBe("developer");
});

it.each([
  ["is refused", 403, undefined, {}],
  ["has the default role", 201, "viewer", { default_role: "viewer" }],
])("a subject of a provider who is out of every group %s (ACC-16)", async (_, status, role, more) => {
  const { signIn, tenant } = await setting({ ...byGroup, ...more });
  await signIn({ ...GRACE, groups: ["eng"] }, { tenant_id: tenant });
  const session = await signIn({ ...GRACE, groups: [] }, { tenant_id: tenant });

  expect([session.status, session.body.tenant?.role]).toEqual([status, role]);
});

it("a subject of a provider who never was in a group keeps the role of the invitation (ACC-16)", async () => {
  const { invite, signIn, tenant } = await setting({ ...byGroup, default_role: "viewer" });
  await invite(GRACE.email, "developer");
  const grace = { ...GRACE, groups: [] };
  await signIn(grace, { tenant_id: tenant });

  expect((await signIn(grace, { tenant_id: tenant })).body.tenant.role).toBe("developer");
});

it("a subject of a provider who was invited signs in again, where there is neither a group nor a default role (ACC-16)", async () => {
  const { invite, signIn, tenant } = await setting(byGroup);
  await invite(GRACE.email, "developer");
  const grace = { ...GRACE, groups: [] };
  await signIn(grace, { tenant_id: tenant });
  const session = await signIn(grace, { tenant_id: tenant });

  expect([session.status, session.body.tenant?.role]).toEqual([201, "developer"]);
});

it("a subject of a provider who was invited and has left a group since is refused without a default role (ACC-16)", async () => {
  const { invite, signIn, tenant } = await setting(byGroup);
  await invite(GRACE.email, "viewer");
  await signIn({ ...GRACE, groups: [] }, { tenant_id: tenant });
  await signIn({ ...GRACE, groups: ["eng"] }, { tenant_id: tenant });

  expect((await signIn({ ...GRACE, groups: [] }, { tenant_id: tenant })).status).toBe(403);
});

it.each([
  ["another than that of the group", "analyst"],
  ["the same as the group", "developer"],
])("a subject of a provider keeps a role that an owner gave once out of every group: %s (ACC-16)", async (_, role) => {
  const { world, owner, signIn, tenant } = await setting({ ...byGroup, default_role: "viewer" });
  const { user } = (await signIn({ ...GRACE, groups: ["eng"] }, { tenant_id: tenant })).body;
  await world.call(`PATCH /api/v1/team/members/${user.id}`, { as: bearerOf(owner), body: { role } });

  expect((await signIn({ ...GRACE, groups: [] }, { tenant_id: tenant })).body.tenant.role).toBe(role);
});

it("a subject of a provider who was an owner, and is a member whom no group made one, signs in without a default role (ACC-16)", async () => {
  const { world, user, invite, post, signIn, tenant } = await setting(byGroup);
  await invite(GRACE.email, "owner");
  const token = await mailedToken(world, GRACE.email, "You are invited");
  const grace = await post("invitations/accept", { token, name: "Grace", password: PASSWORD });
  await world.call(`PATCH /api/v1/team/members/${user.id}`, { as: bearerOf(grace), body: { role: "admin" } });

  expect((await signIn({ ...ADA, groups: [] }, { tenant_id: tenant })).body.tenant?.role).toBe("admin");
});

it("who is an owner stays one (ACC-16)", async () => {
  const { signIn, tenant } = await setting(byGroup);

  expect((await signIn({ ...ADA, groups: ["eng"] }, { tenant_id: tenant })).body.tenant.role).toBe("owner");
});

it("a subject of a provider who takes the address of a stranger stays, when the stranger is removed from another workspace just then (ACC-16, D-TEAM)", async () => {
  const removal = requests({ of: "api-team", operation: "TransactWriteItems" });
  const { world, connected, register, post, signIn } = await signInWorld({ hooks: removal.hooks });
  const { tenant } = await connected({ default_role: "viewer" });
  const stranger = bearerOf(await register(GRACE.email));
  await world.call("POST /api/v1/team/invitations", {
    as: stranger,
    body: { email: "eve@navy.example", role: "owner" },
  });
  const token = await mailedToken(world, "eve@navy.example", "You are invited");
  const eve = await post("invitations/accept", { token, name: "Eve", password: PASSWORD });
  const { id } = (await world.call("GET /api/v1/me", { as: stranger })).body.user;
  removal.next(() => signIn(GRACE, { tenant_id: tenant }));

  expect((await world.call(`DELETE /api/v1/team/members/${id}`, { as: bearerOf(eve) })).status).toBe(409);

  expect((await signIn(GRACE, { tenant_id: tenant })).body.user?.id).toBe(id);
});

it("roles of groups name the claim that has the groups (ACC-14, ACC-16)", async () => {
  const { owner, set } = await setting();
  const { status, body } = await set(owner, { ...byGroup, groups_claim: null });

  expect(status).toBe(422);
  expect(body.fields).toHaveProperty("groups_claim");
});
