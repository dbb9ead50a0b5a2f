// A workspace that demands the sign-in at its provider (ACC-17).
import { describe, expect, it } from "vitest";
import { SECOND } from "../../shared/kernel/clock.ts";
import { mailedToken } from "../support/accounts.ts";
import { bearerOf } from "../support/credentials.ts";
import { ISSUER } from "../support/openid-provider.ts";
import { ADA, PASSWORD, PROVIDER_ROUTE, signInWorld } from "../support/sign-in.ts";
import { openStream } from "../support/sse.ts";
import type { Answer } from "../support/world.ts";

describe("a workspace that demands its provider", () => {
  const DEMAND = { required: true, default_role: "viewer" };

  /** An owner by password, and a session of the same owner by the provider, which demanded it. */
  async function demanded() {
    const found = await signInWorld();
    const { owner, tenant } = await found.connected();
    const session = await found.signIn(ADA, { tenant_id: tenant });
    expect((await found.set(session, DEMAND)).body.required).toBe(true);
    return { ...found, owner, tenant, session };
  }

  it("a workspace that demands its provider is made one by an owner who signed in there, not by one with a password (ACC-17)", async () => {
    const { connected, set } = await signInWorld();
    const { owner } = await connected();

    expect((await set(owner, DEMAND)).body.fields).toHaveProperty("required");
  });

  it("a workspace that demands its provider is open to sessions of its provider; passwords then reach the account alone (ACC-17)", async () => {
    const { owner, session, topics, me } = await demanded();
    const refused = await topics(owner);

    expect(refused.status).toBe(403);
    expect(refused.body.code).toBe("SIGN_IN_REQUIRED");
    expect((await me(owner)).body).toMatchObject({ sign_in_missing: true });
    expect((await me(session)).body).toMatchObject({ sign_in_missing: false });
    expect((await topics(session)).status).toBe(200);
  });

  it("a workspace that demands its provider opens no live stream to a session by a password (ACC-17)", async () => {
    const { world, owner } = await demanded();

    const refused = await openStream(world, "?subscriber_id=ada", bearerOf(owner));

    expect(refused.status).toBe(403);
    expect(JSON.parse(refused.text).code).toBe("SIGN_IN_REQUIRED");
  });

  it("a workspace that demands its provider begins no session by a password (ACC-17)", async () => {
    const { post } = await demanded();
    const { status, body } = await post("login", { email: ADA.email, password: PASSWORD });

    expect(status).toBe(403);
    expect(body.code).toBe("SIGN_IN_REQUIRED");
  });

  it("a workspace that demands its provider keeps nobody out of the others: a password opens the first that it may (ACC-17)", async () => {
    const { world, register, post, tenant: tenant_id } = await demanded();
    await world.advance(SECOND);
    const other = await register("grace@else.example", "Else");
    await post("email/confirm", { token: await mailedToken(world, "grace@else.example", "Confirm") });
    const invited = { as: bearerOf(other), body: { email: ADA.email, role: "viewer" } };
    await world.call("POST /api/v1/team/invitations", invited);
    const token = await mailedToken(world, ADA.email, "You are invited");
    expect((await post("invitations/accept", { token, name: "Ada", password: PASSWORD })).status).toBe(201);
    const login = { email: ADA.email, password: PASSWORD };

    expect((await post("login", login)).body.tenant?.name).toBe("Else");
    expect((await post("login", { ...login, tenant_id })).body.code).toBe("SIGN_IN_REQUIRED");
    await post("password/forgot", { email: ADA.email });
    const reset = { token: await mailedToken(world, ADA.email, "Reset"), password: "a staple of another kind" };
    expect((await post("password/reset", reset)).body.tenant?.name).toBe("Else");
  });

  it("a workspace is not made to demand a provider by a session that began at the one before (ACC-17)", async () => {
    const { connected, signIn, set } = await signInWorld();
    const { tenant } = await connected();
    const session = await signIn(ADA, { tenant_id: tenant });
    await set(session, { client_id: "another" });

    const demanded = await set(session, { ...DEMAND, client_id: "another" });

    expect(demanded.status).toBe(401);
  });

  it("a workspace that demands another provider than before is not open to sessions of the one before (ACC-17)", async () => {
    const { world, set, session, signIn, tenant, provider, topics } = await demanded();
    await set(session, { required: false, client_id: "another" });
    await world.advance(SECOND);
    provider.changes = { aud: "another" };
    const later = await signIn(ADA, { tenant_id: tenant });
    expect((await set(later, { ...DEMAND, client_id: "another" })).body.required).toBe(true);

    expect((await topics(session)).status).toBe(401);
    expect((await topics(later)).status).toBe(200);
  });

  it("a workspace that demands another provider is not open to an owner of whom the one before said that there were two factors (ACC-17)", async () => {
    const { world, connected, signIn, set, provider, topics } = await signInWorld();
    const { tenant } = await connected();
    const session = await signIn({ ...ADA, amr: ["mfa"] }, { tenant_id: tenant });
    await set(session, { client_id: "another" });
    await world.advance(SECOND);
    provider.changes = { aud: "another" };
    const later = await signIn(ADA, { tenant_id: tenant });
    expect((await set(later, { ...DEMAND, client_id: "another" })).body.required).toBe(true);

    expect((await topics(session)).status).toBe(401);
  });

  it("a client's workspace that demands its provider is not open to sessions that began at the provider of its agency (ACC-17, D-AGENCY)", async () => {
    const { world, connected, signIn, set, say, provider, topics, post } = await signInWorld();
    const { owner, tenant } = await connected();
    await world.host.invoke("operator", { tenant_id: tenant, kind: "agency", plan: "enterprise" });
    const made = await world.call("POST /api/v1/agency/workspaces", { as: bearerOf(owner), body: { name: "Baker" } });
    const ada = await signIn(ADA, { tenant_id: tenant });
    const inside = await world.call(`POST /api/v1/agency/workspaces/${made.body.id}/session`, { as: bearerOf(ada) });
    const baker = { client_id: "another", domains: ["baker.example"] };
    const grace = { ...ADA, sub: "grace-2", email: "grace@baker.example" };
    const invited = { as: bearerOf(inside), body: { email: grace.email, role: "owner" } };
    await world.call("POST /api/v1/team/invitations", invited);
    const token = await mailedToken(world, grace.email, "You are invited");
    const own = await post("invitations/accept", { token, name: "Grace", password: PASSWORD });
    await say((await set(own, baker)).body.domains[0]);
    await set(own, baker);
    expect((await topics(inside)).status).toBe(200);
    provider.changes = { aud: "another" };
    const later = await signIn(grace, { tenant_id: made.body.id });
    expect((await set(inside, { ...baker, required: true })).body.fields).toHaveProperty("required");
    expect((await set(later, { ...baker, required: true })).body.required).toBe(true);

    expect((await topics(inside)).body.code).toBe("SIGN_IN_REQUIRED");
    expect((await topics(later)).status).toBe(200);
  });

  it("a workspace that demands its provider takes no other client while it demands it: nobody has signed in by that one (ACC-17)", async () => {
    const { session, set } = await demanded();
    const changed = await set(session, { required: true, client_id: "another" });

    expect(changed.body.fields).toHaveProperty("required");
  });

  it("a workspace that demands its provider is opened by passwords again when the operator ends the demand (ACC-17)", async () => {
    const { world, owner, tenant: tenant_id, provider, post, topics } = await demanded();
    provider.down = true;
    expect((await post("sign-in/begin", { tenant_id })).status).toBe(503);
    const ended = await world.host.invoke("operator", { end_sign_in_demand: { tenant_id } });
    expect(ended).toEqual({ ended: { tenant_id } });
    expect((await topics(owner)).status).toBe(200);
  });

  it("a workspace that demands its provider may remove its provider once nothing demands it (ACC-17)", async () => {
    const { world, connected, post } = await signInWorld();
    const { owner, tenant: tenant_id } = await connected();

    expect((await world.call(`DELETE ${PROVIDER_ROUTE}`, { as: bearerOf(owner) })).status).toBe(204);
    expect((await post("sign-in/begin", { tenant_id })).status).toBe(404);
  });

  it("a workspace that removes its provider ends the sessions that began there, also where it names it again (ACC-15, ACC-17)", async () => {
    const { world, connected, signIn, set, say, topics, post } = await signInWorld();
    const { owner, tenant } = await connected();
    const [session, unused] = [await signIn(ADA, { tenant_id: tenant }), await signIn(ADA, { tenant_id: tenant })];
    const renewed = ({ body }: typeof session) => post("refresh", { refresh_token: body.refresh_token });
    await world.advance(SECOND);
    await world.call(`DELETE ${PROVIDER_ROUTE}`, { as: bearerOf(owner) });

    expect([(await topics(session)).status, (await renewed(session)).status]).toEqual([401, 401]);
    expect((await topics(owner)).status).toBe(200);
    await say((await set(owner)).body.domains[0]);
    await set(owner);
    await world.advance(SECOND);
    const later = await signIn(ADA, { tenant_id: tenant });
    expect([(await topics(unused)).status, (await renewed(unused)).status]).toEqual([401, 401]);
    expect([(await topics(later)).status, (await renewed(later)).status]).toEqual([200, 200]);
  });

  it("a workspace that replaces its provider ends the sessions that began at the one before, also where it names that one again (ACC-15, ACC-17)", async () => {
    const { world, connected, signIn, set, topics, post, me } = await signInWorld();
    const { owner, tenant } = await connected({ default_role: "viewer" });
    const session = await signIn(ADA, { tenant_id: tenant });
    const { refresh_token } = session.body;
    const sessions = async () => (await world.call("GET /api/v1/auth/sessions", { as: bearerOf(owner) })).body.items;
    expect((await sessions()).length).toBe(2);

    await world.advance(SECOND);
    await set(owner, { client_id: "another" });

    expect((await topics(session)).status).toBe(401);
    expect((await post("refresh", { refresh_token })).status).toBe(401);
    expect((await me(owner)).status).toBe(200);
    expect((await sessions()).length).toBe(1);
    await set(owner);
    expect((await topics(session)).status).toBe(401);
    await world.advance(SECOND);
    expect((await topics(await signIn(ADA, { tenant_id: tenant }))).status).toBe(200);
  });

  it("a sign-in that ends while its provider is removed begins no session (ACC-15, ACC-17)", async () => {
    const { world, connected, signIn, begin, provider, post } = await signInWorld();
    const { host } = new URL(ISSUER);
    const sink = world.providers.hosts.get(host)!;
    const during: { remove?: () => Promise<Answer>; removal?: Promise<Answer> | undefined } = {};
    world.providers.hosts.set(host, (request) => {
      if (request.path === "/token") during.removal = during.remove?.();
      return sink(request);
    });
    const { owner, tenant: tenant_id } = await connected();
    await signIn(ADA, { tenant_id });
    during.remove = () => world.call(`DELETE ${PROVIDER_ROUTE}`, { as: bearerOf(owner) });
    const { url, binding } = await begin({ tenant_id });

    const { status } = await post("sign-in/finish", { ...provider.signIn(url, ADA), binding });

    expect((await during.removal)?.status).toBe(204);
    expect(status).toBe(401);
  });
});
