// Signing in at the identity provider that the operator named for every workspace.
import { expect, it } from "vitest";
import { shownCode, withMailedToken } from "../support/accounts.ts";
import { bearerOf } from "../support/credentials.ts";
import { CLIENT, ISSUER, type Person } from "../support/openid-provider.ts";
import { ADA, PASSWORD, signInWorld } from "../support/sign-in.ts";

/** A deployment whose operator named a provider for every workspace. */
async function setting() {
  const { signIn, ...found } = await signInWorld({ env: { SIGN_IN_ISSUER: ISSUER, SIGN_IN_CLIENT_ID: CLIENT.id } });
  return { ...found, signIn: (person: Person, wanted: object = { email: person.email }) => signIn(person, wanted) };
}

it("a member of any workspace signs in, as a public client, and stays linked when the address changes (ACC-15, ACC-16)", async () => {
  const { world, provider, post, confirmed, signIn } = await setting();
  const owner = await confirmed();
  const session = await signIn(ADA);
  expect(session.status).toBe(201);
  expect(session.body.user.id).toEqual(owner.body.user.id);
  expect(provider.proofs).toEqual([""]);
  expect((await world.call("GET /api/v1/topics", { as: bearerOf(session) })).status).toBe(200);
  const renamed = await signIn({ ...ADA, email: "countess@elsewhere.example", email_verified: false });
  expect(renamed.body.user.id).toBe(owner.body.user.id);
  const renewed = await post("refresh", { refresh_token: session.body.refresh_token });
  expect(renewed.status).toBe(200);
});

it("a session that began there is like one of a password: it switches, and ends with its parent (ACC-15)", async () => {
  const { world, post, confirmed, signIn } = await setting();
  const owner = await confirmed();
  const other = await world.tenant();
  const body = { email: ADA.email, role: "viewer" };
  const invited = await other.call("POST /api/v1/team/invitations", body);
  const { token } = (await withMailedToken(world, invited)).body;
  await post("invitations/accept", { token, name: "Ada", password: PASSWORD });
  const session = await signIn(ADA, { tenant_id: owner.body.tenant.id });
  expect(session.body.tenant.id).toBe(owner.body.tenant.id);
  const switched = await post("switch", { tenant_id: other.id }, bearerOf(session));
  expect(switched.body.tenant).toMatchObject({ id: other.id, role: "viewer" });
  await post("logout", { refresh_token: session.body.refresh_token });
  expect((await post("refresh", { refresh_token: switched.body.refresh_token })).status).toBe(401);
});

it("nobody gets in who is no user here, whose address is not verified, or in a workspace of others (ACC-16)", async () => {
  const { world, confirmed, signIn } = await setting();
  await confirmed();
  const other = await world.tenant();
  const stranger = await signIn({ ...ADA, sub: "eve-1", email: "eve@lovelace.example" });

  expect(stranger.status).toBe(403);
  expect(stranger.body.message).toBe("Nobody here has your email address. Ask for an invitation.");
  expect((await signIn({ ...ADA, email_verified: false })).status).toBe(403);
  expect((await signIn(ADA, { tenant_id: other.id })).status).toBe(401);
  expect((await signIn(ADA, { tenant_id: "installation" })).status).toBe(401);
});

it("a user who never confirmed the address loses password and sessions to the one whom the provider knows (ACC-16)", async () => {
  const { post, register, signIn } = await setting();
  const squatter = await register();

  expect((await signIn(ADA)).status).toBe(201);
  expect((await post("refresh", { refresh_token: squatter.body.refresh_token })).status).toBe(401);
  expect((await post("login", { email: ADA.email, password: PASSWORD })).status).toBe(401);
});

it("a second factor of a stranger who never confirmed the address keeps out nobody whom the provider knows (ACC-16)", async () => {
  const { world, post, register, signIn } = await setting();
  const squatter = await register();
  const as = bearerOf(squatter);
  const { key } = (await post("second-factor/begin", { current_password: PASSWORD }, as)).body;
  expect((await post("second-factor/confirm", { code: shownCode(key, world.clock.now()) }, as)).status).toBe(200);

  const session = await signIn(ADA);

  expect(session.status).toBe(201);
  const renewed = await post("refresh", { refresh_token: session.body.refresh_token });
  expect(renewed.status).toBe(200);
  const { body } = await world.call("GET /api/v1/auth/second-factor", { as: bearerOf(renewed) });
  expect(body).toMatchObject({ enabled: false, recovery_codes_left: 0 });
});

it("a workspace with a provider of its own is not opened by that of the installation (ACC-17)", async () => {
  const { confirmed, set, begin } = await setting();
  const owner = await confirmed();
  await set(owner, { client_id: "own" });
  const { url } = await begin({ tenant_id: owner.body.tenant.id });

  expect(new URL(url).searchParams.get("client_id")).toBe("own");
});

it("a second factor that the provider of the installation asked for opens no workspace that demands its own, also by a switch (ACC-17)", async () => {
  const { world, provider, post, connected, set, signIn } = await setting();
  const { tenant } = await connected({ client_id: "own" });
  provider.changes = { aud: "own" };
  const within = await signIn(ADA, { tenant_id: tenant });
  expect((await set(within, { client_id: "own", required: true })).body.required).toBe(true);
  provider.changes = {};
  const other = await world.tenant();
  const invited = await other.call("POST /api/v1/team/invitations", { email: ADA.email, role: "owner" });
  const { token } = (await withMailedToken(world, invited)).body;
  await post("invitations/accept", { token, name: "Ada", password: PASSWORD });
  const session = await signIn({ ...ADA, amr: ["mfa"] }, { tenant_id: other.id });
  expect(session.body.tenant.id).toBe(other.id);

  const switched = await post("switch", { tenant_id: tenant }, bearerOf(session));

  expect([switched.status, switched.body.code]).toEqual([403, "SIGN_IN_REQUIRED"]);
});

it("without a provider of the installation there is no provider for an address that none speaks for (ACC-15)", async () => {
  const { post } = await signInWorld();

  expect((await post("sign-in/begin", { email: ADA.email })).status).toBe(404);
});
