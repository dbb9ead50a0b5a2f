// Signing in at the identity provider of a workspace (ACC-15, ACC-16).
import { createHmac, generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { DAY, MINUTE } from "../../shared/kernel/clock.ts";
import { bearerOf } from "../support/credentials.ts";
import { CLIENT, KEY_ID, type OpenIdProvider, signedBy } from "../support/openid-provider.ts";
import { ADA, GRACE, PASSWORD, signInWorld } from "../support/sign-in.ts";

/** A workspace whose provider speaks for a proven domain. */
async function setting(more: object = {}) {
  const found = await signInWorld();
  return { ...found, ...(await found.connected(more)) };
}

describe("a sign-in", () => {
  it("a sign-in begins by a code, PKCE, state and nonce (ACC-15)", async () => {
    const { begin } = await setting();
    const { url } = await begin({ email: ADA.email });

    expect(Object.fromEntries(new URL(url).searchParams)).toMatchObject({
      tenant: "1",
      response_type: "code",
      client_id: CLIENT.id,
      scope: "openid email profile",
      code_challenge_method: "S256",
      login_hint: ADA.email,
    });
  });

  it("a sign-in by an address begins at no provider of a workspace that was deleted, also where that proved the domain first (ACC-15)", async () => {
    const { world, tenant: deleted, register, set, say, signIn } = await setting();
    const owner = await register("owner@elsewhere.example", "Looms");
    const settings = { default_role: "analyst" };
    await world.advance(MINUTE);
    await say((await set(owner, settings)).body.domains[0]);
    await set(owner, settings);
    await world.host.invoke("operator", { tenant_id: deleted, status: "deleted" });

    const session = await signIn(GRACE, { email: GRACE.email });

    expect(session.body.tenant).toMatchObject({ id: owner.body.tenant.id, role: "analyst" });
  });

  it("a sign-in begins a session that can be renewed (ACC-15)", async () => {
    const { signIn, tenant, user, me, post } = await setting();
    const session = await signIn(ADA, { email: ADA.email });
    expect(session.body).toMatchObject({ user: { id: user.id }, tenant: { id: tenant, role: "owner" } });
    expect((await me(session)).status).toBe(200);
    const renewed = await post("refresh", { refresh_token: session.body.refresh_token });
    expect((await me(renewed)).status).toBe(200);
  });

  it("a session that began at a provider ends after seven days, however often it is renewed (ACC-15)", async () => {
    const { world, signIn, me, post } = await setting();
    let session = await signIn(ADA, { email: ADA.email });
    for (const days of [3, 3]) {
      await world.advance(days * DAY);
      session = await post("refresh", { refresh_token: session.body.refresh_token });
    }
    await world.advance(DAY - 5 * MINUTE);
    session = await post("refresh", { refresh_token: session.body.refresh_token });
    expect((await me(session)).status).toBe(200);

    await world.advance(5 * MINUTE);

    expect((await me(session)).status).toBe(401);
    expect((await post("refresh", { refresh_token: session.body.refresh_token })).status).toBe(401);
  });

  it("a sign-in proves the client to the provider by its secret (ACC-15)", async () => {
    const { signIn, tenant, provider } = await setting();
    await signIn(ADA, { tenant_id: tenant });
    const [, basic = ""] = provider.proofs[0]!.split(" ");

    expect(Buffer.from(basic, "base64").toString()).toBe(`${CLIENT.id}:${encodeURIComponent(CLIENT.secret)}`);
  });

  it("a sign-in counts once, also where it was refused in another browser than the one that began it (ACC-15)", async () => {
    const { begin, post, provider, tenant } = await setting();
    const [one, two] = [await begin({ tenant_id: tenant }), await begin({ tenant_id: tenant })];
    const answer = provider.signIn(one.url, ADA);

    expect((await post("sign-in/finish", { ...answer, binding: two.binding })).status).toBe(401);
    expect((await post("sign-in/finish", { ...answer, binding: one.binding })).status).toBe(401);
  });

  it("a sign-in counts for ten minutes (ACC-15)", async () => {
    const { world, begin, post, provider, tenant } = await setting();
    const { url, binding } = await begin({ tenant_id: tenant });
    await world.advance(10 * MINUTE);

    expect((await post("sign-in/finish", { ...provider.signIn(url, ADA), binding })).status).toBe(401);
  });

  it("a sign-in counts at the provider that it began at (ACC-15)", async () => {
    const { begin, post, provider, tenant } = await setting();
    const { url, binding } = await begin({ tenant_id: tenant });
    const back = { ...provider.signIn(url, ADA), iss: "https://evil.example" };

    expect((await post("sign-in/finish", { ...back, binding })).status).toBe(422);
  });

  it("a sign-in whose browser came back from another provider shows the code to none (ACC-15)", async () => {
    const { begin, post, provider, tenant, world } = await setting();
    const { url, binding } = await begin({ tenant_id: tenant });
    const own = String(new URL(url).searchParams.get("redirect_uri"));
    expect(own).toBe(`${world.env.BASE_URL}/console/signed-in/${tenant}`);
    const redirect_uri = own.replace(tenant, "another");

    expect((await post("sign-in/finish", { ...provider.signIn(url, ADA), binding, redirect_uri })).status).toBe(422);
    expect(provider.proofs).toEqual([]);
  });

  it("a sign-in takes no code of another sign-in (ACC-15)", async () => {
    const { begin, post, provider, tenant } = await setting();
    const [here, there] = [await begin({ tenant_id: tenant }), await begin({ tenant_id: tenant })];
    const theirs = provider.signIn(there.url, ADA);
    const mixed = { ...provider.signIn(here.url, ADA), state: theirs.state };

    expect((await post("sign-in/finish", { ...mixed, binding: there.binding })).status).toBe(401);
  });

  const ahead = (seconds: number) => (now: number) => Math.floor(now / 1_000) + seconds;
  it.each<[what: string, reason: string, changes: Record<string, unknown>]>([
    ["of another issuer", "is of another issuer", { iss: "https://evil.example" }],
    ["for another client", "is for another client", { aud: "another" }],
    ["for another client beside ours", "is for another client", { aud: [CLIENT.id, "another"] }],
    ["that another client asked for", "is for another client", { azp: "another" }],
    ["that has expired", "is not of this time", { exp: ahead(-120) }],
    ["of the future", "is not of this time", { iat: ahead(120) }],
    ["with another nonce", "is of another sign-in", { nonce: "another" }],
    ["without a nonce", "lacks a claim", { nonce: undefined }],
    ["without a subject", "lacks a claim", { sub: "" }],
  ])("a sign-in begins no session with a token %s, and says that it %s (ACC-15)", async (_, reason, changes) => {
    const { world, provider, signIn, tenant } = await setting();
    const now = world.clock.now();
    provider.changes = Object.fromEntries(
      Object.entries(changes).map(([name, value]) => [name, typeof value === "function" ? value(now) : value]),
    );

    const { status, body } = await signIn(ADA, { tenant_id: tenant });
    expect([status, body.message]).toEqual([401, `The sign-in failed: the ID token ${reason}.`]);
  });

  const { privateKey: strange } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  it.each<[what: string, reason: string, issue: OpenIdProvider["issue"]]>([
    ["by a strange key", "has a wrong signature", (header, claims) => signedBy(strange, header, claims)],
    [
      "by a key of an unknown name",
      "names a key that the provider does not publish",
      (header, claims) => signedBy(strange, { ...header, kid: "unknown" }, claims),
    ],
    [
      "by nothing",
      "is not one that can be verified",
      (_, claims) => `${encoded({ alg: "none", kid: KEY_ID })}.${encoded(claims)}.`,
    ],
    [
      "by the secret of the client",
      "is not one that can be verified",
      (_, claims) => {
        const text = `${encoded({ alg: "HS256", kid: KEY_ID })}.${encoded(claims)}`;
        return `${text}.${createHmac("sha256", CLIENT.secret).update(text).digest("base64url")}`;
      },
    ],
  ])(
    "a sign-in begins no session with a token that is signed %s, and says that it %s (ACC-15)",
    async (_, reason, issue) => {
      const { provider, signIn, tenant } = await setting();
      provider.issue = issue;

      const { status, body } = await signIn(ADA, { tenant_id: tenant });
      expect([status, body.message]).toEqual([401, `The sign-in failed: the ID token ${reason}.`]);
    },
  );

  it("a sign-in takes a token that names no key where the provider has one to sign with, and none where it has more (ACC-15)", async () => {
    const { provider, signIn, tenant } = await setting();
    const signed = provider.issue;
    provider.issue = (_, claims) => signed({ alg: "RS256" }, claims);
    const other = { ...strange.export({ format: "jwk" }), d: undefined, kid: "k2" };
    const statusWith = async (key: object) => {
      provider.otherKeys = [key];
      return (await signIn(ADA, { tenant_id: tenant })).status;
    };

    expect(await statusWith({ ...other, use: "enc" })).toBe(201);
    expect(await statusWith({ ...other, use: "sig" })).toBe(401);
  });

  it("a sign-in reaches its workspace alone: it switches to no other (ACC-15)", async () => {
    const { register, signIn, tenant, post } = await setting();
    const other = await register("owner@other.example");
    const session = await signIn(ADA, { tenant_id: tenant });
    const switched = await post("switch", { tenant_id: other.body.tenant.id }, bearerOf(session));

    expect(switched.status).toBe(403);
    expect(switched.body.code).toBe("FORBIDDEN");
  });

  it("a sign-in counts as a second factor where the provider says that it asked for more than one (ACC-15)", async () => {
    const { world, signIn, tenant, topics } = await setting();
    const strong = await signIn({ ...ADA, amr: ["pwd", "mfa"] }, { tenant_id: tenant });
    const demand = { as: bearerOf(strong), body: { second_factor_required: true } };
    expect((await world.call("PATCH /api/v1/workspace", demand)).status).toBe(200);
    const weak = await signIn(ADA, { tenant_id: tenant });
    expect((await topics(weak)).body.code).toBe("SECOND_FACTOR_MISSING");
    expect((await topics(strong)).status).toBe(200);
  });
});

describe("a subject of a provider", () => {
  it.each([
    ["is not verified", { email_verified: false }],
    ["is of a domain that is not proven", { email: "ada@elsewhere.example" }],
  ])("a subject of a provider is not linked by an address that %s (ACC-16)", async (_, person) => {
    const { signIn, tenant } = await setting({ default_role: "viewer" });

    expect((await signIn({ ...ADA, ...person }, { tenant_id: tenant })).status).toBe(403);
  });

  it("a subject of a provider is linked by a verified address of a proven domain, and stays linked when the address changes (ACC-16)", async () => {
    const { signIn, tenant, user } = await setting({ default_role: "viewer" });
    expect((await signIn({ ...ADA, email_verified: "true" }, { tenant_id: tenant })).body.user.id).toBe(user.id);
    const moved = { ...ADA, email: "countess@elsewhere.example", email_verified: false };
    const renamed = await signIn(moved, { tenant_id: tenant });
    expect(renamed.body.user).toMatchObject({ id: user.id, email: ADA.email });
  });

  it("a subject of a provider is known by the provider's user information where the ID token says nothing of the person (ACC-16)", async () => {
    const { provider, signIn, tenant, user } = await setting();
    provider.beside = ADA;

    expect((await signIn(ADA, { tenant_id: tenant })).body.user).toMatchObject({ id: user.id, email: ADA.email });
  });

  it("a subject of a provider is not known by user information of another one (ACC-16)", async () => {
    const { provider, signIn, tenant } = await setting();
    provider.beside = { ...ADA, sub: "another" };

    expect((await signIn(ADA, { tenant_id: tenant })).status).toBe(401);
  });

  it("a subject of a provider is linked by an address whose domain is beyond ASCII, by the form in ASCII (ACC-16)", async () => {
    const { signIn } = await setting({ domains: ["münchen.example"], default_role: "viewer" });
    const email = "grace@München.example";

    expect((await signIn({ ...GRACE, email }, { email })).body.user?.email).toBe("grace@xn--mnchen-3ya.example");
  });

  it("a subject of a provider is linked by an address only where the same answer says that it is verified (ACC-16)", async () => {
    const { provider, signIn, tenant } = await setting({ default_role: "viewer" });
    provider.beside = GRACE;
    provider.changes = { email: ADA.email };
    const session = await signIn(GRACE, { tenant_id: tenant });

    expect(session.body.user.email).toBe(GRACE.email);
  });

  it("who is new needs an invitation of the last seven days, a group with a role or a default role (ACC-16)", async () => {
    const { world, invite, signIn, tenant } = await setting();
    await invite(GRACE.email, "developer");
    await world.advance(7 * DAY);

    expect((await signIn(GRACE, { tenant_id: tenant })).status).toBe(403);
  });

  it("who is invited gets the role of the invitation, which is used then (ACC-16)", async () => {
    const { world, owner, invite, signIn, tenant } = await setting({ default_role: "analyst" });
    await invite(GRACE.email, "developer");
    const session = await signIn(GRACE, { tenant_id: tenant });

    expect(session.status).toBe(201);
    expect(session.body.tenant.role).toBe("developer");
    const left = await world.call("GET /api/v1/team/invitations", { as: bearerOf(owner) });
    expect(left.body.items).toEqual([]);
  });

  it("who is new gets the default role (ACC-16)", async () => {
    const { signIn, tenant } = await setting({ default_role: "analyst" });

    expect((await signIn(GRACE, { tenant_id: tenant })).body.tenant.role).toBe("analyst");
  });

  it("a subject of a provider takes an address from a stranger who registered with it and never confirmed it (ACC-16)", async () => {
    const { register, signIn, tenant, me, post } = await setting({ default_role: "viewer" });
    const stranger = await register(GRACE.email);
    const grace = await signIn(GRACE, { tenant_id: tenant });

    expect(grace.body.user.id).toBe(stranger.body.user.id);
    expect((await me(stranger)).status).toBe(401);
    expect((await post("login", { email: GRACE.email, password: PASSWORD })).status).toBe(401);
  });
});
